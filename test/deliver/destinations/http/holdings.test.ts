import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, type Here } from '../../../../src/core/deliver/compare.ts';
import type { HeldFiles } from '../../../../src/core/deliver/destination.ts';
import { destinationType as http } from '../../../../src/core/deliver/destinations/http/destination.ts';
import type { Delivery } from '../../../../src/core/deliver/message.ts';
import { listen, type Received, type Reply } from '../../http-server.ts';
import { delivery, reservation, services } from '../../support.ts';
import { brevoAccount } from '../../vendors/brevo.ts';
import { dynamicsAccount } from '../../vendors/dynamics.ts';
import { hubspotAccount } from '../../vendors/hubspot.ts';
import { mailchimpAccount } from '../../vendors/mailchimp.ts';
import { salesforceAccount } from '../../vendors/salesforce.ts';

const of = { integration: 'lisbon', type: 'reservation' } as const;

/** What an audit says of these deliveries at a server that answers so. */
async function audited(settings: object, deliveries: readonly Delivery[], answer: (request: Received) => Reply) {
  const server = await listen(answer);
  const offered = services('/');
  try {
    const given = JSON.parse(JSON.stringify(settings).replaceAll('SERVER', server.url)) as object;
    const holdings = http.holdings?.(http.settings.parse(given), offered, {} as HeldFiles);
    assert.ok(holdings);
    const byId = new Map(deliveries.map((one) => [one.message.data.id, one]));
    const rows = Map.groupBy(await holdings.rows(of, [...byId.keys()], 'contents', byId), ({ id }) => id);
    const said = deliveries.map((one) => {
      const { version, data } = one.message;
      const content = () => holdings.contentOf?.(one) ?? {};
      const here: Here = { kind: 'sent', version, epoch: 1, waits: false, content };
      const there = (rows.get(data.id) ?? []).map((row) => ({ ...row, content: row.content ?? {} }));
      return compare(here, there).map(({ kind, paths = [] }) => [data.id, kind, ...paths].join(' '));
    });
    return { said: said.flat(), received: server.received };
  } finally {
    await server.close();
    await offered.close();
  }
}

const stays: Record<string, object> = {
  r1: {
    id: 'r1',
    guest: 'ANA@guests.example ',
    total: 1250.499,
    arrival: '2026-12-01T00:00:00+01:00',
    rev: 1,
    state: 'confirmed',
  },
  r2: { id: 'r2', guest: 'r2@guests.example', total: 9, arrival: '2026-11-30T23:00:00Z', rev: 1, state: 'no_show' },
  r4: {
    id: 'r4',
    guest: 'r4@guests.example',
    total: 1250.5,
    arrival: '2026-12-01T00:00:00+01:00',
    rev: 1,
    state: 'confirmed',
  },
};
const body = {
  ref: '{data.id}',
  mail: '{data.guests.0.email}',
  total: '{data.total_amount}',
  status: '{data.status}',
  from: '{data.check_in}',
  source: 'PMS',
};
const read = {
  fields: { ref: 'id', mail: 'guest', status: 'state' },
  version: 'rev',
  except: ['source', 'from'],
  same: { mail: ['trim', 'lower'], total: ['cents'] },
};
const ana = { guests: [{ first_name: 'Ana', email: 'ana@guests.example' }] };
const deliveries = [
  delivery(reservation('r1', ana)),
  delivery(reservation('r2')),
  delivery(reservation('r3')),
  delivery(reservation('r4'), { version: 2 }),
];
const expectedOf = ['r1 equal', 'r2 changed total status', 'r3 missing', 'r4 behind'];

test('records are read one by one, under other names, with what the vendor changes', async () => {
  const { said, received } = await audited(
    { url: 'SERVER/stays/{data.id}', method: 'PUT', body, read: { ...read, url: 'SERVER/stays/{data.id}' } },
    deliveries,
    ({ path }) => {
      const stay = stays[path.split('/').at(-1) ?? ''];
      return stay === undefined ? { status: 404 } : { status: 200, body: stay };
    },
  );
  assert.deepEqual(said, expectedOf);
  assert.ok(
    received.every(({ method }) => method === 'GET'),
    'nothing is written',
  );
});

test('records are read by a search for several', async () => {
  const search = {
    ...read,
    method: 'POST',
    url: 'SERVER/search',
    body: { ids: '{items}' },
    batch: 3,
    list: 'found',
    key: 'id',
  };
  const { said, received } = await audited(
    { url: 'SERVER/stays', unique: '{data.id}', body, read: search },
    deliveries,
    ({ body: asked }) => {
      const { ids } = asked as { ids: string[] };
      return { status: 200, body: { found: ids.flatMap((id) => stays[id] ?? []).reverse() } };
    },
  );
  assert.deepEqual(said, expectedOf);
  assert.equal(received.length, 2);
});

test('an answer that says nothing is not readable, never missing', async () => {
  for (const reply of [{ status: 500 }, { status: 403, body: {} }, { status: 200, body: undefined }]) {
    const { said } = await audited(
      { url: 'SERVER/stays/{data.id}', body, read: { url: 'SERVER/stays/{data.id}' } },
      deliveries.slice(0, 1),
      () => reply,
    );
    assert.deepEqual(said, ['r1 not_readable'], JSON.stringify(reply));
  }
});

test('a destination without read cannot be audited', () => {
  const offered = services('/');
  assert.equal(
    http.holdings?.(http.settings.parse({ url: 'https://crm.example' }), offered, {} as HeldFiles),
    undefined,
  );
  return offered.close();
});

for (const make of [hubspotAccount, mailchimpAccount, brevoAccount, salesforceAccount, dynamicsAccount]) {
  const { preset } = make();
  test(`${preset}: a contact is compared with the profile of its guest, as the vendor keeps it`, async (t) => {
    const account = make();
    const offered = services('/');
    const server = await listen((request) => account.answer(request));
    t.after(async () => {
      await server.close();
      await offered.close();
    });
    const parsed = (values: object) => http.settings.parse({ preset, with: values });
    const basic = account.variables(server.url);
    const prepared = await http.prepare?.(parsed(basic), offered, { dryRun: false });
    const own = { ...basic, ...prepared?.settings };
    const guest = { first_name: 'Ana', last_name: 'Exemplo', phone: '+351912345678', nationality: 'PT' };
    const profile = (id: string, change: object = {}): Delivery => ({
      ...delivery(reservation(id), {
        type: 'guest',
        data: { id, ...guest, email: `${id}@guests.example`, ...change } as never,
      }),
    });
    const written = [
      profile('g1', { first_name: 'Ana ' }),
      profile('g2', { first_name: 'Eva', phone: '+34600000001' }),
    ];
    const destination = http.open(parsed(own), offered);
    const limits = { batch: http.batch(parsed(own)).standard, deadlineMs: 10_000, leaseLeftMs: () => 60_000 };
    const outcomes = await destination.deliver(written, {
      ...limits,
      extend: async () => true,
      signal: new AbortController().signal,
    });
    assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['delivered']), JSON.stringify(outcomes));
    const { said } = await audited(
      { preset, with: own },
      [profile('g1'), profile('g2', { phone: '+34600000001' }), profile('g3', { phone: '+34600000002' })],
      (request) => account.answer(request),
    );
    assert.deepEqual(
      said.map((line) => line.replace(/ \S*first_?name$| \S*FNAME$/i, ' the first name')),
      ['g1 equal', 'g2 changed the first name', 'g3 missing'],
    );
  });
}
