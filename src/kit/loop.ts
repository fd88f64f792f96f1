import type { Heartbeats } from './heartbeats.ts';

/** Work that repeats until it is stopped. Stopping waits for the turn in progress. */
export interface Loop {
  stop(): Promise<void>;
}

export interface LoopSettings<Result> {
  readonly name: string;
  /** One turn. A long one calls `beat` whenever it has made progress. */
  readonly turn: (signal: AbortSignal, beat: () => void) => Promise<Result>;
  /** Waits for the next turn. `result` is undefined if the turn failed. */
  readonly pause: (result: Result | undefined, signal: AbortSignal) => Promise<unknown>;
  /** A failed turn ends nothing: the next one follows after the pause. */
  readonly onError: (error: unknown) => void;
  /** Called once, after the last turn. */
  readonly finish?: () => Promise<unknown>;
  readonly heartbeats?: Heartbeats | undefined;
  /** How long a turn may go without progress before the loop counts as stalled; 30 seconds by default. */
  readonly stallsAfterMs?: number;
}

export function startLoop<Result>(settings: LoopSettings<Result>): Loop {
  const { name, heartbeats, stallsAfterMs = 30_000 } = settings;
  const stopping = new AbortController();
  const { signal } = stopping;
  const beat = () => heartbeats?.beat(name, stallsAfterMs);
  const running = (async () => {
    while (!signal.aborted) {
      beat();
      let result: Result | undefined;
      try {
        result = await settings.turn(signal, beat);
      } catch (error) {
        settings.onError(error);
      }
      heartbeats?.idle(name);
      if (!signal.aborted) await settings.pause(result, signal);
    }
    await settings.finish?.();
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
