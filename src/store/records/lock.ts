import type { Brand } from '../../brand/brand.ts';
import type { Change, Statement, Stored } from '../../reconcile/forms.ts';
import type { StoredViews } from '../../reconcile/stored-views.ts';
import type { ChangeEvent, EntityType, EpochMs } from '../../terms.ts';
import { rowsTable } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { recordKey } from './decide-batch.ts';
import { listedBy, versionColumns, versionRow } from './write.ts';

/** A record that a batch of statements is about. */
export interface Wanted {
  readonly type: EntityType;
  readonly id: string;
  /** Its first version, if the row is missing. */
  readonly first: { readonly statement: Statement; readonly change: Change } | undefined;
  /** A missing row is inserted, so that it can be locked. */
  readonly isInserted: boolean;
  /** The time of its oldest event, to learn whether a list requested after it showed the record unchanged. */
  readonly eventAt: EpochMs;
}

export interface LockedRecords {
  /** The rows that were there before, and new empty ones with version 0. */
  readonly stored: ReadonlyMap<string, Stored>;
  /** New records, inserted with their first version. */
  readonly inserted: ReadonlySet<string>;
}

/**
 * Makes sure that the wanted rows exist, and locks those that were there before; both in the order of the ids. If its first version is known,
 * a row is inserted complete: inserting it empty and filling it later writes the row twice.
 */
export async function lockRecords(tx: Tx, brand: Brand, wanted: ReadonlyMap<string, Wanted>): Promise<LockedRecords> {
  const stored = new Map<string, Stored>();
  const inserted = new Set<string>();
  let open = [...wanted.values()];
  // A row that another transaction inserted meanwhile is only seen by the next statement.
  while (open.length > 0) {
    for (const row of await insertOrLock(tx, brand, open)) {
      if (row.is_new && row.version > 0) inserted.add(recordKey(row));
      else stored.set(recordKey(row), storedOf(row));
    }
    open = open.filter((one) => one.isInserted && !inserted.has(recordKey(one)) && !stored.has(recordKey(one)));
  }
  return { stored, inserted };
}

const made = rowsTable(2, versionColumns);
const wantedRows = rowsTable(made.next, { text: ['type', 'id'], float8: ['ms'] });

async function insertOrLock(tx: Tx, brand: Brand, wanted: readonly Wanted[]): Promise<readonly Row[]> {
  const firsts = wanted.flatMap(({ type, id, first, isInserted }) => {
    if (!isInserted) return [];
    return [first ? versionRow(first.statement, first.change, listedBy(first.statement, first.change)) : { type, id }];
  });
  const { rows } = await tx.query<Row>({
    name: 'lock-records',
    text: `
      with inserted as (
        insert into records (integration, type, id, version, effective_at, seq, data, views, held, event, trace, keys, arrival, listed)
        select $1, type, id, case when data is null then 0 else 1 end, coalesce(to_timestamp(ms / 1000.0), 'epoch'),
               coalesce(seq, 0), coalesce(data::json, '{}'), views::json, held::text[],
               coalesce(event, 'created'), trace, coalesce(keys, '')::tsvector, arrival::date, listed
          from ${made.sql}
         order by id, type
            on conflict do nothing
        returning type, id, version
      ), locked as materialized (
        select r.type, r.id, r.version, r.event, r.effective_at, r.seq, r.data, r.views, t.ms
          from records r join ${wantedRows.sql} on t.type = r.type and t.id = r.id
         where r.integration = $1 and r.id = any(${wantedRows.array('id')}) order by r.id, r.type for update of r
      )
      select true as is_new, type, id, version, 'created' as event, 0::bigint as effective_ms, 0::bigint as seq, '{}' as text,
             null::json as views, null::float8 as sighted_ms
        from inserted
      union all
      select false, type, id, version, event, (extract(epoch from effective_at) * 1000)::bigint, seq, data::text, views,
             (select (extract(epoch from max(s.requested_at)) * 1000)::float8 from sightings s
               where s.integration = $1 and s.requested_at > to_timestamp(ms / 1000.0) and l.id = any(s.ids))
        from locked l`,
    values: [
      brand.integration,
      ...made.values(firsts),
      ...wantedRows.values(
        wanted.map(({ type, id, eventAt }) => ({ type, id, ms: eventAt === Infinity ? undefined : eventAt })),
      ),
    ],
  });
  return rows;
}

interface Row {
  readonly is_new: boolean;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly event: ChangeEvent;
  readonly effective_ms: number;
  readonly seq: number;
  readonly text: string;
  readonly views: StoredViews | null;
  readonly sighted_ms: number | null;
}

const storedOf = ({ version, event, effective_ms, seq, text, views, sighted_ms }: Row): Stored => ({
  version,
  event,
  moment: [effective_ms, seq],
  text,
  views: views ?? undefined,
  ...(sighted_ms !== null && { sightedAt: sighted_ms }),
});
