import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import type { Json } from '../../src/terms.ts';
import { type Asked, type Reply, type ScriptedPartner, startPartner } from '../intake/pull/support/partner.ts';
import { openPullRuntime, type PullRuntime, sync } from '../intake/pull/support/runtime.ts';
import { connectorsDir, readCases } from './cases.ts';

/** Shipped connectors against servers that behave as their partners' descriptions say, credentials included. */
let runtime: PullRuntime;
before(async () => {
  runtime = await openPullRuntime();
});
const partners: ScriptedPartner[] = [];
after(async () => {
  await Promise.all(partners.map((partner) => partner.close()));
  await runtime.close();
});

async function partnerOf(script: Parameters<typeof startPartner>[0]): Promise<ScriptedPartner> {
  const partner = await startPartner(script);
  partners.push(partner);
  return partner;
}

type Row = { readonly [key: string]: Json };

const documentOf = (name: string) =>
  parse(readFileSync(path.join(connectorsDir, name, 'connector.yaml'), 'utf8')) as { pull: Record<string, unknown> };

/** Which ids each operation takes, and the key of its rows that holds them. */
const operations: Readonly<Record<string, { table: string; asks: string; by: string; extent?: true }>> = {
  'companionships/getAll': { table: 'Companionships', asks: 'ReservationIds', by: 'ReservationId', extent: true },
  'customers/getAll': { table: 'Customers', asks: 'CustomerIds', by: 'Id', extent: true },
  'orderItems/getAll': { table: 'OrderItems', asks: 'ServiceOrderIds', by: 'ServiceOrderId' },
  'resourceCategories/getAll': { table: 'ResourceCategories', asks: 'ServiceIds', by: 'ServiceId' },
  'rates/getAll': { table: 'Rates', asks: 'ServiceIds', by: 'ServiceId', extent: true },
  'ageCategories/getAll': { table: 'AgeCategories', asks: 'ServiceIds', by: 'ServiceId' },
};

/** The partner's API over the tables: every list needs a limitation, returns its last row as cursor, and accepts `mostIds` ids. */
function mews(tables: Readonly<Record<string, readonly Row[]>>, mostIds: number) {
  return ({ method, path: at, body: text }: Asked): Reply => {
    const body = JSON.parse(text) as Record<string, Json>;
    const limitation = body.Limitation as { Count: number; Cursor?: string } | undefined;
    const refuse = (status: number, Message: string): Reply => ({ status, json: { Message } });
    if (
      method !== 'POST' ||
      body.ClientToken !== 'client' ||
      body.AccessToken !== 'access' ||
      body.Client !== 'Innbound 1.0'
    )
      return refuse(401, 'Invalid token');
    if (limitation === undefined) return refuse(400, 'Limitation is required');
    const page = (name: string, rows: readonly Row[]): Reply => {
      const start = limitation.Cursor === undefined ? 0 : rows.findIndex(({ Id }) => Id === limitation.Cursor) + 1;
      const some = rows.slice(start, start + Math.min(limitation.Count, 2));
      return { json: { [name]: some, Cursor: some.at(-1)?.Id ?? null } };
    };
    const operation = at.replace('/api/connector/v1/', '');
    if (operation === 'reservations/getAll/2023-06-06') return page('Reservations', tables.Reservations ?? []);
    const found = operations[operation];
    if (found === undefined) return refuse(404, 'no such operation');
    const ids = body[found.asks] as string[] | undefined;
    if (ids === undefined || ids.length > mostIds) return refuse(400, `${found.asks}: 1 to ${mostIds}`);
    if (found.extent && typeof body.Extent !== 'object') return refuse(400, 'Extent is required');
    const rows = (tables[found.table] ?? []).filter((row) => ids.includes(String(row[found.by])));
    // A table with one row per id is returned complete: there are never more rows than requested ids.
    return found.table === 'Customers' ? { json: { Customers: rows, Cursor: null } } : page(found.table, rows);
  };
}

test('mews: the tables are requested in chunks, page by page, and the records are complete', async () => {
  const golden = readCases('mews').find(({ name }) => name.includes('with-tables'));
  assert.ok(golden);
  const tables = golden.response as Record<string, Row[]>;
  const partner = await partnerOf(mews(tables, 2));
  const connector = documentOf('mews');
  const related = (connector.pull.related as Record<string, unknown>[]).map((table) => ({ ...table, chunk: 2 }));
  const ports = runtime.ports({
    integration: 'mews',
    baseUrl: partner.url,
    timezone: golden.timezone,
    connector: { ...connector, pull: { ...connector.pull, related } },
    pull: {
      auth: { type: 'custom', body: { ClientToken: 'client', AccessToken: 'access', Client: 'Innbound 1.0' } },
    },
  });
  const result = await sync(ports, 'mews', { from: '2026-05-06', to: '2026-05-08' });
  assert.equal(result.state, 'complete', JSON.stringify(result));
  const stored = new Map((await runtime.stored('mews')).map(({ id, data }) => [id, data]));
  for (const record of golden.records) assert.deepEqual(stored.get(String(record.id)), record);
  const asked = partner.requests.filter((one) => one.path.endsWith('customers/getAll'));
  const chunks = asked.map(({ body }) => (JSON.parse(body) as { CustomerIds: string[] }).CustomerIds.length);
  assert.deepEqual(chunks, [2, 1, 1], 'three customers of the first page in two chunks, one of the second page');
});

test('ohip: the application key is sent with OAuth, to the token address and to the list', async () => {
  const golden = readCases('ohip').find(({ records }) => records.some(({ id }) => id !== undefined));
  assert.ok(golden);
  const token = 'a-token';
  const basic = `Basic ${Buffer.from('client:secret').toString('base64')}`;
  const partner = await partnerOf(({ path: at, headers, body }): Reply => {
    if (headers['x-app-key'] !== 'app-key') return { status: 403, json: { title: 'x-app-key is missing' } };
    if (at === '/oauth/v1/tokens') {
      const isRight =
        headers.authorization === basic && new URLSearchParams(body).get('grant_type') === 'client_credentials';
      return isRight && headers.enterpriseid === 'ACME'
        ? { json: { access_token: token, expires_in: 3600, token_type: 'Bearer' } }
        : { status: 401, json: {} };
    }
    const isRight = headers.authorization === `Bearer ${token}` && headers['x-hotelid'] === 'LIS01';
    return isRight ? { json: golden.response } : { status: 401, json: {} };
  });
  const ports = runtime.ports({
    integration: 'ohip',
    baseUrl: partner.url,
    timezone: golden.timezone,
    connector: documentOf('ohip'),
    pull: {
      auth: {
        type: 'oauth2',
        grant: 'client_credentials',
        token_url: `${partner.url}/oauth/v1/tokens`,
        client_id: 'client',
        client_secret: 'secret',
      },
      headers: { 'x-app-key': 'app-key', enterpriseId: 'ACME' },
    },
  });
  const result = await sync(ports, 'ohip', { from: '2026-05-01', to: '2026-05-07' });
  assert.ok(result.state !== 'failed', JSON.stringify(result));
  assert.deepEqual(
    partner.requests.slice(0, 2).map(({ path: at }) => at),
    ['/oauth/v1/tokens', '/rsv/v1/hotels/LIS01/reservations'],
  );
  assert.ok((await runtime.stored('ohip')).length > 0);
});
