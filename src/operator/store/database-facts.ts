import { type AppliedMigration, baseline, readVersion, refusal } from '../../core/store/db/migrate.ts';
import { cellOf, numberOf, onlyRow, type Pool, rowsOf, serviceSchema } from '../../core/store/db/pool.ts';
import type { InnboundError } from '../../errors.ts';
import type { Clock } from '../../kit/clock.ts';
import type { DatabaseFacts, NodeFacts } from '../watch/diagnosis.ts';
import { liveNodes } from './nodes.ts';

/** The facts about the database that `innbound doctor` checks. Works before the first migration and changes nothing. */
export async function databaseFacts(db: Pool): Promise<DatabaseFacts> {
  const facts = await onlyRow(db)<DatabaseFacts>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
            current_setting('transaction_read_only') = 'on' as "isReadOnly",
            has_database_privilege(current_database(), 'create') as "mayCreateSchema",
            (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser",
            (select pg_has_role(nspowner, 'usage') from pg_namespace where nspname = $1) as "mayUseSchema",
            current_setting('fsync') as fsync, current_setting('synchronous_commit') as "synchronousCommit",
            current_setting('full_page_writes') as "fullPageWrites",
            current_setting('max_connections')::int as "maxConnections",
            (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as "usedConnections",
            pg_database_size(current_database())::float8 as bytes`,
    [serviceSchema],
  );
  const nodes = (await nodeFacts(db)).length;
  return { ...facts, mayUseSchema: facts.mayUseSchema ?? undefined, nodes };
}

/** How far a clock is ahead of the database's, taken at the middle of the round trip. */
export async function clockAheadMs(db: Pool, clock: Pick<Clock, 'now'>): Promise<number> {
  await db.query('select');
  const before = clock.now();
  const ms = await numberOf(db)('select extract(epoch from clock_timestamp())::float8 * 1000');
  return (before + clock.now()) / 2 - ms;
}

/** Undefined if no version has migrated the database yet. */
export async function migrationState(
  db: Pool,
): Promise<{ pending: number; refused: InnboundError | undefined } | undefined> {
  if (!(await cellOf(db)(`select to_regclass('migrations') is not null`))) return undefined;
  const { migrations } = await readVersion();
  const rows = await rowsOf(db)<AppliedMigration>('select * from migrations');
  const done = new Set(rows.map(({ number }) => number));
  const pending = [baseline, ...migrations].filter(({ number }) => !done.has(number)).length;
  return { pending, refused: refusal(migrations, rows) };
}

/** Running nodes. Empty if the table is missing or older than this version. */
export async function nodeFacts(db: Pool): Promise<readonly NodeFacts[]> {
  const hasVersions = `select exists (select from pg_attribute where attrelid = to_regclass('nodes') and attname = 'version')`;
  return (await cellOf(db)(hasVersions)) ? liveNodes(db) : [];
}
