import type { Facts, LaneFacts } from '../facts.ts';
import { behindMs, clause, counted, type Judged, lateness, leastLateMs } from './judged.ts';

/** With fewer, the fault may lie with single records; with this many and no success since, it lies with the destination. */
const fewestToBlame = 3;
/** So much older than usual is not chance. */
const timesUsual = 3;

export const isDestinationFailing = ({ retrying, delivered_since, paused }: LaneFacts): boolean =>
  !paused && retrying >= fewestToBlame && !delivered_since;

export function* ofDeliveries({ lanes, circuits }: Facts): Generator<Judged> {
  for (const { name: subject, last_failure, open_since } of circuits) {
    const message = `${subject} is not available: ${clause(last_failure)}. Its deliveries wait and resume by themselves.`;
    const detail = { open_since: open_since.toISOString() };
    yield { kind: 'destination_away', state: 'failing', subject, message, detail, action: 'try_destination' };
  }
  const failing = new Set(lanes.filter(isDestinationFailing).map(({ destination }) => destination));
  const flowing = new Set(lanes.filter(({ paused }) => !paused).map(({ integration }) => integration));
  for (const lane of lanes) yield* ofLane(lane, failing, flowing);
}

function* ofLane(lane: LaneFacts, failing: ReadonlySet<string>, flowing: ReadonlySet<string>): Generator<Judged> {
  const { integration, destination: subject, waiting, retrying, usual_ms = 0 } = lane;
  const about = { integration, subject, detail: { waiting } };
  const wait = `${counted(waiting, 'change')} ${waiting === 1 ? 'is' : 'are'} waiting.`;
  if (lane.paused) {
    // One lane that waits does not pause a brand whose other lanes flow.
    const state = flowing.has(integration) ? 'healthy' : 'paused';
    const paused = { ...about, kind: 'deliveries_paused', state, quiet: true } as const;
    const until = waiting === 0 ? 'nothing is waiting yet.' : `${wait.slice(0, -1)} until you release them.`;
    if (lane.preview)
      yield { ...paused, message: `Deliveries to ${subject} are in preview: ${until}`, action: 'release' };
    else if (waiting > 0) yield { ...paused, message: `Deliveries to ${subject} are paused in its document; ${wait}` };
    return;
  }
  const why = clause(lane.last_failure);
  const action = 'try_destination';
  if (isDestinationFailing(lane)) {
    const message = `${subject} is failing: ${why}. ${wait}`;
    const detail = { waiting, failure: why };
    yield { ...about, kind: 'destination_failing', state: 'failing', message, detail, action };
    return;
  }
  if (retrying > 0) {
    const message = `${retrying === 1 ? '1 delivery' : `${retrying} deliveries`} to ${subject} being retried: ${why}.`;
    yield { ...about, kind: 'deliveries_retrying', state: 'attention', quiet: true, message, action };
  }
  const late_ms = lane.late_ms ?? 0;
  if (failing.has(subject) || late_ms < Math.max(leastLateMs, usual_ms * timesUsual)) return;
  const message = `Deliveries to ${subject} are ${lateness(late_ms)} behind; ${wait}`;
  const quiet = late_ms < behindMs && { quiet: true as const };
  yield { ...about, kind: 'deliveries_behind', state: 'attention', message, detail: { waiting, late_ms }, ...quiet };
}
