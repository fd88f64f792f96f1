import { createHmac, timingSafeEqual } from 'node:crypto';
import { decodeRecord } from '../../core/canonical/reservation.ts';
import { dataOf, keyInEpoch, type Message, messageJson } from '../../core/deliver/message.ts';
import { completeSince } from '../../core/store/db/partitions.ts';
import type { Pool } from '../../core/store/db/pool.ts';
import {
  brandIdsOf,
  FeedHorizon,
  type FeedRow,
  type FeedScope,
  feedNews,
  readFeed,
} from '../../core/store/records/feed.ts';
import { InnboundError } from '../../errors.ts';
import type { Clock, Timers } from '../../kit/clock.ts';
import type { Keyring } from '../../kit/crypto.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { EntityType } from '../../terms.ts';

interface FeedRequest extends FeedScope {
  /** Undefined for the beginning. */
  readonly after: string | undefined;
  /** The filters as text: a cursor is valid only with the filters that it was issued for. */
  readonly filter: string;
  readonly limit: number;
  readonly waitMs: number;
  /** Aborted when the caller no longer waits for the answer. */
  readonly signal: AbortSignal;
}

export interface ChangeFeed {
  read(request: FeedRequest): Promise<FeedPage>;
}

interface FeedPage {
  readonly changes: readonly unknown[];
  readonly cursor: string;
  readonly more: boolean;
}

/** How many entries one statement searches, so that a token with few changes does not read the whole table at once. */
const stride = 50_000;
/** Changes per statement and bytes per page: records differ much in size. */
const rowsAtOnce = 100;
const mostBytes = 4 * 1024 * 1024;
/** A page without changes is answered after this time, with an advanced cursor. */
const searchMs = 2_000;
/** How long the first request waits for transactions in progress. */
const settleMs = 2_000;

/**
 * The feed of changes: pages in the order of the history's entries, up to the horizon below which nothing can still appear.
 * Nothing is stored per reader; its cursor is the position.
 */
export function openChangeFeed(runtime: Runtime, clock: Clock & Timers): ChangeFeed {
  const { pool } = runtime;
  const horizon = new FeedHorizon(pool);
  const newsFor = followFeed(pool, horizon, clock);

  const settled = async (signal: AbortSignal): Promise<number | undefined> => {
    const until = clock.uptimeMs() + settleMs;
    let position = await horizon.look();
    while (position === undefined && clock.uptimeMs() < until && !signal.aborted) {
      await clock.wait(20, signal);
      position = await horizon.look();
    }
    return position;
  };

  const search = async (scope: FeedScope, from: number, upTo: number, limit: number): Promise<FeedRows> => {
    const rows: FeedRow[] = [];
    let bytes = 0;
    let position = from;
    const until = clock.uptimeMs() + searchMs;
    while (position < upTo && rows.length < limit && bytes < mostBytes && clock.uptimeMs() < until) {
      const to = Math.min(upTo, position + stride);
      const wanted = Math.min(rowsAtOnce, limit - rows.length);
      const some = await readFeed(pool, scope, position, to, wanted);
      rows.push(...some);
      bytes += some.reduce((sum, { data }) => sum + data.length, 0);
      position = some.length < wanted ? to : (some.at(-1)?.position ?? to);
    }
    return { rows, position };
  };

  const read = async (request: FeedRequest): Promise<FeedPage> => {
    const { integrations, types, limit, waitMs, signal } = request;
    const scope = { integrations, types };
    const epoch = runtime.restoreCheck.epoch();
    const answer = async ({ rows, position }: FeedRows, earlier: number): Promise<FeedPage> => {
      const isAtEnd = horizon.position !== undefined && position >= horizon.position;
      const last = isAtEnd ? runtime.clock.now() : rows.at(-1)?.at.getTime();
      const second = last === undefined ? earlier : Math.floor(last / 1000);
      return {
        changes: await messagesOf(runtime, rows, epoch),
        cursor: sealCursor(runtime.keys.hashKeys, { epoch, position, second }, request.filter),
        more: !isAtEnd && horizon.position !== undefined,
      };
    };
    const upTo = await settled(signal);
    if (request.after === 'now') {
      if (upTo === undefined) throw new InnboundError('operate.busy', 'A long transaction is in progress; try again.');
      return answer({ rows: [], position: upTo }, 0);
    }
    const since = await completeSince(pool);
    const from = startOf(runtime, request, { epoch, last: horizon.last, since });
    let hits = await search(scope, from.position, upTo ?? 0, limit);
    const until = clock.uptimeMs() + waitMs;
    while (hits.rows.length === 0 && hits.position >= (horizon.position ?? 0) && !signal.aborted) {
      const leftMs = until - clock.uptimeMs();
      if (leftMs <= 0) break;
      const moved = await newsFor(scope, hits.position, leftMs, signal);
      hits = moved.isNews
        ? await search(scope, moved.position, horizon.position ?? moved.position, limit)
        : { rows: [], position: moved.position };
    }
    return answer(hits, from.second);
  };
  return { read };
}

interface FeedRows {
  readonly rows: readonly FeedRow[];
  readonly position: number;
}

interface Kept {
  readonly epoch: number;
  /** The last entry number that was assigned. */
  readonly last: number;
  /** Changes before this time were removed. */
  readonly since: Date | undefined;
}

/** Changes carry the time at which their transaction began, which may be somewhat before the position was read. */
const transactionSeconds = 600;

function startOf(
  runtime: Runtime,
  { after, filter }: FeedRequest,
  { epoch, last, since }: Kept,
): Pick<FeedCursor, 'position' | 'second'> {
  const oldest = since === undefined ? 0 : Math.ceil(since.getTime() / 1000) + transactionSeconds;
  if (after === undefined) return { position: 0, second: oldest };
  const cursor = openCursor(runtime.keys.hashKeys, after, filter);
  if (cursor === undefined) {
    throw new InnboundError(
      'operate.bad_request',
      'The cursor was not issued by this feed for these filters; use `cursor` of the last page, with the same `integration` and `type`.',
    );
  }
  if (cursor.epoch !== epoch || cursor.position > last) {
    throw new InnboundError(
      'operate.cursor_outdated',
      'The store was restored from a backup after this cursor was issued. Leave out `after` and read the feed from its beginning.',
    );
  }
  if (cursor.second < oldest) {
    throw new InnboundError(
      'operate.cursor_outdated',
      'Changes after this cursor were removed after their retention. Leave out `after` and read the feed from its beginning.',
    );
  }
  return cursor;
}

async function messagesOf(runtime: Runtime, rows: readonly FeedRow[], epoch: number): Promise<unknown[]> {
  const { integrations } = runtime.active();
  const gone = [...new Set(rows.map(({ integration }) => integration))].filter((name) => !integrations.has(name));
  const former = gone.length > 0 ? await brandIdsOf(runtime.pool, gone) : new Map<string, string>();
  return rows.map(({ type, integration, id, event, version, idempotency_key, data, at }) => {
    const message: Message = {
      type,
      integration,
      brand_id: integrations.get(integration)?.body.brand_id ?? former.get(integration) ?? '',
      event,
      ...(epoch > 1 && { epoch }),
      version,
      idempotency_key: keyInEpoch(idempotency_key, epoch),
      ...(event === 'removed' && { removed: true as const }),
      data: event === 'removed' ? { id } : dataOf(type, id, decodeRecord(type, data)),
    };
    return { ...messageJson(message), changed_at: at };
  });
}

interface FeedCursor {
  readonly epoch: number;
  readonly position: number;
  /** Changes after the position were made after this second, by the database's clock. */
  readonly second: number;
}

/**
 * A cursor is a position, signed together with the filters of the request. A cursor from other filters is refused: continuing there
 * would skip what the first filters left out. A forged position could lie where changes are still missing. Readers keep cursors for long, so
 * they are signed with the hash keys, which a rotation of the sealing key keeps.
 */
function sealCursor(hashKeys: Keyring, { epoch, position, second }: FeedCursor, filter: string): string {
  const signature = sign(hashKeys[0].bytes, [epoch, position, second], filter);
  return `${epoch}.${position}.${second}.${signature.toString('base64url')}`;
}

/** Undefined for a cursor that was not issued for these filters. */
function openCursor(hashKeys: Keyring, text: string, filter: string): FeedCursor | undefined {
  const [, numbers = '', shown = ''] = /^(\d{1,9}\.\d{1,15}\.\d{1,12})\.([\w-]{22})$/.exec(text) ?? [];
  const signature = Buffer.from(shown, 'base64url');
  const [epoch = 0, position = 0, second = 0] = numbers.split('.').map(Number);
  const isOurs = hashKeys.some(({ bytes }) => {
    const ours = sign(bytes, [epoch, position, second], filter);
    return signature.length === ours.length && timingSafeEqual(signature, ours);
  });
  return isOurs ? { epoch, position, second } : undefined;
}

function sign(key: Buffer, place: readonly number[], filter: string): Buffer {
  const text = JSON.stringify(['feed cursor', ...place, filter]);
  return createHmac('sha256', key).update(text).digest().subarray(0, 16);
}

interface Waiter {
  readonly scope: FeedScope;
  /** Read up to here. */
  position: number;
  readonly wake: (isNews: boolean) => void;
}

/**
 * Wakes waiting readers when changes in their scope appear. Polls the store five times a second per node, whatever the number of
 * readers, and not at all without readers. A reader whose scope has no changes advances without a query.
 */
function followFeed(db: Pool, horizon: FeedHorizon, clock: Clock & Timers) {
  const waiters = new Set<Waiter>();
  let isLooking = false;

  const look = async (): Promise<void> => {
    const now = await horizon.look();
    const behind = [...waiters].filter(({ position }) => now !== undefined && position < now);
    if (now === undefined || behind.length === 0) return;
    const from = Math.min(...behind.map(({ position }) => position));
    const news = await feedNews(db, from, now);
    for (const waiter of behind) {
      // A reader that joined with an older position may be woken needlessly, but never misses a change.
      if (news.some((one) => covers(waiter.scope, one))) waiter.wake(true);
      else waiter.position = now;
    }
  };
  const follow = async (): Promise<void> => {
    isLooking = true;
    while (waiters.size > 0) {
      await clock.wait(200);
      // While the database is unreachable, readers wait until their time is over.
      await look().catch(() => {});
    }
    isLooking = false;
  };
  /** Resolves with where to continue, and whether there may be changes in the reader's scope. */
  return (scope: FeedScope, position: number, ms: number, signal: AbortSignal) => {
    if (waiters.size >= 1_000) {
      throw new InnboundError('operate.busy', 'Too many readers wait on this node; try again in a few seconds.');
    }
    return new Promise<{ readonly position: number; readonly isNews: boolean }>((resolve) => {
      const wake = (isNews: boolean): void => {
        cancel();
        signal.removeEventListener('abort', end);
        waiters.delete(waiter);
        resolve({ position: waiter.position, isNews });
      };
      const end = () => wake(false);
      const waiter: Waiter = { scope, position, wake };
      const cancel = clock.schedule(ms, end);
      signal.addEventListener('abort', end, { once: true });
      waiters.add(waiter);
      if (!isLooking) void follow();
    });
  };
}

function covers({ integrations, types }: FeedScope, one: { integration: string; type: EntityType }): boolean {
  return (
    (integrations === undefined || integrations.includes(one.integration)) &&
    (types === undefined || types.includes(one.type))
  );
}
