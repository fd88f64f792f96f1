import { isMap } from 'yaml';
import { localDateAt } from '../canonical/dates.ts';
import { startRun } from '../composition/pull.ts';
import { InnboundError } from '../errors.ts';
import { addDays } from '../intake/pull/window/windows.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { markLive, type OnboardingLink } from '../store/operate/onboarding.ts';
import { editInForce } from './onboarding.ts';
import { checksOf } from './onboarding-view.ts';

/** How long the link shows the health of the feed. */
const shownMs = 30 * 86_400_000;

export interface Approval {
  /** Days before and after today that are pulled first. */
  readonly pastDays: number;
  readonly futureDays: number;
  /** Although the checklist has gaps. */
  readonly anyway: boolean;
}

/**
 * Ends the rehearsal: the same address stores events from now on, polls begin, and a first backfill fills the brand. Its deliveries wait
 * until an operator has looked at them and releases them.
 */
export async function goLive(
  runtime: Runtime,
  link: OnboardingLink,
  { pastDays, futureDays, anyway }: Approval,
  by: string,
): Promise<{ readonly run_id: string | null }> {
  const { integration } = link;
  if (link.ready_at === null && !anyway) {
    throw new InnboundError('operate.not_ready', `${link.partner} has not said that it is ready.`);
  }
  const open = checksOf(link).checks.filter(({ state, isOptional }) => state !== 'done' && !isOptional);
  if (open.length > 0 && !anyway) {
    throw new InnboundError(
      'operate.not_ready',
      `The checklist is not complete: ${open.map(({ id }) => id).join(', ')}.`,
    );
  }
  await editInForce(runtime, 'integration', integration, by, (yaml) => {
    yaml.delete('paused');
    const push = yaml.get('push');
    if (isMap(push)) push.delete('sandbox');
  });
  await markLive(runtime.pool, integration, shownMs);
  const { pull, timezone } = runtime.active().integrations.get(integration)?.body ?? {};
  if (pull === undefined || timezone === undefined) return { run_id: null };
  const today = localDateAt(timezone, runtime.clock.now());
  const range = { from: addDays(today, -pastDays), to: addDays(today, futureDays) };
  const started = await startRun(runtime, integration, { kind: 'backfill', requestedBy: by, ...range });
  runtime.wake.signal('schedules');
  if (started.kind === 'failed') return { run_id: null };
  return { run_id: started.kind === 'busy' ? started.runId : started.run.runId };
}
