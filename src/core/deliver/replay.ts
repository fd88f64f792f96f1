import { z } from 'zod';
import { InnboundError } from '../../errors.ts';
import type { Clock } from '../../kit/clock.ts';
import { differenceSchema, entityType } from '../canonical/schema.ts';

/**
 * Replays and drops dead letters of all three kinds, one after the other, in the order in which they failed.
 *
 *   delivery   recorded: sends the version again under its own idempotency key; newer versions follow
 *              today:    maps the record again; if that changes it, the new version replaces the waiting ones
 *   event      processes the event again, under today's documents or the recorded ones
 *   record     likewise
 *
 * A replay keeps the time of the partner's data, so it never overwrites newer data.
 */
export type Under = 'today' | 'recorded';

export interface ReplayLetter {
  readonly id: string;
  readonly kind: 'event' | 'record' | 'delivery';
}

/** Who closed a dead letter, and why. Stored with it. */
export interface Closing {
  readonly by: string;
  readonly reason?: string;
}

/** What a replay would do. Holds guest data. */
export const previewSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('ready'),
    record: z.object({ type: entityType, id: z.string() }),
    /** The stored record; absent if there is none. */
    before: z.unknown().optional(),
    after: z.unknown(),
    diff: z.array(differenceSchema),
  }),
  /** A business rule drops it now. */
  z.object({ kind: z.literal('dropped'), reason: z.string() }),
  z.object({ kind: z.literal('still_failing'), code: z.string(), message: z.string() }),
  /** It is closed, or the data it was made from is no longer kept. */
  z.object({ kind: z.literal('gone'), message: z.string() }),
]);
export type Preview = z.infer<typeof previewSchema>;

export interface ReplayPorts {
  readonly clock: Clock;
  readonly preview: (letter: ReplayLetter, under: Under) => Promise<Preview>;
  /** Replays it if it is still open; false if somebody else closed it. */
  readonly replay: (letter: ReplayLetter, under: Under, closing: Closing) => Promise<boolean>;
  readonly wake: (topic: 'events' | 'outbox') => void;
}

export interface ReplayOptions {
  /** Default: `recorded` for deliveries, `today` for the rest. */
  readonly under?: Under | undefined;
  readonly by: string;
  /** The most replays per second, so that they do not flood a destination that has just recovered. */
  readonly perSecond: number;
  readonly onEach?: (result: ReplayResult) => void;
  readonly signal?: AbortSignal;
}

export type ReplayResult =
  | { readonly id: string; readonly result: 'replayed' }
  /** It would fail again, so it stays open. */
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
    const waitMs = Math.min(nextAtMs - ports.clock.now(), spacingMs); // never longer, even if the clock was set back
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
  const preview = await ports.preview(letter, under).catch(tooCostly);
  if (preview.kind === 'still_failing') {
    return { id, result: 'still_failing', code: preview.code, message: preview.message };
  }
  if (preview.kind === 'gone') return { id, result: 'gone', message: preview.message };
  const done = await ports.replay(letter, under, { by: options.by });
  return done ? { id, result: 'replayed' } : { id, result: 'gone', message: 'The dead letter is no longer open.' };
}

/** One payload that takes too long to map must not stop the replay of the others. */
function tooCostly(error: unknown): Preview {
  if (!(error instanceof InnboundError) || error.code !== 'operate.too_costly') throw error;
  return { kind: 'still_failing', code: error.code, message: error.message };
}
