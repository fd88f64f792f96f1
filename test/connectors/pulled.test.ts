import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { type Reply, type ScriptedPartner, startPartner } from '../intake/pull/support/partner.ts';
import { openPullRuntime, type PullRuntime, sync } from '../intake/pull/support/runtime.ts';
import { connectorsDir, readCases } from './cases.ts';
import { mews, type Row } from './mews.ts';

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

const documentOf = (name: string) =>
  parse(readFileSync(path.join(connectorsDir, name, 'connector.yaml'), 'utf8')) as { pull: Record<string, unknown> };

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
