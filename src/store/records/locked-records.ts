import { parseJson } from '../../kit/json.ts';
import type { LockedRecord } from '../../reconcile/decision.ts';
import { type RecordState, viewsText } from '../../reconcile/record-state.ts';
import type { StoredViews } from '../../reconcile/stored-views.ts';
import type { ChangeEvent, EntityType, EpochMs, IntegrationName, Json } from '../../terms.ts';
import { float8s, int8s, texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { readReservation } from './stored-record.ts';

/** The first state of a new record. */
export interface FirstState extends RecordState {
  readonly event: ChangeEvent;
  readonly trace: string | undefined;
  readonly hash: string;
  readonly text: string;
  /** Its search keys. */
  readonly keys: string;
  readonly arrival: string | undefined;
  readonly listed: number | undefined;
}

/** A record that a batch of messages is about. */
export interface Wanted {
  /** Present if the record's row is missing and its first message is a complete record. */
  readonly first?: FirstState | undefined;
  /** The time of its oldest event, to learn whether a list requested after it showed the record unchanged. */
  readonly eventAt?: EpochMs | undefined;
}

export interface LockedRecords {
  /** Without those in `stored`. */
  readonly rows: Map<string, LockedRecord>;
  /** New records, inserted with their first state. */
  readonly stored: ReadonlySet<string>;
  /** When a list requested after the record's oldest event last showed it unchanged. */
  readonly sighted: ReadonlyMap<string, Date>;
}

/**
 * Makes sure that every id has a row, and locks the rows that were there before; both in the order of the ids. A new row has version 0.
 * If its first state is known, the row is inserted complete: inserting it empty and filling it later writes the row twice.
 */
export async function lockRecords(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  wanted: ReadonlyMap<string, Wanted>,
): Promise<LockedRecords> {
  const found = { rows: new Map<string, LockedRecord>(), stored: new Set<string>(), sighted: new Map<string, Date>() };
  const add = (row: Row) => {
    if (row.is_new && row.version === 1) found.stored.add(row.id);
    else found.rows.set(row.id, lockedRecord(row));
    if (row.sighted_at !== null) found.sighted.set(row.id, row.sighted_at);
  };
  const isOpen = ([id]: [string, Wanted]) => !found.stored.has(id) && !found.rows.has(id);
  // A row that another transaction inserted meanwhile is only seen by the next statement.
  for (
    let missing = new Map([...wanted].filter(isOpen));
    missing.size > 0;
    missing = new Map([...missing].filter(isOpen))
  ) {
    for (const row of await insertOrLock(tx, integration, type, missing)) add(row);
  }
  return found;
}

/** A row without content gets version 0. */
async function insertOrLock(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  wanted: ReadonlyMap<string, Wanted>,
): Promise<readonly Row[]> {
  const states = [...wanted.values()].map(({ first }) => first);
  const { rows } = await tx.query<Row>({
    name: 'lock-records',
    text: `
      with inserted as (
        insert into records (integration, type, id, version, effective_at, seq, hash, data, views, pulled_hash, event, trace, keys,
                             arrival, listed)
        select $1, $2, id, case when data is null then 0 else 1 end, coalesce(to_timestamp(ms / 1000.0), 'epoch'),
               coalesce(seq, 0), coalesce(decode(hash, 'hex'), ''), coalesce(data::json, '{}'), views::json,
               decode(pulled, 'hex'), coalesce(event, 'created'), trace, coalesce(keys, '')::tsvector, arrival::date, listed
          from unnest($3::text[], $4::float8[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $11::text[], $12::text[],
                      $13::text[], $14::text[], $15::float8[])
            as wanted (id, ms, seq, hash, data, views, pulled, event, trace, keys, arrival, listed)
         order by id
            on conflict do nothing
        returning id, version
      ), locked as materialized (
        select id, version, effective_at, seq, hash, data, views, pulled_hash
          from records where integration = $1 and type = $2 and id = any($3::text[]) order by id for update
      )
      select true as is_new, id, version, 0::bigint as effective_ms, 0::bigint as seq, '' as hash, '{}' as text, null::json as views,
             null as pulled_hash, null::timestamptz as sighted_at
        from inserted
      union all
      select false, l.id, l.version, (extract(epoch from l.effective_at) * 1000)::bigint, l.seq,
             encode(l.hash, 'hex'), l.data::text, l.views, encode(l.pulled_hash, 'hex'),
             (select max(s.requested_at) from sightings s
               where s.integration = $1 and s.requested_at > to_timestamp(e.ms / 1000.0) and l.id = any(s.ids))
        from locked l join unnest($3::text[], $10::float8[]) as e (id, ms) on e.id = l.id`,
    values: [
      integration,
      type,
      texts([...wanted.keys()]),
      float8s(states.map((state) => state?.moment[0])),
      int8s(states.map((state) => state?.moment[1])),
      texts(states.map((state) => state?.hash)),
      texts(states.map((state) => state?.text)),
      texts(states.map((state) => viewsText(state?.views))),
      texts(states.map((state) => state?.pulledHash)),
      float8s([...wanted.values()].map(({ eventAt }) => eventAt)),
      texts(states.map((state) => state?.event)),
      texts(states.map((state) => state?.trace)),
      texts(states.map((state) => state?.keys)),
      texts(states.map((state) => state?.arrival)),
      float8s(states.map((state) => state?.listed)),
    ],
  });
  return rows;
}

interface Row {
  readonly is_new: boolean;
  readonly id: string;
  readonly version: number;
  readonly effective_ms: number;
  readonly seq: number;
  readonly hash: string;
  readonly text: string;
  readonly views: StoredViews | null;
  readonly pulled_hash: string | null;
  readonly sighted_at: Date | null;
}

function lockedRecord({ version, effective_ms, seq, hash, text, views, pulled_hash }: Row): LockedRecord {
  let data: Json | undefined;
  const read = () => {
    if (version === 0) return undefined;
    data ??= parseJson(text);
    return data;
  };
  return {
    version,
    moment: [effective_ms, seq],
    hash,
    get status() {
      return (read() as { status?: string } | undefined)?.status;
    },
    get data() {
      return read();
    },
    reservation: () => readReservation(text),
    views: views ?? undefined,
    pulledHash: pulled_hash ?? undefined,
  };
}

/** Deletes rows that were inserted only to be locked and got no version. */
export async function dropUnused(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  ids: readonly string[],
): Promise<void> {
  await tx.query('delete from records where integration = $1 and type = $2 and id = any($3::text[]) and version = 0', [
    integration,
    type,
    ids,
  ]);
}
