import type { Clock } from '../kit/clock.ts';
import type { Json } from '../terms.ts';

/**
 * Replays and drops dead letters of all three kinds, one after the other in the order in which they failed.
 *
 *   delivery   recorded: the version goes out again, under its own idempotency key, and what waits behind it follows
 *              today:    the record is mapped anew; if that changes it, the new version takes the place of those that wait
 *   event      the event goes through the path again, under the documents of today or the ones it failed under
 *   record     likewise
 *
 * A replay keeps the time at which the partner's data was in that state, so that it never overwrites what is newer.
 */
export type Under = 'today' | 'recorded';

export interface ReplayLetter {
  readonly id: string;
  readonly kind: 'event' | 'record' | 'delivery';
}

export interface Closing {
  readonly by: string;
  readonly reason?: string;
}

/** What a replay would do. Holds guest data. */
export type Preview =
  | {
      readonly kind: 'ready';
      readonly record: { readonly type: string; readonly id: string };
      /** What is stored now; absent where nothing is. */
      readonly before?: Json;
      readonly after: Json;
      readonly diff: readonly { readonly path: string; readonly before?: Json; readonly after?: Json }[];
    }
  /** A business rule drops it now. */
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'still_failing'; readonly code: string; readonly message: string }
  /** It is closed, or what it was made of is no longer kept. */
  | { readonly kind: 'gone'; readonly message: string };

export interface ReplayPorts {
  readonly clock: Clock;
  readonly preview: (letter: ReplayLetter, under: Under) => Promise<Preview>;
  /** Does it, if it is still open; false when somebody else closed it. */
  readonly replay: (letter: ReplayLetter, under: Under, closing: Closing) => Promise<boolean>;
  readonly wake: (topic: 'events' | 'outbox') => void;
}

export interface ReplayOptions {
  /** What is not said is `recorded` for deliveries and `today` for what never became a record. */
  readonly under?: Under;
  readonly by: string;
  /** At most so many a second: a thousand replays are no flood for a destination that just came back. */
  readonly perSecond: number;
  readonly onEach?: (result: ReplayResult) => void;
  readonly signal?: AbortSignal;
}

export type ReplayResult =
  | { readonly id: string; readonly result: 'replayed' }
  /** It would only fail again: it stays as it is. */
  | { readonly id: string; readonly result: 'still_failing'; readonly code: string; readonly message: string }
  | { readonly id: string; readonly result: 'gone'; readonly message: string };

export const underFor = (letter: ReplayLetter, asked: Under | undefined): Under =>
  asked ?? (letter.kind === 'delivery' ? 'recorded' : 'today');

export async function replayDeadLetters(
  ports: ReplayPorts,
  letters: AsyncIterable<ReplayLetter> | Iterable<ReplayLetter>,
  options: ReplayOptions,
): Promise<{ replayed: number; still_failing: number; gone: number }> {
  const counts = { replayed: 0, still_failing: 0, gone: 0 };
  const spacingMs = 1_000 / options.perSecond;
  let nextAtMs = ports.clock.now();
  for await (const letter of letters) {
    if (options.signal?.aborted) break;
    const waitMs = Math.min(nextAtMs - ports.clock.now(), spacingMs); // a clock that is set back makes nobody wait for it
    if (waitMs > 0) await ports.clock.wait(waitMs, options.signal);
    nextAtMs = ports.clock.now() + spacingMs;
    const result = await replayOne(ports, letter, options);
    counts[result.result] += 1;
    options.onEach?.(result);
    ports.wake(letter.kind === 'event' ? 'events' : 'outbox');
  }
  return counts;
}

async function replayOne(ports: ReplayPorts, letter: ReplayLetter, options: ReplayOptions): Promise<ReplayResult> {
  const { id } = letter;
  const under = underFor(letter, options.under);
  const preview = await ports.preview(letter, under);
  if (preview.kind === 'still_failing') {
    return { id, result: 'still_failing', code: preview.code, message: preview.message };
  }
  if (preview.kind === 'gone') return { id, result: 'gone', message: preview.message };
  const done = await ports.replay(letter, under, { by: options.by });
  return done ? { id, result: 'replayed' } : { id, result: 'gone', message: 'It is not open any more.' };
}
