import type { IncidentDetail } from '../api/routes/incidents.ts';
import type { Runtime } from '../runtime/runtime.ts';
import {
  alertsOfIncident,
  type Effect,
  effectOf,
  type IncidentRow,
  listIncidents,
  operatorActions,
  writeSummary,
} from '../store/operate/incidents.ts';
import { isObject, type Json } from '../terms.ts';
import { adviceFor, readCause, titleOf } from '../watch/causes.ts';

/** One incident with its alerts, its effect, what was tried and what to do. */
export async function incidentDetail(
  runtime: Runtime,
  incidentId: string,
  within: readonly string[] | undefined,
): Promise<IncidentDetail | undefined> {
  const { pool } = runtime;
  const [found] = await listIncidents(pool, { open: false, within, before: undefined, id: incidentId, limit: 1 });
  if (found === undefined) return undefined;
  const alerts = await alertsOfIncident(pool, incidentId, within);
  const brands = brandsOf(runtime, found, alerts, within);
  const from = found.started_at;
  const to = found.ended_at;
  const [effect, tried] = await Promise.all([
    effectOfIncident(runtime, found, brands),
    operatorActions(pool, { integrations: brands, isLimited: within !== undefined, from, to, limit: 50 }),
  ]);
  const kinds = alerts.filter(({ resolved_at }) => resolved_at === null).map(({ kind }) => kind);
  return {
    ...found,
    title: titleOf(readCause(found.cause)),
    brands,
    alert_list: alerts,
    effect,
    tried: tried.map(({ target, ...one }) => ({ ...one, what: namesIn(target) })),
    advice: adviceFor(kinds),
  };
}

/** Written when an incident ends, because the rows that it is counted from are deleted after a while. */
export async function summarizeIncident(runtime: Runtime, incident: IncidentRow): Promise<void> {
  const alerts = await alertsOfIncident(runtime.pool, incident.incident_id, undefined);
  const brands = brandsOf(runtime, incident, alerts, undefined);
  const effect = await effectOfIncident(runtime, incident, brands);
  const durationMs = (incident.ended_at ?? incident.started_at).getTime() - incident.started_at.getTime();
  const summary = { duration_ms: durationMs, brands: brands.length, alerts: alerts.length, ...effect };
  await writeSummary(runtime.pool, incident.incident_id, summary as unknown as Json);
}

function effectOfIncident(
  runtime: Runtime,
  { cause, started_at, ended_at }: IncidentRow,
  brands: readonly string[],
): Promise<Effect> {
  const { kind, name } = readCause(cause);
  const destination = kind === 'destination' ? name : undefined;
  return effectOf(runtime.pool, { integrations: brands, destination, from: started_at, to: ended_at });
}

/** The brands that an incident concerns: those of its alerts, or all that feed the destination. */
function brandsOf(
  runtime: Runtime,
  { cause }: IncidentRow,
  alerts: readonly { readonly integration: string; readonly detail: Json }[],
  within: readonly string[] | undefined,
): string[] {
  const { kind, name } = readCause(cause);
  const brands = new Set<string>();
  if (kind === 'destination') {
    for (const { name: brand, body } of runtime.active().integrations.values()) {
      if (body.deliver.includes(name)) brands.add(brand);
    }
  }
  for (const { integration, detail } of alerts) {
    if (integration !== '') brands.add(integration);
    const many = isObject(detail) ? detail.integrations : undefined;
    if (Array.isArray(many)) for (const one of many) if (typeof one === 'string') brands.add(one);
  }
  return [...brands].filter((brand) => within === undefined || within.includes(brand)).sort();
}

/** What an action was about: names and ids only. */
export function namesIn(target: Json): string {
  if (!isObject(target)) return '';
  const { kind, name, id, job_id, destination } = target;
  return [kind, name, id, job_id, destination].filter((one) => typeof one === 'string').join(' ');
}
