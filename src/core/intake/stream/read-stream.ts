import { repeat } from '../../../kit/clock.ts';
import type { EpochMs, Json } from '../../../terms.ts';
import { pointerTo } from '../push/envelope.ts';
import { type Closed, type Conversation, converse } from './conversation.ts';
import { type ReadMessage, readMessage } from './message.ts';
import type { Claim, Failure, Stream, StreamPorts } from './ports.ts';

/** The most messages in one transaction. */
const batchSize = 100;
/** With more waiting than this, nothing is read until it is stored. */
const mostWaiting = { messages: 10 * batchSize, bytes: 1024 * 1024 };
/**
 * How many events a connection resumes before the last one. Partners promise order; an event that is overtaken by its neighbours just
 * before a connection breaks would otherwise be lost. Repeated events are recognised by their ids.
 */
const overlap = 16;
/** Credentials are renewed a minute before they end, so some that live for less are due at once. */
const leastMs = 5_000;
/** So many events of other properties and none of ours are worth a rejection. */
const manyOthers = 20;
/** With more properties than this, the place is right. */
const mostOthers = 100;
/** More do not make it worse, and are forgotten after seven messages that can be read. */
const mostRefused = 100;
const usualLeaseMs = 30_000;
const mostDelayMs = 300_000;

/** One connection, from the claim of the stream to its release. `current` is the stream as the documents describe it now. */
export async function readStream(
  ports: StreamPorts,
  current: () => Stream,
  claimed: Claim,
  signal: AbortSignal,
): Promise<void> {
  const stream = current();
  const claim = rereading(claimed, stream, ports.clock.now());
  const startedMs = ports.clock.uptimeMs();
  const read = reading(ports, current, claim);
  const opening = await ports.opening(stream, claim.offset, claim.failure === 'push.stream_refused');
  const closed: Closed = opening.kind === 'ok' ? await read.run(opening, signal) : { code: 0, wasAlive: false };
  const failure = opening.kind === 'ok' ? failureOf(closed) : { code: opening.code };
  // The circuit opens at once, for the longest time.
  const failuresBefore = closed.excess === undefined ? failure && claim.failures : 20;
  await ports.store.release(claim, delayMs(stream, failuresBefore, ports.random()), failure);
  const durationMs = ports.clock.uptimeMs() - startedMs;
  const { counts } = read;
  ports.ended(stream, { code: failure?.code, closeCode: closed.code, durationMs, counts, hasGap: read.hasGap() });
}

/** After the documents changed, messages that could not be read before are read again, while the partner has them. */
function rereading(claim: Claim, { revision, keptMs }: Stream, now: EpochMs): Claim {
  if (claim.refused === undefined || claim.refused.revision === revision) return claim;
  const { from } = claim.refused;
  const isKept = from !== undefined && now - from.at < keptMs;
  return { ...claim, refused: undefined, ...(isKept && { offset: from.offset, offsetAt: from.at }) };
}

function failureOf({ code, wasAlive, said, excess }: Closed): Failure | undefined {
  if (excess !== undefined) return { code: 'push.stream_excess', said: excess };
  if (code < 1000) {
    const answered = `HTTP ${code} instead of a WebSocket`;
    return { code: code < 500 ? 'push.stream_refused' : 'push.stream_unreachable', said: answered };
  }
  if (code === 4409) return { code: 'push.stream_taken' };
  if (code >= 4400 && code <= 4403) return { code: 'push.stream_refused', said };
  return wasAlive ? undefined : { code: 'push.stream_unreachable', said };
}

function delayMs({ pauseMs }: Stream, failuresBefore: number | undefined, chance: number): number {
  if (failuresBefore === undefined) return pauseMs;
  return Math.min(pauseMs * 2 ** failuresBefore, mostDelayMs) * (1 + chance / 4);
}

interface Waiting {
  readonly payload: Json | undefined;
  readonly bytes: number;
}

/** Reads the events of one connection and stores them, each batch with the offset from which to resume. */
function reading(ports: StreamPorts, current: () => Stream, claim: Claim) {
  const { clock, store, openSocket, leaseMs = usualLeaseMs } = ports;
  const counts = { event: 0, ignored: 0, other_property: 0, invalid: 0, stored: 0 };
  let hasGap = false;
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  const otherProperties = new Set<string>();
  /** Of the documents with which the connection began: after a change it ends. */
  const { revision } = current();
  let { refused } = claim;
  let isFirst = true;
  let isLost = false;
  let writing: Promise<void> | undefined;
  /** Offsets and times of the last events, the oldest first. */
  const recent = claim.offset === undefined ? [] : [{ offset: claim.offset, at: claim.offsetAt ?? 0 }];

  async function run(opening: Parameters<typeof converse>[1], signal: AbortSignal): Promise<Closed> {
    const { pingMs, keptMs } = current();
    const { readTo } = claim;
    if (readTo !== undefined && clock.now() - readTo > keptMs) await noteGap();
    const lost = (error?: unknown) => {
      isLost = true;
      if (error !== undefined) ports.onError(error);
      conversation.cut();
    };
    const extend = (isUpToDate: boolean) =>
      store.extend(claim, leaseMs, isUpToDate).then((isHeld) => isHeld || lost(), lost);
    const conversation = converse({ openSocket, clock, pingMs, jsonLimits: ports.jsonLimits() }, opening, {
      next: (payload, bytes) => {
        waiting.push({ payload, bytes });
        waitingBytes += bytes;
        conversation.hold(isBehind());
        writing ??= write(conversation).catch(lost);
      },
      idle: () => {
        if (writing === undefined) void extend(true);
      },
    });
    const leave = () => conversation.leave();
    const endExtending = repeat(clock, leaseMs / 3, () => void extend(false), { background: true });
    const inMs = opening.endsAt === undefined ? undefined : Math.max(leastMs, opening.endsAt - clock.now());
    const endWatch = inMs === undefined ? () => {} : clock.schedule(inMs, leave, { background: true });
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    const closed = await conversation.closed;
    signal.removeEventListener('abort', leave);
    endWatch();
    await writing;
    endExtending();
    return closed;
  }

  function isBehind(): boolean {
    return waiting.length > mostWaiting.messages || waitingBytes > mostWaiting.bytes;
  }

  async function write({ hold }: Pick<Conversation, 'hold'>): Promise<void> {
    while (waiting.length > 0 && !isLost) {
      await writeBatch(waiting.splice(0, batchSize));
      hold(isBehind());
    }
    writing = undefined;
  }

  async function writeBatch(batch: readonly Waiting[]): Promise<void> {
    const stream = current();
    const now = clock.now();
    const read = batch.map(({ payload }) => readMessage(stream, payload));
    await checkFirst(read[0]?.offset, now);
    for (const [i, message] of read.entries()) {
      const { offset, occurredAt = now } = message;
      counts[message.kind] += 1;
      const wrong = message.refused ?? (message.property && wrongBrand(message.property));
      if (wrong !== undefined) ports.refused(stream, wrong.places, batch[i]?.bytes ?? 0);
      if (stream.revision === revision) judge(message, wrong?.reason, now);
      if (offset === undefined || offset === recent.at(-1)?.offset) continue;
      recent.push({ offset, at: Math.min(occurredAt, now) });
      if (recent.length > overlap) recent.shift();
    }
    const [resume] = recent;
    const stored = await store.store(claim, {
      events: read.flatMap(({ event }) => event ?? []),
      offset: resume?.offset,
      offsetAt: resume?.at,
      readTo: recent.at(-1)?.at,
      refused,
    });
    if (stored === 'fenced') throw new Error('another node reads the stream');
    counts.stored += stored;
    for (const { bytes } of batch) waitingBytes -= bytes;
    if (stored > 0) ports.stored();
  }

  /** The place of the property, if it names a few again and again, and never one of ours: another place, or a wrong brand_id. */
  function wrongBrand({ text, place }: NonNullable<ReadMessage['property']>): ReadMessage['refused'] {
    if (otherProperties.size === mostOthers) return undefined;
    otherProperties.add(text.slice(0, 100));
    const { event, ignored, other_property: others } = counts;
    if (others % manyOthers !== 0 || event + ignored > 0 || otherProperties.size * 10 > others) return undefined;
    const places = pointerTo(place, '');
    return { reason: `push.envelope.brand names only other properties at ${places}, compare brand_id`, places };
  }

  function judge({ kind, offset, refused: isWrong }: ReadMessage, reason: string | undefined, now: EpochMs): void {
    const { count = 0, from: known } = refused ?? {};
    if (reason !== undefined) {
      // Other properties may be all that there is: worth a look, as long as no event of ours ever came.
      if (isWrong === undefined && claim.hasAccepted) return;
      const isKept = known !== undefined && now - known.at < current().keptMs;
      const from = isKept ? known : (recent[0] ?? (offset === undefined ? undefined : { offset, at: now }));
      refused = { revision, count: isWrong ? count + 1 : Math.max(1, count), reason, from };
    } else if (refused && kind !== 'other_property') {
      refused = { ...refused, count: Math.min(mostRefused, count) >> 1 };
    }
  }

  /** The event that we resume from is missing although the partner should still have it. One that cannot be read is not missing. */
  async function checkFirst(offset: string | undefined, now: EpochMs): Promise<void> {
    if (!isFirst) return;
    isFirst = false;
    const { isInclusive, keptMs } = current();
    const { offset: asked, offsetAt = 0 } = claim;
    const isMissing =
      isInclusive && asked !== undefined && offset !== undefined && offset !== asked && now - offsetAt < keptMs;
    if (isMissing) await noteGap();
  }

  async function noteGap(): Promise<void> {
    if (hasGap) return;
    hasGap = true;
    await store.noteGap(claim);
  }

  return { run, counts, hasGap: () => hasGap };
}
