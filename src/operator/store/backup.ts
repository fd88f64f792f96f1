import { archivedTables, copiedTables, copyIn, copyOut, fitting } from '../../core/store/db/copy.ts';
import { declareEpoch } from '../../core/store/db/epoch.ts';
import { columnOf, hitsOne, longTransaction, mapOf, type Pool, rowOf, type Tx } from '../../core/store/db/pool.ts';
import type { ArchivedTable, ArchiveWriter } from '../../kit/archive.ts';

export type OnTable = (table: string, done: number, total: number) => void;

/** Writes every table as of one moment. Sequences are read last: they are never behind the rows. */
export async function backUp(pool: Pool, archive: ArchiveWriter, onTable: OnTable): Promise<void> {
  await longTransaction(pool, async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    const tables = await copiedTables(tx);
    const total = tables.reduce((sum, { estimate }) => sum + estimate, 0);
    let done = 0;
    for (const one of tables) {
      onTable(one.table, done, total);
      await archive.table({ table: one.table, columns: one.columns }, copyOut(tx, one, one.table));
      done += one.estimate;
    }
    const positions = await mapOf(tx)<string, string>(
      `select sequencename as name, last_value::text as value from pg_sequences
      where schemaname = current_schema() and last_value is not null`,
    );
    const lines = [...positions].map(([name, value]) => Buffer.from(`${name}\t${value}\n`));
    const { table, columns } = sequences;
    await archive.table({ table, columns }, lines as unknown as AsyncIterable<Uint8Array>);
  });
}

/** As an archive holds the positions of the sequences. */
const sequences = { table: 'positions', columns: ['name', 'value'], types: ['text', 'bigint'], estimate: 0 };

/** An erasure with the hashes of whom it erased: enough to repeat it, and no guest data. */
export interface KnownErasure {
  readonly erasure_id: string;
  readonly requested_by: string;
  readonly requested_at: string;
  readonly subject: string;
  /** In hex. */
  readonly hashes: readonly string[];
}

/** Whether anybody uses the database already. */
export const isInUse = (pool: Pool): Promise<boolean> =>
  hitsOne(pool)(
    'select where exists (select from documents) or exists (select from records) or exists (select from events)',
  );

/**
 * Replaces all rows by those of the archive, in one transaction. Erasures that only the replaced rows or `known` have are kept, and the
 * epoch rises above both. Returns the hashes (hex) of guests whom the archive may still hold.
 */
export async function restoreTables(
  pool: Pool,
  tables: AsyncIterable<ArchivedTable>,
  known: readonly KnownErasure[],
  onTable: (table: string) => void,
): Promise<string[]> {
  return longTransaction(pool, async (tx) => {
    const targets = await copiedTables(tx);
    await keepErasures(tx, known);
    await tx.query(`truncate ${targets.map(({ table }) => `"${table}"`).join(', ')}`);
    await tx.query('create temp table positions (name text, value bigint) on commit drop');
    for await (const one of archivedTables(tables, [...targets, sequences])) {
      onTable(one.table);
      await copyIn(tx, one);
    }
    const positions = tx.query(
      `select setval(format('%I.%I', schemaname, sequencename)::regclass, value)
         from pg_sequences join positions on sequencename = name where schemaname = current_schema()`,
    );
    await fitting('positions', positions);
    // They ran when the backup was made.
    await tx.query('delete from nodes');
    await tx.query(`update store_state set epoch = greatest(epoch, (select epoch from kept_state))`);
    await declareEpoch(tx);
    await tx.query('insert into erasures select * from kept_erasures on conflict do nothing');
    return columnOf(tx)<string>(
      `insert into erased_guests select * from kept_hashes on conflict do nothing returning encode(hash, 'hex') as hash`,
    );
  });
}

async function keepErasures(tx: Tx, known: readonly KnownErasure[]): Promise<void> {
  await tx.query('create temp table kept_state on commit drop as table store_state');
  await tx.query('create temp table kept_erasures (like erasures including all) on commit drop');
  await tx.query('create temp table kept_hashes (like erased_guests including all) on commit drop');
  await tx.query('insert into kept_erasures table erasures');
  await tx.query('insert into kept_hashes table erased_guests');
  for (const { hashes, ...one } of known) {
    await tx.query(
      `insert into kept_erasures (erasure_id, requested_by, requested_at, subject) values ($1, $2, $3, $4) on conflict do nothing`,
      [one.erasure_id, one.requested_by, one.requested_at, one.subject],
    );
    await tx.query(
      `insert into kept_hashes (hash, erasure_id, erased_at) select decode(h, 'hex'), $1, $2 from unnest($3::text[]) h on conflict do nothing`,
      [one.erasure_id, one.requested_at, hashes],
    );
  }
}

export const knownErasure = (db: Pool, erasureId: string): Promise<KnownErasure | undefined> =>
  rowOf(db)(
    `select erasure_id, requested_by, requested_at::text as requested_at, subject,
            array(select encode(hash, 'hex') from erased_guests g where g.erasure_id = e.erasure_id) as hashes
       from erasures e where erasure_id = $1`,
    [erasureId],
  );

/** Everything that may name a guest, by brand. `record` is the newest state where there is one. */
export interface StoredText {
  readonly integration: string;
  readonly text: string;
  readonly record: boolean;
}

export async function eachStoredText(pool: Pool, each: (texts: readonly StoredText[]) => void): Promise<void> {
  await longTransaction(pool, async (tx) => {
    await tx.query(
      `declare stored no scroll cursor for
       select integration, data::text as text, true as record from records
       union all select integration, claims::text, false from records where claims is not null
       union all select integration, concat_ws(' ', diff::text, raw::text), false from history where diff is not null or raw is not null
       union all select integration, convert_from(body, 'UTF8'), false from events where body is not null
       union all select integration, convert_from(hydrated, 'UTF8'), false from events where hydrated is not null
       union all select integration, raw::text, false from dead_letters where raw is not null`,
    );
    for (;;) {
      const { rows } = await tx.query<StoredText>('fetch 1000 from stored');
      if (rows.length === 0) return;
      each(rows);
    }
  });
}
