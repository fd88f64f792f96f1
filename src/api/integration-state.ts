import type { BreakerNow, IntegrationNow, LaneNow } from '../store/operate/overview.ts';

export const integrationStates = ['healthy', 'attention', 'failing', 'auth_failed', 'paused'] as const;
export type IntegrationState = (typeof integrationStates)[number];

/** The worst state that applies to an integration, and every reason. */
export function stateOf(
  now: IntegrationNow | undefined,
  documentPaused: boolean,
  lanes: readonly LaneNow[],
  breaker: BreakerNow | undefined,
): { state: IntegrationState; reasons: string[] } {
  const reasons: string[] = [];
  let state: IntegrationState = 'healthy';
  const found = (worse: IntegrationState, reason: string): void => {
    if (integrationStates.indexOf(worse) > integrationStates.indexOf(state)) state = worse;
    reasons.push(reason);
  };
  if (documentPaused) found('paused', 'Pulls are paused in the integration document.');
  else if (now?.paused_at) found('paused', `Pulls were paused by ${now.paused_by ?? 'an operator'}.`);
  if (now?.auth_failed_at) found('auth_failed', now.auth_message ?? 'The partner refuses the credentials.');
  if (breaker) found('failing', `The partner's API is failing: ${breaker.last_failure ?? 'no answer'}.`);
  if (now?.last_run_status === 'failed') found('failing', 'The last run failed.');
  if (now?.last_run_status === 'incomplete') found('attention', 'The last run was incomplete.');
  if (now?.retry_at) found('attention', 'The partner asked us to wait (429).');
  if (now && now.critical_alerts > 0) found('failing', `Critical alerts: ${now.critical_alerts}.`);
  else if (now && now.open_alerts > 0) found('attention', `Open alerts: ${now.open_alerts}.`);
  if (now && now.open_dead_letters > 0) found('attention', `Open dead letters: ${now.open_dead_letters}.`);
  for (const { destination, late_ms } of lanes) {
    if ((late_ms ?? 0) > 15 * 60_000) found('attention', `Deliveries to ${destination} are behind.`);
  }
  return { state, reasons };
}
