import type { Reservation } from '../../canonical/reservation.ts';
import { parseJson } from '../../kit/json.ts';
import type { Known } from '../../reconcile/reconcile.ts';
import type { StoredViews } from '../../reconcile/said.ts';
import type { EntityType, EpochMs, IntegrationName, Json } from '../../terms.ts';
import { float8s, int8s, texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { readReservation } from './stored-record.ts';

/** A locked row; fields that only some callers need are parsed on demand. */
export interface LockedRecord extends Known {
  readonly data: Json | undefined;
  reservation(): Reservation;
  /** What each source states; undefined if the record equals the pulled row. */
  readonly said: StoredViews | undefined;
  /** Hex; undefined if equal to the record's own hash, empty if there is none. */
  readonly pulledHash: string | undefined;
}

/** What is written for a record besides its content. */
export interface SaidState {
  readonly effectiveAt: EpochMs;
  readonly seq: number;
  readonly said: StoredViews | undefined;
  readonly pulledHash: string | undefined;
}

/** The first state of a new record. */
export interface FirstState extends SaidState {
  readonly hash: string;
  readonly text: string;
}

export const saidText = (said: StoredViews | undefined): string | undefined =>
  said === undefined ? undefined : JSON.stringify(said);

/**
 * Makes sure that every id has a row, then locks them all, both in the order of the ids. A new row has version 0. If its first
 * state is known, the row is inserted complete and named in `stored`: inserting it empty and filling it later writes the row twice.
 */
export async function lockRecords(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  wanted: ReadonlyMap<string, FirstState | undefined>,
): Promise<{ rows: Map<string, LockedRecord>; stored: ReadonlySet<string> }> {
  const ids = [...wanted.keys()];
  const states = [...wanted.values()];
  const inserted = await tx.query<{ id: string; version: number }>({
    name: 'insert-records',
    text: `
      insert into records (integration, type, id, version, effective_at, seq, hash, data, said, pulled_hash)
      select $1, $2, id, case when data is null then 0 else 1 end, coalesce(to_timestamp(ms / 1000.0), 'epoch'),
             coalesce(seq, 0), coalesce(decode(hash, 'hex'), ''), coalesce(data::json, '{}'), said::json,
             decode(pulled, 'hex')
        from unnest($3::text[], $4::float8[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[])
          as wanted (id, ms, seq, hash, data, said, pulled)
       order by id
          on conflict do nothing
      returning id, version`,
    values: [
      integration,
      type,
      texts(ids),
      float8s(states.map((state) => state?.effectiveAt)),
      int8s(states.map((state) => state?.seq)),
      texts(states.map((state) => state?.hash)),
      texts(states.map((state) => state?.text)),
      texts(states.map((state) => saidText(state?.said))),
      texts(states.map((state) => state?.pulledHash)),
    ],
  });
  const stored = new Set(inserted.rows.filter(({ version }) => version === 1).map(({ id }) => id));
  const others = ids.filter((id) => !stored.has(id));
  if (others.length === 0) return { rows: new Map(), stored };
  const { rows } = await tx.query<Row>({
    name: 'lock-records',
    text: `select id, version, (extract(epoch from effective_at) * 1000)::bigint as effective_ms, seq,
                  encode(hash, 'hex') as hash, data::text as text, said, encode(pulled_hash, 'hex') as pulled_hash
             from records where integration = $1 and type = $2 and id = any($3::text[]) order by id for update`,
    values: [integration, type, texts(others)],
  });
  return { rows: new Map(rows.map((row) => [row.id, lockedRecord(row)])), stored };
}

interface Row {
  readonly id: string;
  readonly version: number;
  readonly effective_ms: number;
  readonly seq: number;
  readonly hash: string;
  readonly text: string;
  readonly said: StoredViews | null;
  readonly pulled_hash: string | null;
}

function lockedRecord({ version, effective_ms, seq, hash, text, said, pulled_hash }: Row): LockedRecord {
  let data: Json | undefined;
  const read = () => {
    if (version === 0) return undefined;
    data ??= parseJson(text);
    return data;
  };
  return {
    version,
    effectiveAt: effective_ms,
    seq,
    hash,
    get status() {
      return (read() as { status?: string } | undefined)?.status;
    },
    get data() {
      return read();
    },
    reservation: () => readReservation(text),
    said: said ?? undefined,
    pulledHash: pulled_hash ?? undefined,
  };
}

/** Writes new statements for records whose content did not change. */
export async function moveSaid(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  moved: ReadonlyMap<string, SaidState>,
): Promise<void> {
  const states = [...moved.values()];
  await tx.query({
    name: 'move-said',
    text: `update records r
              set effective_at = to_timestamp(t.ms / 1000.0), seq = t.seq, said = t.said::json,
                  pulled_hash = decode(t.pulled, 'hex')
             from unnest($3::text[], $4::float8[], $5::bigint[], $6::text[], $7::text[]) as t (id, ms, seq, said, pulled)
            where r.integration = $1 and r.type = $2 and r.id = t.id and r.id = any($3::text[])`,
    values: [
      integration,
      type,
      texts([...moved.keys()]),
      float8s(states.map(({ effectiveAt }) => effectiveAt)),
      int8s(states.map(({ seq }) => seq)),
      texts(states.map(({ said }) => saidText(said))),
      texts(states.map(({ pulledHash }) => pulledHash)),
    ],
  });
}

/** Rows that were inserted only to be locked and got no version. */
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
