import type { Timers } from '../../../kit/clock.ts';
import type { Rejection } from './ports.ts';

/**
 * Counts refused requests and keeps the last ones of each kind, so that an operator can help a partner. They are written in the background
 * once a second, and of a flood only some: a refusal must cost us less than it costs the sender.
 */
interface RejectionLogPorts {
  readonly clock: Pick<Timers, 'schedule'>;
  readonly write: (counts: readonly RejectionCount[]) => Promise<void>;
  readonly onError?: (error: unknown) => void;
}

export interface RejectionCount {
  readonly endpointId: string;
  readonly integration?: string | undefined;
  readonly code: string;
  /** The reason without its value: `timestamp_old 4000 s` counts as timestamp_old. */
  readonly reason: string;
  readonly count: number;
  readonly newest: readonly Rejection[];
}

const kindsPerFlush = 500;
const keptPerKind = 20;
const flushMs = 1_000;

export function openRejectionLog(ports: RejectionLogPorts) {
  let counts = new Map<string, RejectionCount>();
  let cancel: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    cancel?.();
    cancel = undefined;
    if (counts.size === 0) return writing;
    const batch = [...counts.values()];
    counts = new Map();
    // A failed write is dropped: these rows only inform people.
    writing = writing.then(() => ports.write(batch)).catch((error) => ports.onError?.(error));
    return writing;
  };

  return {
    add(rejection: Rejection): void {
      const { integration, code } = rejection;
      // Unknown ids share one row: each guess would add another.
      const endpointId = integration === undefined ? '' : rejection.endpointId;
      const reason = rejection.reason.split(' ', 1)[0] ?? '';
      const key = `${endpointId} ${code} ${reason}`;
      const { count, newest } = counts.get(key) ?? { count: 0, newest: [] };
      if (count === 0 && counts.size >= kindsPerFlush) return;
      const kept = [rejection, ...newest].slice(0, keptPerKind);
      counts.set(key, { endpointId, integration, code, reason, count: count + 1, newest: kept });
      cancel ??= ports.clock.schedule(flushMs, () => void flush(), { background: true });
    },
    flush,
    close: flush,
  };
}
