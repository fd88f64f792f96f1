import pg from 'pg';
import type { StoredDocument } from '../../core/documents/kinds.ts';
import { archivedTables, type CopiedTable, copiedTables, copyIn, copyOut, fitting } from '../../core/store/db/copy.ts';
import {
  hitsOne,
  longTransaction,
  numberOf,
  onlyRow,
  type Pool,
  rowOf,
  rowsOf,
  serviceSchema,
  type Tx,
  withLongStatements,
} from '../../core/store/db/pool.ts';
import { lockDocuments } from '../../core/store/documents/documents.ts';
import { resealIn, sealedTables } from '../../core/store/documents/secrets.ts';
import { type ArchivedTable, type ArchiveWriter, DamagedArchive } from '../../kit/archive.ts';
import type { Keyring } from '../../kit/crypto.ts';
import type { OnTable } from './backup.ts';

/** Tables with the column `integration` whose rows stay behind when a brand moves to another installation, and why. */
export const staysBehind: Readonly<Record<string, string>> = {
  alerts: 'Their causes are found again where the brand runs.',
  audit: 'It says who did what in the old installation.',
  onboarding_links: 'Their address is that of the old installation.',
  rejections: 'Requests that the old installation refused.',
  sandbox_reports: 'For the developer who tried the old sandbox; kept for a week.',
};

/** What a brand consists of besides the tables with its name. */
export interface BrandParts {
  readonly integration: string;
  readonly connector: string;
  readonly destinations: readonly string[];
  readonly secrets: readonly string[];
}

/** Which rows of a table belong to the brand, for an export and for an import; undefined for tables that stay behind. */
function belongs({ table, columns }: CopiedTable, brand: BrandParts): string | undefined {
  const name = pg.escapeLiteral(brand.integration);
  const list = (names: readonly string[]) =>
    `any(array[${names.map((one) => pg.escapeLiteral(one)).join(', ')}]::text[])`;
  if (table in staysBehind) return undefined;
  // Somebody who was erased anywhere stays erased in the brand.
  if (table === 'erasures' || table === 'erased_guests') return 'true';
  if (columns.includes('integration')) return `integration = ${name}`;
  if (table === 'endpoint_secrets') {
    return `endpoint_id in (select endpoint_id from endpoints where integration = ${name})`;
  }
  if (table === 'documents') {
    return `(kind = 'integration' and name = ${name}) or (kind = 'connector' and name = ${pg.escapeLiteral(brand.connector)})
            or (kind = 'destination' and name = ${list(brand.destinations)})`;
  }
  return table === 'secrets' ? `name = ${list(brand.secrets)}` : undefined;
}

/** The newest document of a brand, in force or not, and the texts of the documents that it uses. */
export async function brandDocuments(
  db: Pool | Tx,
  integration: string,
): Promise<{ readonly parts: BrandParts; readonly pulledWith: string | null } | undefined> {
  const row = await rowOf(db)<{
    connector: string;
    destinations: string[];
    pulled_with: string | null;
    sources: string[];
  }>(
    `select i.body ->> 'connector' as connector, d.destinations,
            coalesce(i.body ->> 'pulled_by', (select o.name from documents o where o.kind = 'integration' and o.in_force
                                                and o.body ->> 'pulled_by' = $1 limit 1)) as pulled_with,
            array(select source from documents o where o.position is not null and ((o.kind = 'integration' and o.name = $1)
                     or (o.kind = 'connector' and o.name = i.body ->> 'connector')
                     or (o.kind = 'destination' and o.name = any(d.destinations)))) as sources
       from documents i
      cross join lateral (select array(select json_array_elements_text(i.body -> 'deliver')) as destinations) d
      where i.kind = 'integration' and i.name = $1 and i.position is not null`,
    [integration],
  );
  if (row === undefined) return undefined;
  const { connector, destinations, pulled_with: pulledWith, sources } = row;
  const secrets = sources.flatMap((text) => [...text.matchAll(/\$\{secret:([^}]+)\}/g)].map(([, name = '']) => name));
  return { parts: { integration, connector, destinations, secrets: [...new Set(secrets)].sort() }, pulledWith };
}

export interface BrandCounts {
  readonly records: number;
  readonly waiting: number;
}

export const brandCounts = (db: Pool, integration: string): Promise<BrandCounts> =>
  onlyRow(db)(
    `select (select count(*) from records where integration = $1)::int as records,
            (select count(*) from outbox where integration = $1 and next_version <= last_version)::int as waiting`,
    [integration],
  );

/** What still runs for a brand that was taken out of force: deliveries and runs with a live lease. */
export const stillRunning = (db: Pool, integration: string): Promise<number> =>
  numberOf(db)(
    `select (select count(*) from outbox where integration = $1 and leased and due_at > now())::int
          + (select count(*) from runs where integration = $1 and state = 'running' and due_at > now() and waiting is null)::int as busy`,
    [integration],
  );

/**
 * Writes the rows of a brand as of one moment, sealed with the first key of the ring. Nothing here delivers them any more: a node that
 * claims one at the same time makes the transaction fail, and the caller repeats it.
 */
export async function exportRows(
  pool: Pool,
  brand: BrandParts,
  keyring: Keyring,
  archive: ArchiveWriter,
  onTable: OnTable,
): Promise<void> {
  await withLongStatements(
    pool,
    async (separate) => {
      const tx = await separate.connect();
      try {
        await tx.query('begin isolation level repeatable read');
        const tables = await copiedTables(tx);
        const total = tables.reduce((sum, { estimate }) => sum + estimate, 0);
        let done = 0;
        for (const one of tables) {
          const where = belongs(one, brand);
          onTable(one.table, done, total);
          done += one.estimate;
          if (where === undefined) continue;
          const head = { table: one.table, columns: one.columns };
          if (!sealedTables.includes(one.table)) {
            await archive.table(head, copyOut(tx, one, `${serviceSchema}."${one.table}"`, where));
            continue;
          }
          // A temporary table hides the one of the same name.
          await tx.query(
            `create temp table "${one.table}" on commit drop as select * from ${serviceSchema}."${one.table}" t where ${where}`,
          );
          await resealIn(tx, keyring, [], 1_000_000, [one.table]);
          await archive.table(head, copyOut(tx, one, `pg_temp."${one.table}"`));
        }
        await tx.query(
          `update ${serviceSchema}.outbox set due_at = null, fence = fence + 1 where integration = $1 and due_at is not null`,
          [brand.integration],
        );
        await tx.query('commit');
      } finally {
        tx.release(true);
      }
    },
    false,
  );
}

export interface ImportedBrand extends BrandCounts, Verdict {
  /** Erasures of the other installation. They hold for this brand only. */
  readonly erasures: number;
}

export type NewDocument = Pick<StoredDocument, 'kind' | 'name' | 'body'> & { readonly source: string };

/** A secret of the file or of this installation, sealed with the key here. */
export interface OfferedSecret {
  readonly name: string;
  readonly here: Buffer | null;
  readonly inFile: Buffer | null;
}

/** What an operator must know before the documents come into force. */
interface Verdict {
  readonly refused: readonly string[];
  /** Those of the file that the documents use. */
  readonly secrets: readonly string[];
  /** Those whose value here the brand uses, as the operator has decided. */
  readonly secretsKept: readonly string[];
  /** What the documents speak to. */
  readonly addresses: readonly string[];
  /** What they write into. */
  readonly folders: readonly string[];
}

/** Whether the documents may come into force, which are locked. `secretsOf` has the values for these names. */
export type Judge = (
  documents: readonly NewDocument[],
  secretsOf: (names: readonly string[]) => Promise<readonly OfferedSecret[]>,
) => Promise<Verdict>;

/**
 * Adds the rows of a brand. Numbers that count over all brands are given anew, in the same order; `work` runs in the same transaction.
 * Without `apply` everything is rolled back.
 */
export async function importRows(
  pool: Pool,
  { integration, epoch }: { readonly integration: string; readonly epoch: number },
  tables: AsyncIterable<ArchivedTable>,
  keyring: Keyring,
  apply: boolean,
  judge: Judge,
  work: (tx: Tx) => Promise<void>,
): Promise<ImportedBrand> {
  let result: ImportedBrand | undefined;
  const preview = new Error('a preview changes nothing');
  const imported = longTransaction(pool, async (tx) => {
    // What belongs to any brand: which rows belong to this one is known when its documents are loaded.
    const nobody = { integration, connector: '', destinations: [], secrets: [] };
    const loaded = (await copiedTables(tx)).filter((one) => belongs(one, nobody) !== undefined);
    for await (const one of archivedTables(tables, loaded)) {
      await tx.query(`create temp table "${one.table}" (like ${serviceSchema}."${one.table}") on commit drop`);
      await copyIn(tx, one);
    }
    await refuseForeignRows(tx, integration, loaded);
    const names = loaded.map(({ table }) => table);
    await resealIn(
      tx,
      keyring,
      [],
      1_000_000,
      names.filter((name) => sealedTables.includes(name)),
    );
    result = await compare(tx, integration, judge);
    if (!apply || result.refused.length > 0) throw preview;
    await tx.query('delete from secrets where name <> all($1::text[])', [result.secrets]);
    await renumber(tx);
    await confineErasures(tx, integration);
    for (const { table, columns } of loaded) {
      const list = columns.map((name) => `"${name}"`).join(', ');
      const added = tx.query(
        `insert into ${serviceSchema}."${table}" (${list}) overriding system value select ${list} from pg_temp."${table}"
         ${['secrets', 'erasures', 'erased_guests'].includes(table) ? 'on conflict do nothing' : ''}`,
      );
      await fitting(table, added);
    }
    // The statements after this one mean the tables of the service again.
    await tx.query(`drop table ${names.map((name) => `pg_temp."${name}"`).join(', ')}`);
    await tx.query('update store_state set epoch = greatest(epoch, $1)', [epoch]);
    await work(tx);
  });
  await imported.catch((error: unknown) => {
    if (error !== preview) throw error;
  });
  if (result === undefined) throw new TypeError('the file holds no tables');
  return result;
}

/** The loaded tables hide those of the service, so that the same conditions select what an export would have written. */
async function refuseForeignRows(tx: Tx, integration: string, loaded: readonly CopiedTable[]): Promise<void> {
  const { parts, pulledWith } = (await fitting('documents', brandDocuments(tx, integration))) ?? {};
  if (parts === undefined) throw new DamagedArchive(`it holds no document of ${integration}`);
  // An export refuses it: the brand would take bookings out of the account of the other one.
  if (pulledWith) throw new DamagedArchive(`${integration} is pulled together with ${pulledWith}`);
  for (const one of loaded) {
    const isForeign = await hitsOne(tx)(
      `select from "${one.table}" where (${belongs(one, parts)}) is not true limit 1`,
    );
    if (isForeign) throw new DamagedArchive(`a row of the table ${one.table} does not belong to ${integration}`);
  }
  // The same event of another brand would be a duplicate.
  const isKnown = await hitsOne(tx)(
    `select from events where endpoint_id in (
       select endpoint_id from ${serviceSchema}.endpoints union all
       select 'stream:' || name from ${serviceSchema}.documents where kind = 'integration' and name <> $1) limit 1`,
    [integration],
  );
  if (isKnown) throw new DamagedArchive('an event came to an address of another brand');
}

/** Documents that are here with the same content stay as they are; the brand itself must be new. */
async function compare(tx: Tx, integration: string, judge: Judge): Promise<ImportedBrand> {
  await lockDocuments(tx);
  const here = `${serviceSchema}.documents`;
  const { rows: same } = await tx.query<{ kind: string; name: string; equal: boolean }>(
    `select n.kind, n.name, o.body::text = n.body::text as equal from documents n join ${here} o using (kind, name)
      where n.in_force and o.in_force and n.kind <> 'integration'`,
  );
  await tx.query(`delete from documents n where n.kind <> 'integration' and exists (
    select from ${here} o where o.kind = n.kind and o.name = n.name)`);
  const { rows: added } = await tx.query<NewDocument>(
    'select kind, name, source, body from documents where position is not null',
  );
  const isKnown = await hitsOne(tx)(
    `select from ${here} where kind = 'integration' and name = $1 union all
     select from ${serviceSchema}.records where integration = $1 limit 1`,
    [integration],
  );
  const counts = await onlyRow(tx)<BrandCounts & Pick<ImportedBrand, 'erasures'> & { readonly highest: number }>(
    `select (select count(*) from records)::int as records, (select count(*) from erasures)::int as erasures,
            (select count(*) from outbox where next_version <= last_version)::int as waiting,
            (select coalesce(max(seq), 0) from (
               select seq from events union all select seq from records union all select seq from history) s) as highest`,
  );
  const { highest, ...counted } = counts;
  if (highest > mostArrivals)
    throw new DamagedArchive('a number of an arrival is higher than any installation reaches');
  const secretsOf = (names: readonly string[]) =>
    rowsOf(tx)<OfferedSecret>(
      `select name, o.sealed as here, n.sealed as "inFile" from unnest($1::text[]) as t (name)
         left join ${serviceSchema}.secrets o using (name) left join secrets n using (name) order by name`,
      [names],
    );
  const verdict = await judge(added, secretsOf);
  return {
    ...verdict,
    ...counted,
    refused: [
      ...(isKnown ? [`${integration} is or was a brand of this installation`] : []),
      ...same.filter(({ equal }) => !equal).map(({ kind, name }) => `the ${kind} ${name} here has other content`),
      ...verdict.refused,
    ],
  };
}

/**
 * The counter of arrivals is that of all brands. A thousand arrivals per second for thirty years: far from where JSON loses digits, so that no
 * file can use up what the others count with.
 */
const mostArrivals = 1e12;

/** An erasure that is here already keeps its name and its brands: what the file says under that name gets a name of the brand's own. */
async function confineErasures(tx: Tx, integration: string): Promise<void> {
  const isHere = `exists (select from ${serviceSchema}.erasures o where o.erasure_id = n.erasure_id)`;
  const own = `case when ${isHere} then n.erasure_id || ':' || $1 else n.erasure_id end`;
  await tx.query(`update erased_guests n set erasure_id = ${own}`, [integration]);
  await tx.query(`update erasures n set erasure_id = ${own}, integration = $1`, [integration]);
}

async function renumber(tx: Tx): Promise<void> {
  await tx.query(
    `update history h set entry_id = n.next
       from (select entry_id, nextval('history_entries') as next from (select entry_id from history order by entry_id) o) n
      where h.entry_id = n.entry_id`,
  );
  await tx.query(
    `create temp table letters on commit drop as
     select dead_letter_id as old, nextval(pg_get_serial_sequence('${serviceSchema}.dead_letters', 'dead_letter_id')) as new
       from (select dead_letter_id from dead_letters order by dead_letter_id) o`,
  );
  await tx.query('update dead_letters d set dead_letter_id = l.new from letters l where l.old = d.dead_letter_id');
  await tx.query('update outbox o set held_by = l.new from letters l where l.old = o.held_by');
  // The export stopped them where they were; a dead letter still holds its record back.
  await tx.query(
    'update outbox set due_at = now() where due_at is null and held_by is null and next_version <= last_version',
  );
  // Numbers of arrivals are unique within their brand: later ones only have to be higher.
  await tx.query(
    `select setval('intake_seq', greatest((select last_value from intake_seq),
       (select max(seq) from (select seq from events union all select seq from records union all select seq from history) s), 1))`,
  );
  await tx.query(
    `update documents set position = nextval('document_positions'), in_force = in_force or kind = 'integration' where position is not null`,
  );
}
