import type { Timers } from '../../kit/clock.ts';
import type { Rejection } from './ports.ts';

/**
 * Counts refused requests and keeps the last ones, so that an operator can help a partner. They are written in the background
 * once a second, and only a sample of a flood: a refusal must cost us less than it costs the sender.
 */
export interface RejectionLogPorts {
  readonly clock: Pick<Timers, 'schedule'>;
  readonly write: (batch: RejectionBatch) => Promise<void>;
  readonly onError?: (error: unknown) => void;
}

export interface RejectionBatch {
  readonly samples: readonly Rejection[];
  readonly counts: readonly RejectionCount[];
}

interface RejectionCount {
  readonly endpointId: string;
  readonly integration?: string;
  readonly code: string;
  readonly reason: string;
  readonly count: number;
}

const samplesPerFlush = 200;
const countsPerFlush = 500;
const flushMs = 1_000;

export interface RejectionLog {
  add(rejection: Rejection): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function openRejectionLog(ports: RejectionLogPorts): RejectionLog {
  let samples: Rejection[] = [];
  let counts = new Map<string, RejectionCount>();
  let cancel: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    cancel?.();
    cancel = undefined;
    if (counts.size === 0) return writing;
    const batch = { samples, counts: [...counts.values()] };
    samples = [];
    counts = new Map();
    // A failed write is dropped: these rows only inform people.
    writing = writing.then(() => ports.write(batch)).catch((error) => ports.onError?.(error));
    return writing;
  };

  return {
    add(rejection) {
      const { endpointId, integration, code, reason } = rejection;
      // Unknown ids share one row: each guess would add another.
      const counted = integration === undefined ? '' : endpointId;
      const key = `${counted} ${code} ${kindOf(reason)}`;
      const known = counts.get(key);
      if (known) counts.set(key, { ...known, count: known.count + 1 });
      else if (counts.size < countsPerFlush) {
        const count = { endpointId: counted, code, reason: kindOf(reason), count: 1 };
        counts.set(key, integration === undefined ? count : { ...count, integration });
      }
      if (samples.length < samplesPerFlush) samples.push(rejection);
      cancel ??= ports.clock.schedule(flushMs, () => void flush(), { background: true });
    },
    flush,
    close: flush,
  };
}

/** The reason without its value: `timestamp_old 4000 s` counts as timestamp_old. */
const kindOf = (reason: string) => reason.split(' ', 1)[0] ?? reason;
