import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { testStore } from '../support/store.ts';

/**
 * Keeps a distributed PostgreSQL (Citus) possible: tables of brands would be distributed by integration (docs/guides/scaling.md). Each
 * obstacle is listed with what it would take. A new obstacle fails here; so does a listed one that no longer exists.
 */

/** Tables without an integration: few rows, or rows of the whole service. They would be reference or local tables. */
const ofTheService: readonly string[] = [
  'alerts',
  'audit',
  'documents',
  'erased_guests',
  'erasures',
  'marks',
  'migrations',
  'nodes',
  'remotes',
  'secrets',
  'store_state',
  'tokens',
];

const root = new URL('../../src/store/', import.meta.url);

interface Statement {
  readonly file: string;
  readonly sql: string;
}

const statements: readonly Statement[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    return [...text.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'/g)]
      .map(([, template, plain]) => template ?? plain ?? '')
      .filter((sql) => /^\s*(?:select|insert|update|delete|with|lock|declare)\b/i.test(sql))
      .map((sql) => ({ file, sql }));
  });

/** Files with statements of the form, each named once. */
const filesWith = (isForm: (sql: string) => boolean): string[] => [
  ...new Set(statements.filter(({ sql }) => isForm(sql)).map(({ file }) => file)),
];

test('the statements of the store are read', () => {
  assert.ok(statements.length > 300, `${statements.length} statements`);
});

test('row addresses are used only in the listed places', () => {
  assert.deepEqual(filesWith((sql) => /\bctid\b/.test(sql)).sort(), [
    // Re-sealing goes through every table once, at a rotation of the key: per shard, on the workers.
    'documents/sealed-values.ts',
    // Old sightings and pages, in batches: by key, which costs a sort.
    'operate/retention.ts',
    // The claim: within one lane, so within one shard, where an address is valid. By key it read the whole table at a large backlog.
    'outbox/claim.ts',
  ]);
});

test('one sequence orders arrivals, others changes of documents and entries of the history', () => {
  const names = new Set(
    statements.flatMap(({ sql }) => [...sql.matchAll(/nextval\('(\w+)'\)/g)].map(([, name]) => name)),
  );
  assert.deepEqual([...names].sort(), ['document_positions', 'history_entries', 'intake_seq']);
  const rooms = new Set(filesWith((sql) => /nextval/.test(sql)).map((file) => file.split('/')[0]));
  assert.deepEqual([...rooms].sort(), ['db', 'documents', 'events', 'records', 'runs']);
});

test('every unique index of a brand’s table contains the integration', async () => {
  const pool = await testStore();
  try {
    const { rows: tables } = await pool.query<{ name: string }>(
      `select relname as name from pg_class c
        where relnamespace = 'innbound_service'::regnamespace and relkind in ('r', 'p') and not relispartition
          and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'integration')
        order by 1`,
    );
    const without = tables.map(({ name }) => name);
    assert.deepEqual(
      ofTheService.filter((name) => !without.includes(name) && !['alerts', 'audit'].includes(name)),
      [],
      'listed as a table of the service, but has an integration',
    );
    const { rows } = await pool.query<{ name: string }>(
      `select i.indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indrelid
        where i.indisunique and c.relnamespace = 'innbound_service'::regnamespace and c.relname <> all($1)
          and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'integration')
          and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'integration'
                             and a.attnum = any(i.indkey::int2[]))
        order by 1`,
      [ofTheService],
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      uniqueWithoutIntegration,
    );
  } finally {
    await pool.end();
  }
});

/** An endpoint belongs to one integration, so that adding the integration would change nothing but the index. */
const uniqueWithoutIntegration: readonly string[] = ['endpoints_pkey', 'events_once'];

/** Tables whose rows belong to a brand and that grow with its traffic. */
const spread =
  /\b(?:update|delete from|insert into)\s+(?:records|history|sightings|outbox|attempts|dead_letters|events|runs|run_pages|staged_rows|pulled)\b/;

test('statements that write a brand’s rows name the integration', () => {
  assert.deepEqual(
    filesWith((sql) => spread.test(sql) && !/\bintegration\b|\$\{/.test(sql.replace(/\breturning\b[^)]*$/, ''))).sort(),
    writesAcrossBrands,
  );
});

const writesAcrossBrands: readonly string[] = [
  // An imported brand, in temporary tables that hold nothing else.
  'db/brand.ts',
  // An erasure searches every brand, on purpose.
  'erasure/traces.ts',
  // Background cleanup: it would run on every shard, and nothing waits for it.
  'events/retention.ts',
  'events/set-aside.ts',
  'operate/abandoned.ts',
  // By the id of the dead letter alone, which an operator enters.
  'operate/dead-letter-close.ts',
];
