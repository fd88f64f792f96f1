import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { JsonObject } from '../../../src/terms.ts';
import { deliveredLines } from '../../e2e/workspace.ts';
import { innbound, type ServiceProcess, serve, until } from '../../support/process.ts';

/**
 * Webhooks of real systems, in their published shapes, sent over HTTP to a running service. Reservations that they only name are
 * fetched from a server that answers like the system's API, and the canonical record arrives in a file.
 */

interface Vendor {
  readonly brandId: string;
  readonly timezone: string;
  readonly country: string;
  /** The answer for one reservation, and the expected record. */
  readonly single: JsonObject;
  readonly record: JsonObject;
}
const golden = async (connector: string, file: string) =>
  JSON.parse(
    await readFile(new URL(`../../../connectors/${connector}/cases/${file}.json`, import.meta.url), 'utf8'),
  ) as {
    timezone: string;
    country: string;
    single: JsonObject;
    response: JsonObject;
    records: JsonObject[];
  };

let dir: string;
let api: Server;
let service: ServiceProcess;
const vendors = new Map<string, Vendor>();
const asked: string[] = [];
const endpoints = new Map<string, { url: string; sandboxUrl: string; secret: string }>();

async function readVendors(): Promise<void> {
  const brands = { apaleo: 'HHALS', cloudbeds: '300118' };
  for (const [name, brandId] of Object.entries(brands)) {
    const { single, records, timezone, country = 'DE' } = await golden(name, 'single');
    vendors.set(name, { brandId, timezone, country, single, record: records[0] ?? {} });
  }
  const { response, records, timezone, country = 'US' } = await golden('guesty', 'list');
  const single = (response.results as JsonObject[])[0] ?? {};
  vendors.set('guesty', { brandId: 'my-account', timezone, country, single, record: records[0] ?? {} });
  const mews = await golden('mews', 'with-tables');
  vendors.set('mews', {
    brandId: '851df8c8-90f2-4c4a-8e01-a4fc46b25178',
    timezone: mews.timezone,
    country: 'CZ',
    single: { ...mews.response, Reservations: (mews.response.Reservations as JsonObject[]).slice(0, 1) },
    record: mews.records[0] ?? {},
  });
}

/** One reservation. Mews answers each operation with its own table: …/customers/getAll with Customers. */
function answerOf(vendor: string, url: string): JsonObject | undefined {
  const single = vendors.get(vendor)?.single;
  const operation = /\/v1\/(\w+)\/getAll/.exec(url)?.[1];
  if (single === undefined || operation === undefined) return single;
  const table = operation.replace(/^./, (first) => first.toUpperCase());
  return { [table]: single[table] ?? [], Cursor: null };
}

before(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-vendors-'));
  await readVendors();
  api = createServer((request, response) => {
    const [, vendor = ''] = (request.url ?? '').split('/');
    asked.push(`${request.method} ${decodeURIComponent(request.url ?? '')}`);
    request.resume().once('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answerOf(vendor, request.url ?? '')));
    });
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  const { port } = api.address() as { port: number };
  const documents: [string, string][] = [
    ['destinations/lake.yaml', 'destination: lake\ntype: files\npath: out\nreceives: [reservation, guest]\n'],
  ];
  for (const [name, { brandId, timezone, country }] of vendors) {
    documents.push([
      `integrations/${name}.yaml`,
      `integration: ${name}\nconnector: ${name}\nbrand_id: "${brandId}"\ntimezone: ${timezone}\ncountry: ${country}\n` +
        `pull: { base_url: "http://127.0.0.1:${port}/${name}", auth: { type: bearer, token: letmein } }\n` +
        'push: { enabled: true }\ndeliver: [lake]\n',
    ]);
  }
  for (const [file, text] of documents) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
  service = await serve(dir);
  const issue = async (name: string) => {
    const [issued] = (await innbound(['endpoint', name, '--workspace', dir, '--json'])).json();
    const { url, sandbox_url: sandboxUrl, secret } = issued as Record<'url' | 'sandbox_url' | 'secret', string>;
    endpoints.set(name, { url, sandboxUrl, secret });
  };
  await Promise.all([...vendors.keys()].map(issue));
});
after(async () => {
  await service?.stop();
  api?.close();
  await rm(dir, { recursive: true, force: true });
});

const endpoint = (vendor: string) => {
  const found = endpoints.get(vendor);
  assert.ok(found);
  return found;
};

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, json: (await response.json()) as JsonObject };
}
const withToken = (vendor: string, body: unknown) =>
  post(`${endpoint(vendor).url}?token=${endpoint(vendor).secret}`, JSON.stringify(body));

let messages = 0;
const throughSvix = (body: unknown, id = `msg_${++messages}`) => {
  const { url, secret } = endpoint('guesty');
  const text = JSON.stringify(body);
  const now = new Date();
  return post(url, text, {
    'svix-id': id,
    'svix-timestamp': String(Math.floor(now.getTime() / 1000)),
    'svix-signature': new Webhook(secret).sign(id, now, text),
  });
};

const delivered = async (vendor: string) =>
  (await deliveredLines(path.join(dir, 'out'))).filter(({ integration }) => integration === vendor);
const arrived = (vendor: string, version = 1) =>
  until(`version ${version} of ${vendor}`, async () =>
    (await delivered(vendor)).find((line) => line.type === 'reservation' && line.version === version),
  );

test('mews: several changes in one body, of which the reservations are fetched', async () => {
  const { brandId, record } = vendors.get('mews') as Vendor;
  const body = {
    EnterpriseId: brandId,
    IntegrationId: 'c8bee838-7fb1-4f4e-8fac-ac87008b2f90',
    Events: [
      { Discriminator: 'ServiceOrderUpdated', Value: { Id: record.id } },
      { Discriminator: 'CustomerUpdated', Value: { Id: 'c7f1d5aa-0c11-4c6b-8a70-b1f200a10002' } },
      { Discriminator: 'ServiceOrderUpdated', Value: { Id: record.id } },
    ],
  };
  const { status, json } = await withToken('mews', body);
  assert.equal(status, 202, JSON.stringify(json));
  assert.equal(json.status, 'accepted');
  assert.equal(json.events, 3);
  assert.deepEqual((await arrived('mews')).data, record);
  assert.ok(asked.some((line) => line === 'POST /mews/api/connector/v1/reservations/getAll/2023-06-06'));
});

test('mews: a customer who changed is fetched, and the profile follows', async () => {
  const vendor = vendors.get('mews') as Vendor;
  const [first, ...others] = vendor.single.Customers as JsonObject[];
  const customers = [{ ...first, Email: 'moved@mail.example' }, ...others];
  vendors.set('mews', { ...vendor, single: { ...vendor.single, Customers: customers } });
  const id = String(first?.Id);
  const body = { EnterpriseId: vendor.brandId, Events: [{ Discriminator: 'CustomerUpdated', Value: { Id: id } }] };
  assert.equal((await withToken('mews', body)).status, 202);
  const profile = await until('the profile has the new address', async () =>
    (await delivered('mews')).find(({ type, data }) => type === 'guest' && data.email === 'moved@mail.example'),
  );
  assert.equal(profile.data.guest_id, id);
  assert.ok(asked.some((line) => line === 'POST /mews/api/connector/v1/customers/getAll'));
  const { json } = await post(`${endpoint('mews').sandboxUrl}?token=${endpoint('mews').secret}`, JSON.stringify(body));
  assert.deepEqual(
    (json.report as JsonObject | undefined)?.outcome ?? json.outcome,
    { kind: 'fetched_first', guest_id: id },
    JSON.stringify(json),
  );
});

test('mews: the same bytes again are another change, not a duplicate', async () => {
  const vendor = vendors.get('mews') as Vendor;
  const body = {
    EnterpriseId: vendor.brandId,
    Events: [{ Discriminator: 'ServiceOrderUpdated', Value: { Id: vendor.record.id } }],
  };
  assert.equal((await withToken('mews', body)).status, 202);
  const [reservation] = vendor.single.Reservations as JsonObject[];
  const changed = {
    ...vendor.single,
    Reservations: [{ ...reservation, State: 'Started' }],
  };
  vendors.set('mews', { ...vendor, single: changed });
  assert.equal((await withToken('mews', body)).status, 202);
  assert.equal((await arrived('mews', 2)).data.status, 'checked_in');
});

test('apaleo: topic and type are the name, the time is in milliseconds, the id makes duplicates', async () => {
  const { brandId, record } = vendors.get('apaleo') as Vendor;
  const body = {
    topic: 'Reservation',
    type: 'checked-in',
    id: 'ec5a1fe4-331c-450a-915c-5caa231cc825',
    accountId: 'HFTF',
    propertyId: brandId,
    timestamp: Date.now() - 5_000,
    data: { entityId: record.id },
  };
  const first = await withToken('apaleo', body);
  assert.deepEqual(first, { status: 202, json: { status: 'accepted', event_id: body.id } });
  assert.deepEqual(await withToken('apaleo', body), { status: 200, json: { status: 'duplicate', event_id: body.id } });
  assert.deepEqual((await arrived('apaleo')).data, record);
  assert.ok(asked.some((line) => line.startsWith(`GET /apaleo/booking/v1/reservations/${record.id}?`)));
});

test('apaleo: the health check of a new subscription is accepted, an event of another property is not', async () => {
  const check = { topic: 'system', type: 'healthcheck', id: '56eca994', propertyIds: ['MUC'], timestamp: Date.now() };
  assert.equal((await withToken('apaleo', check)).status, 202);
  const other = {
    topic: 'Reservation',
    type: 'created',
    id: 'x',
    propertyId: 'MUC',
    timestamp: Date.now(),
    data: { entityId: 'A-1' },
  };
  const { status, json } = await withToken('apaleo', other);
  assert.equal(status, 422);
  assert.equal(json.pointer, '/propertyId');
  const wrongTime = { ...other, propertyId: 'HHALS', timestamp: '2026-01-01T00:00:00Z' };
  assert.equal((await withToken('apaleo', wrongTime)).json.pointer, '/timestamp');
});

test('cloudbeds: the event is the body, ids are numbers, the time has microseconds', async () => {
  const { brandId, record } = vendors.get('cloudbeds') as Vendor;
  const body = {
    version: '1.0',
    timestamp: (Date.now() - 2_000) / 1000 + 0.000_431,
    event: 'reservation/status_changed',
    propertyID: Number(brandId),
    reservationID: record.id,
    status: 'checked_in',
  };
  const { status, json } = await withToken('cloudbeds', body);
  assert.equal(status, 202, JSON.stringify(json));
  assert.equal((await withToken('cloudbeds', body)).status, 200);
  const later = { ...body, timestamp: body.timestamp + 0.1 };
  assert.equal((await withToken('cloudbeds', later)).status, 202);
  assert.deepEqual((await arrived('cloudbeds')).data, record);
  assert.equal((await withToken('cloudbeds', { ...body, event: 'housekeeping/room_condition_changed' })).status, 202);
});

test('guesty: signed through Svix, in both versions of the event', async () => {
  const { record } = vendors.get('guesty') as Vendor;
  const first = await throughSvix(
    { event: 'reservation.new', reservation: { _id: record.id, status: 'confirmed' } },
    'msg_one',
  );
  assert.deepEqual(first, { status: 202, json: { status: 'accepted', event_id: 'msg_one' } });
  assert.deepEqual((await arrived('guesty')).data, record);
  const vendor = vendors.get('guesty') as Vendor;
  vendors.set('guesty', { ...vendor, single: { ...vendor.single, status: 'canceled' } });
  const second = {
    eventType: 'reservation.updated.v2',
    publishedAt: new Date().toISOString(),
    data: { reservation: { id: record.id } },
  };
  assert.equal((await throughSvix(second)).status, 202);
  assert.equal((await arrived('guesty', 2)).data.status, 'cancelled');
});

test('guesty: a guest event contains the guest', async () => {
  const guest = {
    _id: '66f1c0ff',
    firstName: 'GERALD',
    lastName: 'CHARLTON',
    emails: ['Gerald@mail.example'],
    fullName: 'x y',
  };
  assert.equal((await throughSvix({ event: 'guest.updated', guest, by: 'somebody' })).status, 202);
  const profile = await until('the profile', async () =>
    (await delivered('guesty')).find(({ type, data }) => type === 'guest' && data.guest_id === '66f1c0ff'),
  );
  assert.equal(profile.data.last_name, 'Charlton');
  assert.equal(profile.data.email, 'gerald@mail.example');
});

test('a sender without the secret is refused in every scheme', async () => {
  for (const vendor of ['mews', 'apaleo', 'cloudbeds', 'guesty']) {
    assert.equal((await post(`${endpoint(vendor).url}?token=guess`, '{}')).status, 401, vendor);
  }
});

test('the sandbox reports what each event would become', async () => {
  const { brandId, record } = vendors.get('mews') as Vendor;
  const Events = [
    { Discriminator: 'ServiceOrderUpdated', Value: { Id: record.id } },
    { Discriminator: 'ServiceOrderUpdated', Value: { Id: 'other' } },
  ];
  const { sandboxUrl, secret } = endpoint('mews');
  const { json } = await post(`${sandboxUrl}?token=${secret}`, JSON.stringify({ EnterpriseId: brandId, Events }));
  const report = json.report as JsonObject & { would_answer: JsonObject; events: { outcome: JsonObject }[] };
  assert.equal(report.would_answer.status, 202, JSON.stringify(report));
  assert.deepEqual(report.outcome, { kind: 'fetched_first', reservation_id: record.id });
  assert.deepEqual(report.events[1]?.outcome, { kind: 'fetched_first', reservation_id: 'other' });
  const ignored = await post(`${sandboxUrl}?token=${secret}`, JSON.stringify({ EnterpriseId: brandId, Events: [] }));
  assert.equal((ignored.json.report as { outcome: JsonObject }).outcome.kind, 'ignored');
});
