import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate } from '../../src/core/store/db/migrate.ts';
import { openPool } from '../../src/core/store/db/pool.ts';
import { superuser } from '../../src/operator/embedded-postgres/cluster.ts';
import { openPrivatePostgres } from '../../src/operator/embedded-postgres/open.ts';
import { atEnd, query, workspace } from './support.ts';

const options = { purpose: 'command', describe: 'test' } as const;

test('the service connects as a role that owns its database and can neither start programs nor read files', async (t) => {
  const server = await openPrivatePostgres(await workspace(t, { empty: true }), options);
  atEnd(t, () => server.release());
  const [role] = await query(
    server.connection,
    'select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls from pg_roles where rolname = current_user',
  );
  assert.deepEqual(Object.values(role ?? {}), [false, false, false, false, false]);
  const forbidden = [
    `copy (select 1) to program 'true'`,
    `copy (select 1) to '/tmp/innbound-role-test'`,
    `select pg_read_file('postmaster.pid')`,
    'create role other superuser',
    `alter system set log_statement = 'all'`,
    `set role ${superuser}`,
  ];
  for (const sql of forbidden) await assert.rejects(query(server.connection, sql), { code: '42501' }, sql);
});

test('the first start makes the role once, also if several processes start', async (t) => {
  const folder = await workspace(t, { empty: true });
  const [server, other] = await Promise.all([
    openPrivatePostgres(folder, options),
    openPrivatePostgres(folder, options),
  ]);
  atEnd(t, () => Promise.all([server.release(), other.release()]));
  const owners = await query<{ owner: string }>(
    server.connection,
    `select pg_get_userbyid(datdba) as owner from pg_database where datname = current_database()`,
  );
  assert.deepEqual(owners, [{ owner: server.connection.user }]);
  const pool = openPool({ connection: server.connection, applicationName: 'test' });
  atEnd(t, () => pool.end());
  await migrate(pool);
});
