import { eachCondition, fewBrands, manyBrands, namedBrands } from './each-condition.ts';
import type { Condition, Facts } from './facts.ts';

/** Codes of runs that fail because the partner's API does not work; its open circuit already raises an alert. */
const apiFailures: ReadonlySet<string> = new Set([
  'pull.breaker_open',
  'pull.server_error',
  'pull.timeout',
  'pull.unreachable',
]);

/** The conditions, one for each cause: a partner's API that is down is one alert, however many brands use it. */
export function conditionsOf(facts: Facts): Condition[] {
  const affected = new Set(facts.partnerCircuits.flatMap(({ integrations }) => integrations));
  const away = new Set<string>(facts.circuits.map(({ name }) => name));
  const failing = new Set<string>(facts.failing.map(({ destination }) => destination));
  return oneForMany(
    eachCondition({
      ...facts,
      runs: facts.runs.filter((run) => !affected.has(run.integration) || !apiFailures.has(run.error_code ?? '')),
      feeds: facts.feeds.filter(({ feed, integration }) => feed === 'push' || !affected.has(integration)),
      failing: facts.failing.filter(({ destination }) => !away.has(destination)),
      lanes: facts.lanes.filter(({ destination }) => !away.has(destination) && !failing.has(destination)),
    }),
    (kind, subject) => facts.shared.some((alert) => alert.kind === kind && alert.subject === subject),
  );
}

/**
 * Joins the same problem of many brands. The store keeps one open alert for each kind, integration and subject, so the subject names the
 * code as well: brands with another code are another alert. Brands with different severities are one alert, with the worst. An alert that
 * is shared stays so until far fewer brands have the problem: otherwise one brand more or less would resolve 20 alerts and raise 20 others.
 */
function oneForMany(
  conditions: readonly Condition[],
  isShared: (kind: string, subject: string) => boolean,
): Condition[] {
  const groups = Map.groupBy(conditions, ({ kind, integration, subject, detail }) =>
    integration === '' ? Symbol() : JSON.stringify([kind, subject, detail.code]),
  );
  return [...groups.values()].flatMap((group) => {
    const first = group.find(({ severity }) => severity === 'critical') ?? group[0];
    if (first === undefined) return group;
    const { code } = first.detail;
    const subject = typeof code === 'string' ? `${first.subject} ${code}` : first.subject;
    if (group.length < (isShared(first.kind, subject) ? fewBrands : manyBrands)) return group;
    const integrations = group.map(({ integration }) => integration).sort();
    const message = `${group.length} brands at once, such as ${first.integration}: ${first.message}`;
    const detail = {
      ...(code !== undefined && { code }),
      brands: group.length,
      integrations: integrations.slice(0, namedBrands),
    };
    return [{ ...first, integration: '', subject, message, detail, brands: integrations }];
  });
}
