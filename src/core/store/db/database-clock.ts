import { type Clock, systemClock, type Timers } from '../../../kit/clock.ts';
import type { EpochMs } from '../../../terms.ts';
import { numberOf, type Pool } from './pool.ts';

/**
 * The database's clock, as this node estimates it. Times that order records must come from one clock: with the node's own, a
 * node that is minutes behind has its newer states superseded by older ones.
 *
 * `now` adds the monotonic time since the last measurement, so a step of the node's wall clock changes nothing. The
 * estimate is never ahead of the database, because a measurement is dated at the end of its round trip, and behind by at most
 * that round trip. A state requested before an event was received therefore never counts as newer than the event.
 */
export interface DatabaseClock extends Clock, Timers {
  /** How far the node's wall clock is ahead of the database's; negative when it is behind. */
  nodeAheadMs(): number;
  stop(): void;
}

/** Quartz clocks drift by less than 0.1 ms a second, so an estimate is good to some 3 ms between measurements. */
const everyMs = 30_000;
const samples = 3;
/** A larger difference between wall clock and monotonic clock leads to a measurement at once. */
const jumpMs = 1_000;

export function openDatabaseClock(
  pool: Pool,
  node: Clock & Timers = systemClock,
  onError: (error: unknown) => void = () => {},
): Promise<DatabaseClock> {
  const ask = async (): Promise<EpochMs> => {
    return numberOf(pool)(`select (extract(epoch from clock_timestamp()) * 1000)::float8`);
  };
  return followClock(ask, node, onError);
}

/** Estimates the clock that `ask` reads over the network. */
export async function followClock(
  ask: () => Promise<EpochMs>,
  node: Clock & Timers,
  onError: (error: unknown) => void,
): Promise<DatabaseClock> {
  let measured = await measure(ask, node);
  let isStopped = false;
  let cancel = () => {};
  let isMeasuring = false;
  const measureNow = (): void => {
    if (isMeasuring) return;
    isMeasuring = true;
    cancel();
    measure(ask, node)
      .then((fresh) => {
        measured = fresh;
      }, onError)
      .finally(() => {
        isMeasuring = false;
        if (!isStopped) cancel = node.schedule(everyMs, measureNow);
      });
  };
  cancel = node.schedule(everyMs, measureNow);
  const now = (): EpochMs => {
    const elapsedMs = node.uptimeMs() - measured.uptimeMs;
    // The monotonic clock stops while a machine is suspended; the wall clock then jumps.
    if (Math.abs(node.now() - measured.nodeMs - elapsedMs) > jumpMs) measureNow();
    return Math.floor(measured.databaseMs + elapsedMs);
  };
  return {
    now,
    wait: node.wait,
    uptimeMs: node.uptimeMs,
    schedule: node.schedule,
    nodeAheadMs: () => node.now() - now(),
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
}

interface Measured {
  readonly databaseMs: number;
  readonly uptimeMs: number;
  readonly nodeMs: number;
}

/** The latest of several samples: the one whose answer took the least time to return. */
async function measure(ask: () => Promise<EpochMs>, node: Clock & Timers): Promise<Measured> {
  let best: Measured | undefined;
  for (let i = 0; i < samples; i++) {
    const sample = { databaseMs: await ask(), uptimeMs: node.uptimeMs(), nodeMs: node.now() };
    if (best === undefined || sample.databaseMs - sample.uptimeMs > best.databaseMs - best.uptimeMs) best = sample;
  }
  return best as Measured;
}
