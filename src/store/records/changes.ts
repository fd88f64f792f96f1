import { hash } from 'node:crypto';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { jsonbText } from '../../kit/json.ts';
import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import type { Difference } from '../../reconcile/difference.ts';
import type { Arrival, Incoming, MessageOutcome } from '../../reconcile/incoming.ts';
import { type RecordState, viewsText } from '../../reconcile/record-state.ts';
import type { ChangeEvent, EntityType, Json, LocalDate } from '../../terms.ts';
import { float8s, int4s, int8s, texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { keysText } from './search-keys.ts';

export interface Item {
  readonly index: number;
  readonly incoming: Incoming;
  readonly arrival: Arrival;
  readonly seq: number;
  readonly text: string;
  /** The text contains every field of the record. */
  readonly isVerbatim?: boolean;
  readonly hash: string;
}

export interface Entry {
  readonly item: Pick<Item, 'arrival' | 'seq'>;
  readonly type: EntityType;
  readonly id: string;
  readonly outcome: MessageOutcome['outcome'];
  readonly version?: number;
  readonly reason?: string;
  readonly raw: Json;
  readonly notes: string;
  readonly origins?: string;
}

export interface Change {
  readonly entry: number;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly event: ChangeEvent;
  readonly item: Item;
  /** What each source states from now on, and the time of the record's state. */
  readonly state: RecordState;
  readonly diff: readonly Difference[];
  /** The record before it; undefined where this is the first version. */
  readonly was: unknown;
  /** The row was inserted with this version. */
  readonly isStored?: boolean;
  readonly idempotencyKey: string;
  /** The row of the partner's list that the record now agrees with. */
  readonly listed: number | undefined;
}

/** The records of a batch, each with its oldest and its newest version in it. A bare cancellation after a row keeps the row. */
export function movesOf(changes: readonly Change[]): { readonly first: Change; readonly newest: Change }[] {
  const byRecord = Map.groupBy(changes, ({ type, id }) => `${type} ${id}`).values();
  return [...byRecord].flatMap((versions) => {
    const [first, newest] = [versions[0], versions.at(-1)];
    const listed = versions.findLast((one) => one.listed !== undefined)?.listed;
    return first && newest ? [{ first, newest: listed === newest.listed ? newest : { ...newest, listed } }] : [];
  });
}

/** Writes the history and the newest state of each record, pipelined. */
export function writeChanges(
  tx: Tx,
  target: ApplyTarget,
  entries: readonly Entry[],
  changes: readonly Change[],
): Promise<unknown>[] {
  if (entries.length === 0) return [];
  const unstored = movesOf(changes)
    .filter(({ newest }) => !newest.isStored)
    .map(({ newest }) => newest);
  return [
    insertHistory(tx, target, entries, changes),
    ...(unstored.length > 0 ? [updateRecords(tx, target, unstored)] : []),
  ];
}

/**
 * Inserts entries in the order of the batch, each with the version that it made. The arrays come through sub-selects, so that the planner
 * does not see their length: for a single row it would plan every execution again, which takes PostgreSQL 0.2 ms (2 cores arm64).
 */
function insertHistory(
  tx: Tx,
  target: ApplyTarget,
  entries: readonly Entry[],
  changes: readonly Change[],
): Promise<unknown> {
  const made = entries.map((): Change | undefined => undefined);
  for (const change of changes) made[change.entry] = change;
  return tx.query({
    name: 'insert-history',
    text: `
      insert into history (integration, connector_version, integration_version, type, id, effective_at, seq, cause, cause_id, outcome,
                           version, reason, raw, notes, origins, diff, idempotency_key, trace)
      select $1, $2, $3, type, id, to_timestamp(ms / 1000.0), seq, cause, cause_id, outcome, version, reason,
             raw::json, notes::jsonb, origins::json, diff::json, key, trace
        from unnest((select $4::text[]), (select $5::text[]), (select $6::float8[]), (select $7::bigint[]), (select $8::text[]),
                    (select $9::text[]), (select $10::text[]), (select $11::int[]), (select $12::text[]), (select $13::text[]),
                    (select $14::text[]), (select $15::text[]), (select $16::text[]), (select $17::text[]), (select $18::text[]))
          as t (type, id, ms, seq, cause, cause_id, outcome, version, reason, raw, notes, origins, diff, key, trace)`,
    values: [
      target.integration,
      target.connectorVersion,
      target.integrationVersion,
      texts(entries.map((r) => r.type)),
      texts(entries.map((r) => r.id)),
      float8s(entries.map((r) => r.item.arrival.effectiveAt)),
      int8s(entries.map((r) => r.item.seq)),
      texts(entries.map((r) => r.item.arrival.cause)),
      texts(entries.map((r) => r.item.arrival.causeId)),
      texts(entries.map((r) => r.outcome)),
      int4s(entries.map((r) => r.version)),
      texts(entries.map((r) => r.reason)),
      texts(entries.map((r) => (isInEvent(r) || r.raw === null ? null : jsonbText(JSON.stringify(r.raw))))),
      texts(entries.map((r) => r.notes)),
      texts(entries.map((r) => r.origins)),
      texts(made.map((c) => c && jsonbText(JSON.stringify(c.diff)))),
      texts(made.map((c) => c?.idempotencyKey)),
      texts(made.map((c) => c?.item.arrival.trace)),
    ],
  });
}

/** The payload of an event is stored with the event. */
export const isInEvent = ({ item: { arrival, seq } }: Pick<Entry, 'item'>): boolean =>
  (arrival.cause === 'event' || arrival.cause === 'guest') && arrival.causeId === String(seq);

/** The first night of a reservation. */
export const arrivalOf = (record: Reservation | Guest): LocalDate | undefined =>
  'guests' in record ? record.check_in : undefined;

/** The ids are also given as an array: a plan that was made while the table was new would otherwise read all records of the brand. */
function updateRecords(tx: Tx, target: ApplyTarget, changes: readonly Change[]): Promise<unknown> {
  return tx.query({
    name: 'update-records',
    text: `
      update records r
         set version = t.version, event = t.event, trace = t.trace, effective_at = to_timestamp(t.ms / 1000.0), seq = t.seq, hash = decode(t.hash, 'hex'),
             data = t.data::json, views = t.views::json, pulled_hash = decode(t.pulled, 'hex'), keys = t.keys::tsvector, changed_at = now(),
             arrival = t.arrival::date, listed = coalesce(t.listed, case when r.listed is not null then least(r.listed, -1) end)
        from unnest($2::text[], $3::text[], $4::int[], $5::float8[], $6::bigint[], $7::text[], $8::text[], $9::text[],
                    $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::float8[])
          as t (type, id, version, ms, seq, hash, data, views, pulled, event, trace, keys, arrival, listed)
       where r.integration = $1 and r.type = t.type and r.id = t.id and r.id = any($3::text[])`,
    values: [
      target.integration,
      texts(changes.map((c) => c.type)),
      texts(changes.map((c) => c.id)),
      int4s(changes.map((c) => c.version)),
      float8s(changes.map((c) => c.state.moment[0])),
      int8s(changes.map((c) => c.state.moment[1])),
      texts(changes.map((c) => c.item.hash)),
      texts(changes.map((c) => c.item.text)),
      texts(changes.map((c) => viewsText(c.state.views))),
      texts(changes.map((c) => c.state.pulledHash)),
      texts(changes.map((c) => c.event)),
      texts(changes.map((c) => c.item.arrival.trace)),
      texts(changes.map((c) => keysText(c.type, c.item.incoming.record))),
      texts(changes.map((c) => arrivalOf(c.item.incoming.record))),
      float8s(changes.map((c) => c.listed)),
    ],
  });
}

/**
 * The same key for every delivery of a version. It includes the content, so that a new store, whose versions start at 1 again,
 * does not reuse a key for other content.
 */
export function idempotencyKey(
  integration: string,
  type: EntityType,
  id: string,
  version: number,
  contentHash: string,
): string {
  const text = JSON.stringify([integration, type, id, version, contentHash]);
  return `ib_${hash('sha256', text, 'base64url').slice(0, 32)}`;
}
