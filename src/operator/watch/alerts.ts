import type { AlertKind, Condition, Facts } from './facts.ts';

/** From this many brands on, the same problem at the same time counts as one cause. */
export const manyBrands = 20;
/** With fewer, a problem that counted as one cause is one of each brand again. */
const fewBrands = 10;
/** Of a longer list, this many names are kept. */
export const namedBrands = 20;

/** A condition that somebody is told of. When it ends, the alert is resolved. */
export type Alert = Pick<Condition, 'integration' | 'subject' | 'message' | 'detail' | 'brands'> & {
  readonly kind: AlertKind;
  readonly severity: 'warning' | 'critical';
};

const severityOf = ({ state }: Pick<Condition, 'state'>): Alert['severity'] =>
  state === 'failing' || state === 'auth_failed' ? 'critical' : 'warning';

/**
 * The alerts that conditions raise: one for each cause, so that a destination that fails, or the same problem of many brands, is one. The
 * store keeps one open alert for each kind, integration and subject, so the subject of a shared one names the code as well: brands with
 * another code are another alert. Brands with different severities are one alert, with the worst. An alert that is shared stays so until
 * far fewer brands have the problem: otherwise one brand more or less would resolve 20 alerts and raise 20 others.
 */
export function alertsOf(conditions: readonly Condition[], shared: Facts['shared']): Alert[] {
  const loud = conditions.filter(({ quiet }) => quiet === undefined);
  const groups = Map.groupBy(loud, ({ kind, integration, subject, detail }) =>
    integration === '' ? Symbol() : JSON.stringify([kind, subject, detail.code]),
  );
  return [...groups.values()].flatMap((group) => joined(group, shared)).map(alertOf);
}

function alertOf({ kind, integration, subject, message, detail, brands, state }: Condition): Alert {
  const severity = severityOf({ state });
  return { kind: kind as AlertKind, integration, subject, severity, message, detail, ...(brands && { brands }) };
}

function joined(group: readonly Condition[], shared: Facts['shared']): readonly Condition[] {
  const first = group.find((one) => severityOf(one) === 'critical') ?? group[0];
  if (first === undefined || first.integration === '') return group;
  if (first.kind === 'destination_failing') return [ofDestination(first, group)];
  const { code } = first.detail;
  const subject = typeof code === 'string' ? `${first.subject} ${code}`.trim() : first.subject;
  const isShared = shared.some((alert) => alert.kind === first.kind && alert.subject === subject);
  if (group.length < (isShared ? fewBrands : manyBrands)) return group;
  const integrations = group.map(({ integration }) => integration).sort();
  const message = `${group.length} brands at once, such as ${first.integration}: ${first.message}`;
  const detail = {
    ...(code !== undefined && { code }),
    brands: group.length,
    integrations: integrations.slice(0, namedBrands),
  };
  return [{ ...first, integration: '', subject, message, detail, brands: integrations }];
}

/** It concerns every brand that feeds the destination, so it names none. */
function ofDestination(first: Condition, group: readonly Condition[]): Condition {
  const waiting = group.reduce((sum, { detail }) => sum + Number(detail.waiting), 0);
  const brands = group.length === 1 ? '1 brand' : `${group.length} brands`;
  const message = `${first.subject} is failing: ${first.detail.failure}. ${waiting} changes of ${brands} are waiting.`;
  return { ...first, integration: '', message, detail: { waiting, integrations: group.length } };
}
