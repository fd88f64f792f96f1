import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pullPorts } from '../../../../src/composition/pull.ts';
import { checkFiles } from '../../../../src/core/documents/check.ts';
import { fetchSingle } from '../../../../src/core/intake/pull/request/single.ts';
import { syncOnce } from '../../../../src/core/intake/pull/run/sync-once.ts';
import { listDrift } from '../../../../src/core/store/records/drift.ts';
import { listUnlisted } from '../../../../src/core/store/runs/stored-reservations.ts';
import type { IntegrationName } from '../../../../src/terms.ts';
import { type ApiNode, apiNode } from '../../../api/node.ts';
import { bookings, type Reply, type ScriptedPartner, startPartner } from '../support/partner.ts';

/** One account of a partner with several properties: one poll serves two brands. */
const week = { from: '2026-03-01', to: '2026-03-07' };
const [one, two, three] = bookings(3, week.from, 2);
const at = (code: string, booking: object | undefined, more: object = {}) => ({ ...booking, hotel: { code }, ...more });

const connector = `connector: chain
pull:
  request: { path: /list, query: { from: "{window.from}", to: "{window.to}" } }
  pagination: { type: none }
  property: hotel.code
shape: { root_path: reservations }
`;
const brand = (name: string, id: string, how: string) => `integration: ${name}
connector: chain
brand_id: ${id}
timezone: Europe/Lisbon
${how}
deliver: [lake]
`;

let listed: object[] = [];
let single: Reply = { json: {} };
let partner: ScriptedPartner;
let node: ApiNode;
before(async () => {
  partner = await startPartner(({ path }) => {
    if (path === '/token') return { json: { access_token: 'token', expires_in: 3600 } };
    return path.startsWith('/one/') ? single : { json: { reservations: listed } };
  });
  const oauth = `{ type: oauth2, grant: client_credentials, token_url: "${partner.url}/token", client_id: c, client_secret: s }`;
  node = await apiNode('', {
    'connectors/chain.yaml': connector,
    'integrations/lisbon.yaml': brand('lisbon', 'LIS', `pull: { base_url: "${partner.url}", auth: { type: none } }`),
    'integrations/porto.yaml': brand('porto', 'OPO', 'pulled_by: lisbon'),
    'connectors/feed.yaml': connector.replace('chain', 'feed').replace('to: "{window.to}"', 'since: "{since}"'),
    'integrations/faro.yaml': brand(
      'faro',
      'FAO',
      `pull: { base_url: "${partner.url}", auth: { type: none } }`,
    ).replace('chain', 'feed'),
    'integrations/lagos.yaml': brand('lagos', 'LOS', 'paused: true\npulled_by: faro').replace('chain', 'feed'),
    'connectors/named.yaml': connector
      .replace('chain', 'named')
      .replace('  pag', '  single: { path: "/one/{id}" }\n  pag'),
    'integrations/beja.yaml': brand('beja', 'BEJ', `pull: { base_url: "${partner.url}", auth: ${oauth} }`).replace(
      'chain',
      'named',
    ),
    'integrations/tavira.yaml': brand('tavira', 'TAV', 'pulled_by: beja').replace('chain', 'named'),
    'integrations/evora.yaml': brand('evora', 'EVO', 'paused: true\npulled_by: lisbon'),
  });
});
after(async () => {
  await node.stop();
  await partner.close();
});

async function pull(integration = 'lisbon') {
  const request = {
    integration: integration as IntegrationName,
    kind: 'backfill' as const,
    requestedBy: 'test',
    ...week,
  };
  const result = await syncOnce(pullPorts(node.runtime), request);
  assert.equal(result.state, 'complete', JSON.stringify(result));
  return result.counters;
}

async function stored(integration: string) {
  const { rows } = await node.runtime.pool.query<{ id: string; amount: string }>(
    `select id, data ->> 'total_amount' as amount from records
      where integration = $1 and type = 'reservation' and version > 0 order by id`,
    [integration],
  );
  return rows;
}

test('one poll fetches the reservations of both brands, even if they have the same id', async () => {
  listed = [
    at('LIS', one, { total_amount: 10 }),
    at('OPO', one, { total_amount: 20 }),
    at('OPO', two, { total_amount: 30 }),
  ];
  const counters = await pull();
  assert.equal(partner.requests.length, 1);
  assert.deepEqual([counters.fetched, counters.changed, counters.repeated], [3, 3, 0]);
  assert.deepEqual(await stored('lisbon'), [{ id: one?.id, amount: '10' }]);
  assert.deepEqual(await stored('porto'), [
    { id: one?.id, amount: '20' },
    { id: two?.id, amount: '30' },
  ]);
  const again = await pull();
  assert.deepEqual([again.changed, again.unchanged], [0, 3]);
});

test('a row of another property, or of none, is left out and counted', async () => {
  listed = [at('LIS', one, { total_amount: 10 }), at('FAR', three), { ...three }];
  const counters = await pull();
  assert.deepEqual([counters.fetched, counters.skipped], [3, 2]);
  assert.equal((await stored('lisbon')).length, 1);
  const drift = await listDrift(node.runtime.pool, 'lisbon');
  assert.deepEqual(drift.map(({ field, value }) => [field, value]).sort(), [
    ['property', ''],
    ['property', 'FAR'],
  ]);
});

test('rows of a paused brand are left out, but kept from a list of changes, which shows each change once', async () => {
  listed = [at('LIS', one), at('EVO', one), at('FAO', one), at('LOS', one)];
  await pull();
  assert.deepEqual(await stored('evora'), []);
  await pull('faro');
  assert.equal((await stored('faro')).length, 1);
  assert.equal((await stored('lagos')).length, 1);
});

test('a booking of the second brand that vanishes is noticed', async () => {
  listed = [at('LIS', one), at('OPO', one)];
  await pull();
  const missing = await listUnlisted(node.runtime.pool, 'porto', 10);
  assert.deepEqual(
    missing.map(({ id }) => id),
    [two?.id],
  );
  assert.deepEqual(await listUnlisted(node.runtime.pool, 'lisbon', 10), []);
});

test('requests for a reservation of the second brand use the token of the account and obey its Retry-After', async () => {
  const ports = pullPorts(node.runtime);
  const from = partner.requests.length;
  const asked = () => partner.requests.slice(from).map(({ path }) => path);
  const fetch = async (integration: string) => (await fetchSingle(ports, integration as IntegrationName, '7')).kind;
  single = { json: { ...one, id: '7' } };
  assert.deepEqual([await fetch('beja'), await fetch('tavira')], ['found', 'found']);
  assert.deepEqual(asked(), ['/token', '/one/7', '/one/7']);
  single = { status: 429, headers: { 'retry-after': '120' }, json: {} };
  assert.deepEqual([await fetch('tavira'), await fetch('beja'), await fetch('tavira')], ['later', 'later', 'later']);
  assert.equal(asked().length, 4);
});

test('a poll of the second brand alone keeps only its own rows', async () => {
  listed = [at('LIS', two, { total_amount: 99 }), at('OPO', two, { total_amount: 31 })];
  const counters = await pull('porto');
  assert.deepEqual([counters.changed, counters.skipped], [1, 1]);
  assert.equal(
    (await stored('lisbon')).some(({ amount }) => amount === '99'),
    false,
  );
});

test('the second brand is as healthy as the poll that serves it', async () => {
  const viewer = await node.token('viewer');
  const { body } = await node.call('GET', '/integrations/porto', viewer);
  assert.equal(body.pulled_by, 'lisbon');
  assert.equal(body.pull, null);
});

test('validate says what keeps two brands from sharing a poll', () => {
  const mistakes = (porto: string, text = connector) => {
    const pull = 'pull: { base_url: "https://pms.example", auth: { type: none } }';
    const checked = checkFiles([
      { kind: 'connector', file: 'connectors/chain.yaml', text },
      {
        kind: 'integration',
        file: 'integrations/lisbon.yaml',
        text: brand('lisbon', 'LIS', pull).replace('[lake]', '[]'),
      },
      { kind: 'integration', file: 'integrations/porto.yaml', text: porto.replace('[lake]', '[]') },
    ]);
    return checked.kind === 'ok' ? '' : checked.mistakes.map(({ message }) => message).join();
  };
  assert.equal(mistakes(brand('porto', 'OPO', 'pulled_by: lisbon')), '');
  assert.match(mistakes(brand('porto', 'OPO', 'pulled_by: faro')), /there is no integration faro/);
  assert.match(mistakes(brand('porto', 'LIS', 'pulled_by: lisbon')), /lisbon has the same brand_id/);
  const without = connector.replace('  property: hotel.code\n', '');
  assert.match(mistakes(brand('porto', 'OPO', 'pulled_by: lisbon'), without), /add pull.property/);
  const flat = connector.replace(
    'shape: { root_path: reservations }',
    'shape: { root_path: reservations, flat: { key: id } }',
  );
  assert.match(mistakes(brand('porto', 'OPO', 'pulled_by: lisbon'), flat), /flat rows cannot be divided/);
});
