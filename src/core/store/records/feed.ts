import type { ChangeEvent, EntityType } from '../../../terms.ts';
import { mapOf, numberOf, onlyRow, type Pool, rowsOf } from '../db/pool.ts';
import { versionOf, versionsAfter } from './versions.ts';

/** Which changes a reader of the feed gets; undefined means all. */
export interface FeedScope {
  readonly integrations: readonly string[] | undefined;
  readonly types: readonly EntityType[] | undefined;
}

export interface FeedRow {
  /** The number of its entry in the history. */
  readonly position: number;
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly event: ChangeEvent;
  readonly at: Date;
  readonly idempotency_key: string;
  readonly data: string;
}

/** The changes in (after, upTo], in the order of their entries. */
export async function readFeed(
  db: Pool,
  { integrations, types }: FeedScope,
  after: number,
  upTo: number,
  limit: number,
): Promise<FeedRow[]> {
  const { rows } = await db.query<FeedRow & { newest: number; made: string | null }>(
    `select c.entry_id as position, c.integration, c.type, c.id, c.version, c.outcome as event, c.at, c.idempotency_key,
            r.version as newest, r.data::text as data, case when c.version < r.version then ${versionsAfter('c', 'c.version')} end as made
       from (select * from history
              where diff is not null and entry_id > $1 and entry_id <= $2 and ($3::text[] is null or integration = any($3))
                and ($4::text[] is null or type = any($4))
              order by entry_id limit $5) c
       join records r on r.integration = c.integration and r.id = c.id and r.type = c.type
      order by c.entry_id`,
    [after, upTo, integrations, types, limit],
  );
  return rows.flatMap(({ newest, data, made, ...row }) => {
    const own = versionOf(row.version, { version: newest, data }, made);
    return own === undefined ? [] : [{ ...row, data: own }];
  });
}

/** Whose changes lie in (after, upTo], without reading them. */
export const feedNews = (
  db: Pool,
  after: number,
  upTo: number,
): Promise<{ readonly integration: string; readonly type: EntityType }[]> =>
  rowsOf(db)(
    'select distinct integration, type from history where diff is not null and entry_id > $1 and entry_id <= $2',
    [after, upTo],
  );

/** The brand ids of integrations, also of those that are no longer in force. */
export const brandIdsOf = (db: Pool, integrations: readonly string[]): Promise<Map<string, string>> =>
  mapOf(db)(
    `select distinct on (name) name, body ->> 'brand_id' as brand_id from documents
      where kind = 'integration' and name = any($1) order by name, version desc`,
    [integrations],
  );

interface Sample {
  readonly position: number;
  /** Transactions that hold a position up to this one have smaller numbers. */
  readonly transaction: bigint;
}

/**
 * How far the feed is complete: no transaction in progress can still add a change at or below the horizon.
 *
 * Entries are numbered when they are written and become visible when their transaction commits, so a smaller number can appear after
 * a larger one. A transaction has its own number before it numbers entries, because it locks the records first. So: read the last
 * entry's number, then take a transaction number. Once every transaction with a smaller number has ended, no entry up to that number can
 * still appear.
 *
 * Rejected: the transaction's number as the position. It is visible to a plain query, but a transaction that waited for a record's lock
 * has a smaller number than the one it waited for, so two versions of a record would be in the wrong order. Also rejected: xmax of a
 * snapshot instead of our own transaction number. It follows the last transaction that has ended, and later ones may be in progress.
 */
export class FeedHorizon {
  readonly #db: Pool;
  #samples: Sample[] = [];
  #looking: Promise<void> | undefined;
  #position: number | undefined;
  /** The last number that was assigned. */
  #last = -1;

  constructor(db: Pool) {
    this.#db = db;
  }

  /** Undefined until the transactions that the first look found have ended. */
  get position(): number | undefined {
    return this.#position;
  }

  get last(): number {
    return this.#last;
  }

  /** Looks again. Callers at the same time share one look that begins after their call. */
  async look(): Promise<number | undefined> {
    // A look in progress may have read the numbers before the caller's own transaction committed.
    await this.#looking?.catch(() => {});
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
    return this.#position;
  }

  async #look(): Promise<void> {
    const last = await numberOf(this.#db)('select case when is_called then last_value else 0 end from history_entries');
    // A restored store counts from a smaller number again.
    if (last < this.#last) {
      this.#position = undefined;
      this.#samples = [];
    }
    const isNew = last !== this.#last;
    this.#last = last;
    if (!isNew && this.#samples.length === 0) return;
    // Taking a number is a write; a look that finds nothing new takes none.
    const { own, oldest } = await onlyRow(this.#db)<{ own: string | null; oldest: string }>(
      `select case when $1 then pg_current_xact_id() end::text as own, pg_snapshot_xmin(pg_current_snapshot())::text as oldest`,
      [isNew],
    );
    if (own !== null) this.#samples.push({ position: last, transaction: BigInt(own) });
    const running = this.#samples.findIndex(({ transaction }) => transaction > BigInt(oldest));
    const ended = running === -1 ? this.#samples.length : running;
    this.#position = this.#samples[ended - 1]?.position ?? this.#position;
    this.#samples.splice(0, ended);
    // While a long transaction holds the horizon back, a few samples are enough.
    if (this.#samples.length > 100) this.#samples = this.#samples.filter((_, i) => i % 2 === 0);
  }
}
