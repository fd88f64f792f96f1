import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownRows } from '../../../src/store/runs/pulled.ts';
import type { IntegrationName } from '../../../src/terms.ts';
import { openStore } from '../../deliver/support.ts';

test('the page of a brand that is new since the last analyze reads its own rows only', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const fill = (brand: string, count: number) =>
    pool.query(
      `insert into pulled (integration, key, id, version, check_in, check_out, status, content, made_by)
       select $1, 'R' || n, 'R' || n, 1, '2027-03-01', '2027-03-04', 'confirmed', n, '1.1.program' from generate_series(1, $2) n`,
      [brand, count],
    );
  const entriesRead = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ read: number }>(
      `select sum(idx_tup_read)::bigint as read from pg_stat_user_indexes where relname = 'pulled'`,
    );
    return rows[0]?.read ?? 0;
  };
  await pool.query('alter table pulled set (autovacuum_enabled = false)');
  await fill('old', 3_000);
  await pool.query('analyze pulled');
  await fill('new', 2_000);
  const target = {
    integration: 'new' as IntegrationName,
    connectorVersion: 1,
    integrationVersion: 1,
    destinations: { reservation: [], guest: [] },
  };
  const page = Array.from({ length: 100 }, (_, i) => ({ key: `R${1_951 + i}`, content: 1_951 + i }));
  const before = await entriesRead();
  const known = await knownRows(pool, 'program', target, page);
  assert.equal(known.length, 50);
  const read = (await entriesRead()) - before;
  assert.ok(read <= page.length, `${read} entries were read`);
});
