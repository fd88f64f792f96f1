import { z } from 'zod';
import { columnsOf } from '../../../core/store/db/columns.ts';
import { hitsOne, type Pool, rowOf, rowsOf, type Tx } from '../../../core/store/db/pool.ts';
import type { EntityType, Json } from '../../../terms.ts';
import { instant, instantText, type Row } from '../answers.ts';
import type { FoundRecord } from './find.ts';

const notified = z.object({
  integration: z.string(),
  destination: z.string(),
  records: z.int().describe('How many erasures are sent to it.'),
  confirmed: z.int().describe('How many of them it has confirmed.'),
  passed_over: z.int().describe('How many of them its filter excludes.'),
  dropped: z.int().describe('How many of them an operator dropped: the destination may still hold the guest.'),
  not_notified: z
    .int()
    .describe(
      'How many further records of the guest it received before it was taken out of `deliver` or no longer received their type. It is not notified of these: erase the guest there by hand. The receipt stays open.',
    ),
  given_up: z
    .int()
    .describe(
      'How many of them it had not confirmed when what the guest was known by was deleted, after `retention.raw`: erase the guest there by hand. The receipt stays open.',
    ),
  confirmed_at: instantText.nullable(),
});
export type Notified = Row<typeof notified>;

export const receiptSchema = z.object({
  erasure_id: z.string(),
  state: z
    .enum(['running', 'stopped', 'interrupted', 'notifying', 'done'])
    .describe(
      '`notifying`: destinations have not confirmed it yet. `interrupted`: its process ended first; erase again.',
    ),
  progress: z
    .object({ place: z.string(), done: z.int(), of: z.int() })
    .nullable()
    .describe('Where it searches, or stopped; null before the records are rewritten, and at the end.'),
  stopped_at: instant.nullable(),
  stopped_by: z.string().nullable(),
  requested_at: instant,
  completed_at: instant.nullable().describe('When the guest was completely removed from the store.'),
  confirmed_at: instant.nullable().describe('When the last destination confirmed it; null until all have.'),
  requested_by: z.string(),
  subject: z.string().describe('A keyed hash of the guest.'),
  removed: z.record(z.string(), z.int()).describe('How many rows were emptied or removed, by place.'),
  notified: z.array(notified),
});
export type ErasureReceipt = Row<typeof receiptSchema>;
export type ErasureRow = Omit<ErasureReceipt, 'removed' | 'notified'> & { readonly receipt: Json };

const columns = `erasure_id, requested_by, requested_at, completed_at, confirmed_at, subject, receipt, progress, stopped_by, stopped_at,
  case when stopped_at is not null then 'stopped' when confirmed_at is not null then 'done'
       when completed_at is not null then 'notifying' when seen_at < now() - interval '30 s' then 'interrupted' else 'running' end as state`;

export async function beginErasure(db: Pool | Tx, erasureId: string, by: string, subject: string): Promise<void> {
  await db.query('insert into erasures (erasure_id, requested_by, subject) values ($1, $2, $3)', [
    erasureId,
    by,
    subject,
  ]);
}

const change = (db: Pool, id: string, set: string, ...values: unknown[]): Promise<ErasureRow | undefined> =>
  rowOf(db)(`update erasures set ${set} where erasure_id = $1 returning ${columns}`, [id, ...values]);

export const completeErasure = (db: Pool, erasureId: string, receipt: Json) =>
  change(
    db,
    erasureId,
    `completed_at = now(), confirmed_at = case when json_array_length($2::json -> 'notified') = 0 then now() end, receipt = $2, progress = null`,
    JSON.stringify(receipt),
  );

/** Records that it still runs. True if somebody asked to stop it. */
export const renewErasure = async (db: Pool, erasureId: string): Promise<boolean> =>
  typeof (await change(db, erasureId, 'seen_at = now()'))?.stopped_by === 'string';

/** Its progress, and what was removed so far. */
export const noteErasure = (db: Pool, erasureId: string, progress: ErasureRow['progress'], receipt: Json) =>
  change(db, erasureId, 'progress = $2, receipt = $3', JSON.stringify(progress), JSON.stringify(receipt));

/** It has stopped. The destinations are still notified of what was removed. */
export const endStopped = (db: Pool, erasureId: string) => change(db, erasureId, 'stopped_at = now()');

/** Asks the process that runs it to stop. False if it no longer runs. */
export const stopErasure = (db: Pool, erasureId: string, by: string): Promise<boolean> =>
  hitsOne(db)(
    `update erasures set stopped_by = coalesce(stopped_by, $2)
      where erasure_id = $1 and completed_at is null and stopped_at is null`,
    [erasureId, by],
  );

/**
 * Adds new confirmations to the receipts. Delivering a newer version of a record confirms the older one too, unless an operator dropped
 * that one. A dropped erasure is noted in the receipt, since the attempts are deleted later; only sending it again confirms it.
 */
export async function noteConfirmations(db: Pool): Promise<void> {
  const { rows: open } = await db.query<{ erasure_id: string; receipt: { notified: readonly Notified[] } }>(
    `select erasure_id, receipt from erasures
      where (completed_at is not null or stopped_at is not null) and confirmed_at is null and receipt is not null limit 1000`,
  );
  for (const { erasure_id: id, receipt } of open) {
    const { rows: now } = await db.query<Notified & { settled: number; resent: number; last_at: Date }>(
      `select r.integration, o.destination, count(*)::int as records,
              count(*) filter (where o.delivered_version >= r.version and not t.is_dropped)::int as confirmed,
              count(*) filter (where o.next_version > r.version and not t.is_dropped)::int as settled,
              count(*) filter (where t.is_dropped)::int as dropped, count(*) filter (where t.is_resent)::int as resent,
              coalesce(max(coalesce(a.at, o.delivered_at)), now()) as last_at
         from history r
         join outbox o on o.integration = r.integration and o.type = r.type and o.id = r.id
         left join lateral (select min(at) as at from attempts
                             where integration = r.integration and type = r.type and id = r.id
                               and destination = o.destination and outcome = 'delivered' and version >= r.version) a on true
         cross join lateral (select coalesce(bool_or(code = 'dropped'), false) and not coalesce(bool_or(outcome = 'delivered'), false),
                                    coalesce(bool_or(code = 'dropped'), false) and coalesce(bool_or(outcome = 'delivered'), false)
                               from attempts where integration = r.integration and type = r.type and id = r.id
                                and destination = o.destination and version = r.version) t (is_dropped, is_resent)
        where r.cause = 'erasure' and r.cause_id = $1
        group by r.integration, o.destination`,
      [id],
    );
    const told = receipt.notified.map((one): Notified => {
      const progress = now.find((row) => row.integration === one.integration && row.destination === one.destination);
      if (progress === undefined) return one;
      const { confirmed, settled, resent, last_at: lastAt } = progress;
      const dropped = Math.max(progress.dropped, one.dropped - resent);
      // A drop whose attempt is deleted looks settled.
      const open = dropped - progress.dropped;
      const isTold = one.not_notified === 0 && one.given_up === 0;
      const at = isTold && settled - open >= one.records ? lastAt.toISOString() : null;
      return { ...one, confirmed: confirmed - open, passed_over: settled - confirmed, dropped, confirmed_at: at };
    });
    const isNews = told.some(({ confirmed, passed_over, dropped, confirmed_at }, i) => {
      const before = receipt.notified[i];
      return (
        confirmed !== before?.confirmed ||
        passed_over !== before.passed_over ||
        dropped !== before.dropped ||
        confirmed_at !== before.confirmed_at
      );
    });
    if (!isNews) continue;
    const isAll = told.every((one) => one.confirmed_at !== null);
    const last = isAll
      ? told
          .map((one) => one.confirmed_at)
          .sort()
          .at(-1)
      : null;
    await db.query('update erasures set receipt = $2, confirmed_at = $3 where erasure_id = $1', [
      id,
      JSON.stringify({ ...receipt, notified: told }),
      last,
    ]);
  }
}

/** Destinations that have received these records, with the number of records of each type. */
export const holdersOf = (
  tx: Tx,
  records: readonly Pick<FoundRecord, 'integration' | 'type' | 'id'>[],
): Promise<readonly Holder[]> =>
  rowsOf(tx)(
    `select o.integration, o.destination, o.type, count(*)::int as records
       from unnest($1::text[], $2::text[], $3::text[]) as r (integration, type, id)
       join lateral (select * from outbox where integration = r.integration and type = r.type and id = r.id) o on true
      where o.delivered_version > 0 or o.leased
      group by o.integration, o.destination, o.type order by o.integration, o.destination, o.type`,
    columnsOf(records, 'integration', 'type', 'id'),
  );

export interface Holder {
  readonly integration: string;
  readonly destination: string;
  readonly type: EntityType;
  readonly records: number;
}

const select = (db: Pool, rest: string, ...values: unknown[]): Promise<ErasureRow[]> =>
  rowsOf(db)(`select ${columns} from erasures ${rest}`, values);

/** Newest first. */
export const listErasures = (
  db: Pool,
  { before, limit }: { readonly before: { at: string; id: string } | undefined; readonly limit: number },
) =>
  select(
    db,
    `where $1::timestamptz is null or (date_trunc('milliseconds', requested_at), erasure_id) < ($1, $2)
      order by date_trunc('milliseconds', requested_at) desc, erasure_id desc limit $3`,
    before?.at,
    before?.id ?? '',
    limit,
  );

export const readErasure = async (db: Pool, erasureId: string) =>
  (await select(db, 'where erasure_id = $1', erasureId))[0];

/** Of one guest, the newest first. */
export const findErasures = (db: Pool, subjects: readonly string[]) =>
  select(db, 'where subject = any($1) order by requested_at desc limit 500', subjects);
