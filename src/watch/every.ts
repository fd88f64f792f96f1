import type { Clock } from '../kit/clock.ts';

export interface EveryPorts {
  readonly clock: Clock;
  readonly work: () => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** Does some work again and again until it is stopped; a failure is told, and the next turn comes as if nothing had been. */
export function startEvery(everyMs: number, ports: EveryPorts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      await ports.work().catch(ports.onError);
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
