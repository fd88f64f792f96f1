import type { Runtime } from '../../runtime/runtime.ts';
import { isObject, type Json } from '../../terms.ts';
import type { AlertRow } from '../store/alerts.ts';
import {
  alertsOfIncident,
  type Effect,
  effectOf,
  type ListedIncident,
  listIncidents,
  operatorActions,
} from '../store/incidents.ts';
import { adviceFor, type Cause, readCause, titleOf } from '../watch/causes.ts';
import { brandsConcerned, concernOf, limitedAlert, limitedMessage } from './alert-view.ts';

interface Limited {
  readonly within: readonly string[] | undefined;
}

/** Newest first; for a caller who is limited to some brands, what concerns those. */
export async function incidentList(
  runtime: Runtime,
  { within, ...filter }: Omit<Parameters<typeof listIncidents>[1], 'concern'> & Limited,
): Promise<ListedIncident[]> {
  const incidents = await listIncidents(runtime.pool, { ...filter, concern: concernOf(runtime, within) });
  return incidents.map(({ kind, subject, brands, ...one }) => {
    const message = within ? limitedMessage({ kind, subject, brands, message: one.message }) : one.message;
    return { ...one, message };
  });
}

/** What is wrong now, one entry for each cause. `integrations`: the brands, unless many share one alert. */
export async function openCauses(runtime: Runtime, within: readonly string[] | undefined) {
  const concern = concernOf(runtime, within);
  const incidents = await listIncidents(runtime.pool, { open: true, concern, before: undefined, limit: mostCauses });
  return incidents.map(
    ({ incident_id, cause, kind, subject, severity, message, started_at, acknowledged_by, ...one }) => {
      const integrations = brandsOf(runtime, [{ kind, subject, names: one.integrations }], within);
      return {
        incident_id,
        cause,
        title: titleOf(readCause(cause)),
        kind,
        severity,
        message: within ? limitedMessage({ kind, subject, brands: one.brands, message }) : message,
        since: started_at,
        acknowledged_by,
        brands: Math.max(integrations.length, one.brands ?? 0),
        integrations,
      };
    },
  );
}

/** More at once are nothing to read; the incidents page has them all. */
const mostCauses = 20;

/** One incident with its alerts, its effect, what was tried and what to do. */
export async function incidentDetail(runtime: Runtime, incidentId: string, within: readonly string[] | undefined) {
  const { pool } = runtime;
  const [incident] = await incidentList(runtime, { open: false, within, before: undefined, id: incidentId, limit: 1 });
  if (incident === undefined) return undefined;
  const alerts = await alertsOfIncident(pool, incidentId, concernOf(runtime, within));
  const brands = brandsOf(runtime, alerts, within);
  const from = incident.started_at;
  const to = incident.ended_at;
  const [effect, tried] = await Promise.all([
    effectOfIncident(runtime, incident, brands),
    operatorActions(pool, { integrations: brands, isLimited: within !== undefined, from, to, limit: 50 }),
  ]);
  const kinds = alerts.filter(({ resolved_at }) => resolved_at === null).map(({ kind }) => kind);
  return {
    ...incident,
    title: titleOf(readCause(incident.cause)),
    brands,
    alert_list: alerts.map(({ names: _, ...alert }) => (within ? limitedAlert(alert) : withoutCount(alert))),
    effect,
    tried: tried.map(({ target, ...one }) => ({ ...one, what: namesIn(target) })),
    advice: adviceFor(kinds),
  };
}

/** What each kind of cause can bring about. What else happened meanwhile has other causes. */
const effects: Readonly<Record<Cause['kind'], readonly (keyof Effect)[]>> = {
  destination: ['waiting', 'failed_attempts', 'dead_letters'],
  partner: ['waiting_runs', 'failed_runs', 'complete_runs'],
  pull: ['waiting_runs', 'failed_runs', 'complete_runs'],
  push: ['refused_events'],
  records: ['dead_letters'],
  node: [],
  document: [],
  service: ['waiting'],
  brands: ['failed_runs', 'refused_events', 'dead_letters'],
};

async function effectOfIncident(
  runtime: Runtime,
  { cause, started_at, ended_at }: ListedIncident,
  brands: readonly string[],
): Promise<Partial<Effect>> {
  const { kind, name } = readCause(cause);
  const destination = kind === 'destination' ? name : undefined;
  const all = await effectOf(runtime.pool, { integrations: brands, destination, from: started_at, to: ended_at });
  return Object.fromEntries(effects[kind].map((key) => [key, all[key]]));
}

/** The brands that an incident concerns: those of its alerts. */
function brandsOf(
  runtime: Runtime,
  alerts: readonly (Pick<AlertRow, 'kind' | 'subject'> & { readonly names: readonly string[] })[],
  within: readonly string[] | undefined,
): string[] {
  const brands = new Set(
    alerts.flatMap(({ names, ...alert }) => [...names, ...brandsConcerned(runtime, { ...alert, brands: null })]),
  );
  return [...brands].filter((brand) => within === undefined || within.includes(brand)).sort();
}

/** What an action was about: names and ids only. */
export function namesIn(target: Json): string {
  if (!isObject(target)) return '';
  const { kind, name, id, job_id, destination } = target;
  return [kind, name, id, job_id, destination].filter((one) => typeof one === 'string').join(' ');
}

const withoutCount = ({ brands: _, ...alert }: AlertRow & { readonly brands: number | null }): AlertRow => alert;
