import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import type { Json, JsonObject } from '../../src/terms.ts';
import { judge } from '../packages/suggest/judge.ts';
import { testDatabase } from '../support/database.ts';
import { innbound } from '../support/process.ts';
import { deliveredLines } from './workspace.ts';

/**
 * Two invented systems, connected as a new user would: a recorded response, `suggest`, the request written by hand from the vendor's API
 * page, `validate`, `sync`. The mapping is the suggestion, unedited.
 */

interface Answer {
  readonly status?: number;
  readonly json: Json;
}
type Speak = (request: { url: URL; body: string; headers: IncomingMessage['headers'] }) => Answer;

const servers: Server[] = [];
const folders: string[] = [];
/** The address of the database of each workspace. */
const databases = new Map<string, string>();
after(async () => {
  for (const server of servers) server.close();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function listen(speak: Speak): Promise<string> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const url = new URL(request.url ?? '/', 'http://partner.example');
    const { status = 200, json } = speak({ url, body: Buffer.concat(parts).toString(), headers: request.headers });
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface System {
  readonly name: string;
  readonly sample: Json;
  readonly pull: JsonObject;
  readonly shape?: JsonObject;
  readonly integration: JsonObject;
}

/** A workspace with the suggested mapping and the request of the vendor's API page. */
async function workspaceFor({ name, sample, pull, shape, integration }: System): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-systems-'));
  folders.push(dir);
  for (const folder of ['connectors', 'integrations', 'destinations']) await mkdir(path.join(dir, folder));
  const file = path.join(dir, 'response.json');
  await writeFile(file, JSON.stringify(sample));
  const suggested = await innbound(['suggest', '--sample', file, '--name', name, '--json']);
  const [{ connector }] = suggested.json() as unknown as [{ connector: JsonObject }];
  const whole = { ...connector, pull, shape: { ...(connector.shape as JsonObject), ...shape } };
  await writeFile(path.join(dir, 'connectors', `${name}.yaml`), stringify(whole, { aliasDuplicateObjects: false }));
  const brand = { integration: name, connector: name, brand_id: 'H1', ...integration, deliver: ['lake'] };
  await writeFile(path.join(dir, 'integrations', `${name}.yaml`), stringify(brand));
  await writeFile(path.join(dir, 'destinations', 'lake.yaml'), 'destination: lake\ntype: files\npath: out\n');
  await writeFile(path.join(dir, 'innbound.yaml'), 'network: { allow_private: true }\n');
  const checked = await innbound(['validate', '-w', dir]);
  assert.equal(checked.code, 0, checked.stdout);
  databases.set(dir, (await testDatabase()).url);
  return dir;
}

async function sync(dir: string, ...args: string[]): Promise<JsonObject> {
  const run = await innbound(['sync', ...args, '-w', dir, '--json'], {
    env: { DATABASE_URL: databases.get(dir) ?? '' },
  });
  const [outcome] = run.json() as unknown as [JsonObject];
  assert.equal(outcome?.status, 'complete', run.stdout + run.stderr);
  return outcome;
}

/** The newest delivered state of each reservation. */
async function delivered(dir: string): Promise<JsonObject[]> {
  const lines = (await deliveredLines(path.join(dir, 'out'))).filter(({ type }) => type === 'reservation');
  lines.sort((a, b) => a.version - b.version);
  return [...new Map(lines.map(({ data }) => [data.id, data as unknown as JsonObject])).values()];
}

test('a feed with credentials in the body: acknowledged booking by booking, cancelled by a bare second list', async () => {
  const booking = (no: number, first: string, last: string, arrival: string, departure: string) => ({
    BookingNo: String(no),
    Status: 'New',
    BookedOn: '2026-01-10 09:30:00',
    Source: no % 2 === 0 ? 'Booking.com' : 'Website',
    CurrencyCode: 'EUR',
    Rooms: [
      {
        RoomTypeName: 'Sea view',
        RatePlanName: 'Flexible',
        ArrivalDate: arrival,
        DepartureDate: departure,
        Adults: '2',
        Children: '0',
        TotalAmountAfterTax: '210.00',
        FirstName: first,
        LastName: last,
        Email: `${first.toLowerCase()}@mail.example`,
        Phone: '+356 9696 1234',
      },
    ],
  });
  const feed = {
    bookings: [
      booking(501, 'Zoe', 'Camilleri', '2026-03-02', '2026-03-04'),
      booking(502, 'Karm', 'Borg', '2026-03-05', '2026-03-08'),
      booking(503, 'Rita', 'Vella', '2026-03-09', '2026-03-10'),
    ],
    cancelled: [] as JsonObject[],
  };
  const sample = { Feed: { Booking: [...feed.bookings] } };
  const acknowledged: string[] = [];
  const baseUrl = await listen(({ url, body }) => {
    const asked = (JSON.parse(body) as { Request: JsonObject }).Request;
    const { HotelCode, Key } = (asked.Login ?? {}) as JsonObject;
    if (url.pathname !== '/feed.php' || HotelCode !== 'H1' || Key !== 'kestrel-key-1')
      return { json: { error: 'Unauthorized', code: 401 } };
    if (asked.Type === 'Received') {
      const list = (asked.Bookings as { BookingNo: string }[]).map(({ BookingNo }) => BookingNo);
      acknowledged.push(...list);
      feed.bookings = feed.bookings.filter(({ BookingNo }) => !list.includes(BookingNo));
      feed.cancelled = feed.cancelled.filter(({ BookingNo }) => !list.includes(String(BookingNo)));
      return { json: { ok: true } };
    }
    return { json: { Feed: { Booking: feed.bookings, CancelledBooking: feed.cancelled } } };
  });
  const post = { method: 'POST', path: '/feed.php' };
  const dir = await workspaceFor({
    name: 'kestrel',
    sample,
    pull: {
      request: { ...post, body: { Request: { Type: 'Bookings' } } },
      window: 'none',
      acknowledge: { ...post, body: { Request: { Type: 'Received', Bookings: [{ BookingNo: '{id}' }] } } },
    },
    shape: { also: [{ path: 'Feed.CancelledBooking', set: { Status: 'Cancelled' }, partial: true }] },
    integration: {
      timezone: 'Europe/Malta',
      country: 'MT',
      pull: {
        base_url: baseUrl,
        auth: { type: 'custom', body: { Request: { Login: { HotelCode: 'H1', Key: 'kestrel-key-1' } } } },
      },
    },
  });
  const range = ['kestrel', '--from', '2026-03-01', '--to', '2026-03-31'];
  assert.equal((await sync(dir, ...range)).changed, 3);
  assert.deepEqual(acknowledged.sort(), ['501', '502', '503']);
  const expected = (id: string, name: string, surname: string, from: string, to: string, status: string) => ({
    id,
    check_in: from,
    check_out: to,
    booking_date: '2026-01-10',
    status,
    source: id === '502' ? 'Booking.com' : 'Website',
    total_amount: 210,
    currency: 'EUR',
    guests: [
      { first_name: name, last_name: surname, email: `${name.toLowerCase()}@mail.example`, phone: '+35696961234' },
    ],
    rooms: [{ room_type: 'Sea view', start_date: from, end_date: to, adults: 2, children: 0 }],
    $exact: ['guests', 'rooms'],
  });
  const zoe = expected('501', 'Zoe', 'Camilleri', '2026-03-02', '2026-03-04', 'confirmed');
  const rita = expected('503', 'Rita', 'Vella', '2026-03-09', '2026-03-10', 'confirmed');
  const karm = expected('502', 'Karm', 'Borg', '2026-03-05', '2026-03-08', 'confirmed');
  assert.deepEqual(judge([zoe, karm, rita], await delivered(dir)).misses, []);

  feed.cancelled.push({ BookingNo: '502', CancelledOn: '2026-02-01 10:00:00' });
  const second = await sync(dir, ...range);
  assert.deepEqual([second.fetched, second.changed, second.dead_lettered], [1, 1, 0]);
  assert.deepEqual(judge([zoe, { ...karm, status: 'cancelled' }, rita], await delivered(dir)).misses, []);
  assert.ok(acknowledged.filter((id) => id === '502').length === 2);
});

test('a login call, a form with days first, departures for post_stay, and the next address in the body', async () => {
  const row = (id: number, from: string, to: string, status: string, name: string) => ({
    id,
    reference: `HB-${id}`,
    arrival_date: from,
    departure_date: to,
    status,
    created_at: '2026-01-05T08:00:00Z',
    channel: { id: 3, name: 'Expedia' },
    total: { cents: 45_050, currency: 'GBP' },
    guest: {
      first_name: name,
      last_name: 'Okafor',
      emails: [{ address: `${name.toLowerCase()}@mail.example`, is_primary: true }],
      phones: [{ number: '07400 123456', is_primary: true }],
    },
    rooms: [{ type: 'King', rate_plan_code: 'BAR', adults: 2, children: [] }],
  });
  const book = [
    row(1, '2026-03-02', '2026-03-05', 'Due In', 'Ada'),
    row(2, '2026-03-03', '2026-03-06', 'Cancelled', 'Ben'),
    row(3, '2026-03-04', '2026-03-07', 'Departed', 'Cleo'),
  ];
  let logins = 0;
  const asked: URLSearchParams[] = [];
  const isoOf = (day: string | null) => (day ?? '').split('/').reverse().join('-');
  const baseUrl = await listen(({ url, body, headers }) => {
    const form = new URLSearchParams(body);
    if (url.pathname === '/session') {
      logins += 1;
      const right = form.get('user') === 'anna' && form.get('password') === 'harbour-pass-1';
      return right ? { json: { data: { session: { token: 't-1', expires_in: 900 } } } } : { status: 403, json: {} };
    }
    if (headers['x-session'] !== 't-1') return { status: 401, json: { message: 'no session' } };
    const page = Number(url.searchParams.get('page') ?? 1);
    if (page === 1) asked.push(form);
    const by = form.has('departure_from') ? 'departure' : 'arrival';
    const from = isoOf(form.get(`${by}_from`));
    const to = isoOf(form.get(`${by}_to`));
    const found = book.filter((one) => one[`${by}_date`] >= from && one[`${by}_date`] <= to);
    const rest = found.length > page * 2 ? `/search?page=${page + 1}` : null;
    return { json: { items: found.slice((page - 1) * 2, page * 2), links: { next: rest } } };
  });
  const search = (by: string) => ({
    method: 'POST',
    path: '/search',
    encoding: 'form',
    body: { [`${by}_from`]: '{window.from:DD/MM/YYYY}', [`${by}_to`]: '{window.to:DD/MM/YYYY}', hotel: '{brand_id}' },
  });
  const dir = await workspaceFor({
    name: 'harbourline',
    sample: { items: book, links: { next: '/search?page=2' } },
    pull: {
      request: search('arrival'),
      requests: { post_stay: search('departure') },
      pagination: { type: 'url', next: 'links.next' },
    },
    integration: {
      timezone: 'Europe/London',
      country: 'GB',
      pull: {
        base_url: baseUrl,
        auth: {
          type: 'login',
          path: '/session',
          encoding: 'form',
          body: { user: 'anna', password: 'harbour-pass-1' },
          token: 'data.session.token',
          expires_in: 'data.session.expires_in',
          header: 'X-Session',
          value: '{token}',
        },
        syncs: { post_stay: { every: '60m', range: ['-7d', '-1d'] } },
      },
    },
  });
  const done = await sync(dir, 'harbourline', '--from', '2026-03-01', '--to', '2026-03-07');
  assert.deepEqual([done.fetched, done.changed], [3, 3]);
  assert.deepEqual([asked[0]?.get('arrival_from'), asked[0]?.get('hotel')], ['01/03/2026', 'H1']);
  const status: Readonly<Record<number, string>> = { 1: 'confirmed', 2: 'cancelled', 3: 'checked_out' };
  const expected = book.map(({ id, arrival_date: from, departure_date: to, guest }) => ({
    id: String(id),
    confirmation_number: `HB-${id}`,
    check_in: from,
    check_out: to,
    booking_date: '2026-01-05',
    status: status[id] ?? '',
    channel: 'Expedia',
    total_amount: 450.5,
    currency: 'GBP',
    guests: [
      {
        first_name: guest.first_name,
        last_name: 'Okafor',
        email: `${guest.first_name.toLowerCase()}@mail.example`,
        phone: '+447400123456',
      },
    ],
    rooms: [{ room_type: 'King', rate_code: 'BAR', adults: 2 }],
    $exact: ['guests', 'rooms'],
  }));
  assert.deepEqual(judge(expected, await delivered(dir)).misses, []);
  await sync(dir, 'harbourline', '--type', 'post_stay', '--from', '2026-03-01', '--to', '2026-03-07');
  assert.equal(asked.at(-1)?.get('departure_to'), '07/03/2026');
  assert.equal(logins, 1, 'the token of the first run serves the second');
});
