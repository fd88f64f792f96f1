import type { Clock } from '../../kit/clock.ts';
import type { Random } from '../../kit/ids.ts';
import { type Heartbeats, type Loop, startLoop } from '../../kit/loop.ts';

/** Prunes old events, rejections and sandbox reports. Any node may do it; two at once do no harm. */
export interface UpkeepPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats?: Heartbeats;
  readonly tasks: readonly { readonly name: string; readonly run: () => Promise<unknown> }[];
  readonly onError?: (task: string, error: unknown) => void;
}

const everyMs = 10 * 60_000;

export function startPushUpkeep(ports: UpkeepPorts): Loop {
  let first = true;
  return startLoop({
    name: 'push upkeep',
    heartbeats: ports.heartbeats,
    stallsAfterMs: everyMs,
    turn: async (signal, beat) => {
      // A random delay, so that nodes which start together do not prune together.
      if (first) await ports.clock.wait(everyMs * ports.random(), signal);
      first = false;
      for (const { name, run } of ports.tasks) {
        beat();
        if (!signal.aborted) await run().catch((error) => ports.onError?.(name, error));
      }
    },
    pause: (_, signal) => ports.clock.wait(everyMs, signal),
    onError: (error) => ports.onError?.('upkeep', error),
  });
}
