import { errorFacts } from '../../kit/log.ts';
import { type Loop, startLoop } from '../../kit/loop.ts';
import { isConnectionFailure } from '../../kit/sql-state.ts';
import type { Counts } from './batch.ts';
import { Engine, longestSleepMs } from './engine.ts';
import type { DeliverPorts, Lanes } from './ports.ts';

/** With 100,000 lanes that all have due work, a scan takes more than a second. */
const longestPauseMs = 10_000;

/** Delivers until it is stopped. Stopping claims nothing more, waits for calls in progress and closes the destinations. */
export function startDeliveries(ports: DeliverPorts): Loop {
  const engine = new Engine(ports, ports.lanes);
  ports.handover?.connect(engine);
  let lastTookMs = 0;
  return startLoop({
    name: 'deliveries',
    heartbeats: ports.heartbeats,
    turn: async () => {
      const startedAtMs = ports.clock.uptimeMs();
      const sleepMs = await engine.scan();
      return { sleepMs, tookMs: ports.clock.uptimeMs() - startedAtMs };
    },
    pause: async (scanned, signal) => {
      if (scanned === undefined) return ports.clock.wait(longestSleepMs, signal);
      // A scan costs an index probe per lane with due work. The pause limits it to a fifth of the time, however many signals arrive.
      // One slow scan, for example during a failover, does not make the pause longer.
      const pauseMs = Math.min(5 + 4 * Math.min(scanned.tookMs, lastTookMs), longestPauseMs);
      lastTookMs = scanned.tookMs;
      await ports.clock.wait(pauseMs, signal);
      if (scanned.sleepMs > pauseMs) await ports.wake.wait('outbox', scanned.sleepMs - pauseMs, signal);
    },
    onError: (error) => {
      const facts = { error: errorFacts(error) };
      if (isConnectionFailure(error)) ports.log.warn(facts, 'deliver: the store does not answer');
      else ports.log.error(facts, 'deliver: the scan for due work failed');
    },
    finish: async () => {
      ports.handover?.connect(undefined);
      await engine.close();
    },
  });
}

/** Delivers what is due now, for all brands or one, and returns when nothing more is due. Retries stay in the queue. Rejects if the store fails. */
export async function drainOnce(
  ports: DeliverPorts,
  only: { readonly integration?: string } = {},
  onProgress?: (counts: Counts) => void,
): Promise<Counts> {
  const { integration } = only;
  const lanes = integration === undefined ? ports.lanes : () => lanesOfOne(ports.lanes(), integration);
  const engine = new Engine(ports, lanes);
  try {
    for (;;) {
      await engine.scan();
      onProgress?.(engine.counts);
      if (engine.isIdle) return engine.counts;
      await ports.clock.wait(5);
    }
  } finally {
    await engine.close();
  }
}

const lanesOfOne = (lanes: Lanes, only: string): Lanes => ({
  brands: new Set([only]),
  destinations: lanes.destinations,
  of: (brand) => (brand === only ? lanes.of(brand) : []),
});
