import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { loadDestinationTypes } from '../../../src/core/deliver/destinations.ts';
import { limits } from '../destinations/postgres/support.ts';
import { delivery, reservation, services } from '../support.ts';

const types = await loadDestinationTypes();

/** A server of PostgreSQL's protocol that asks for the password in plain text and keeps what it gets. */
async function passwords(t: TestContext) {
  const sent: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      socket.once('data', (answer) => {
        sent.push(answer.toString('latin1', 5).replace(/\0$/, ''));
        socket.destroy();
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { at: `127.0.0.1:${(server.address() as { port: number }).port}`, sent };
}

test('a warehouse gets the password of its address, never that of our environment', async (t) => {
  const { at, sent } = await passwords(t);
  const before = process.env.PGPASSWORD;
  process.env.PGPASSWORD = 'of our own database';
  t.after(() => {
    if (before === undefined) delete process.env.PGPASSWORD;
    else process.env.PGPASSWORD = before;
  });
  const offered = services('/');
  t.after(() => offered.close());
  for (const [type, settings, wanted] of [
    ['postgres', { url: `postgres://user@${at}/x` }, ''],
    ['postgres', { url: `postgres://user:p%40ss@${at}/x` }, 'p@ss'],
    ['postgres', { url: `postgres://user@${at}/x?password=other` }, 'other'],
    ['redshift', { url: `redshift://user@${at}/x` }, ''],
    ['redshift', { url: `redshift://user:p%40ss@${at}/x` }, 'p@ss'],
  ] as const) {
    const found = types.get(type);
    const destination = found?.open(found.settings.parse(settings), offered);
    const [outcome] = (await destination?.deliver([delivery(reservation('r'))], limits)) ?? [];
    await destination?.close();
    assert.equal(outcome?.kind, 'retry');
    assert.equal(sent.at(-1), wanted, settings.url.replace(at, 'host'));
  }
});

test('a name that goes into a statement is a plain name, also as the value of a secret', () => {
  const place = 'redshift://user:password@host/x';
  const google = { project: 'my-hotels', credentials: '{}' };
  const snow = { account: 'a-b', user: 'U', private_key: 'k', warehouse: 'W', database: 'D' };
  const bricks = { host: 'x.example', token: 't', warehouse_id: 'w' };
  for (const [type, settings, name] of [
    ['redshift', { url: place }, 'schema'],
    ['sqlserver', { url: 'sqlserver://user:password@host/x' }, 'schema'],
    ['motherduck', { token: 't', database: 'd' }, 'database'],
    ['motherduck', { token: 't', database: 'd' }, 'schema'],
    ['bigquery', google, 'dataset'],
    ['bigquery', google, 'location'],
    ['snowflake', snow, 'database'],
    ['snowflake', snow, 'schema'],
    ['snowflake', snow, 'role'],
    ['databricks', bricks, 'catalog'],
    ['databricks', { ...bricks, catalog: 'c' }, 'schema'],
    ['postgres', { url: place.replace('redshift', 'postgres') }, 'schema'],
  ] as const) {
    const schema = types.get(type)?.settings ?? assert.fail(type);
    const set = (value: string) => schema.safeParse({ ...settings, [name]: value }).success;
    for (const end of ['"', "'", '`', ']', '\\', '"x', '";drop table x'])
      for (const value of [`a${end}`, `a${end}\${secret:x}`, `"a'b"`, '"a\\"'])
        assert.ok(!set(value), `${type} ${name}: ${value}`);
    assert.ok(set('europe'), `${type} ${name}`);
  }
});
