import type { Clock } from '../../kit/clock.ts';

/** Prunes old events, rejections and sandbox reports. Any node may do it; two at once do no harm. */
export interface UpkeepPorts {
  readonly clock: Clock;
  readonly tasks: readonly { readonly name: string; readonly run: () => Promise<unknown> }[];
  readonly onError?: (task: string, error: unknown) => void;
}

const everyMs = 10 * 60_000;

export function startPushUpkeep(ports: UpkeepPorts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    // A random delay, so that nodes which start together do not prune together.
    await ports.clock.wait(everyMs * Math.random(), signal);
    while (!signal.aborted) {
      for (const { name, run } of ports.tasks) {
        if (!signal.aborted) await run().catch((error) => ports.onError?.(name, error));
      }
      await ports.clock.wait(everyMs, signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
