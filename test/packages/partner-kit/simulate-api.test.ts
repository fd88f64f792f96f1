import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type SimulatorOptions, startSimulator } from '../../../packages/partner-kit/src/simulate/index.ts';

const now = () => Date.parse('2026-06-15T10:00:00Z');
const open: { stop(): Promise<void> }[] = [];
after(() => Promise.all(open.map((one) => one.stop())));

async function start(options: SimulatorOptions = {}) {
  const simulator = await startSimulator({ seed: 7, reservations: 400, now, ...options });
  open.push(simulator);
  return simulator;
}

interface Envelope {
  readonly reservations: Record<string, unknown>[];
  readonly rows: Record<string, unknown>[];
  readonly total: number;
  readonly page: number;
  readonly page_size: number;
  readonly next_cursor?: string;
}

async function get(baseUrl: string, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${baseUrl}${path}`, { headers });
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Envelope & { error?: { code: string } },
  };
}

const week = 'dateFrom=2026-06-15&dateTo=2026-06-21';

test('the list returns complete reservations whose stay overlaps the range', async () => {
  const { baseUrl, hotel } = await start();
  const { status, body } = await get(baseUrl, `/api/reservations?${week}&limit=1000`);
  assert.equal(status, 200);
  const expected = hotel.list((one) => one.checkIn <= '2026-06-21' && one.checkOut >= '2026-06-15').map(({ id }) => id);
  assert.ok(expected.length > 50, `a first pull should bring more than 50, not ${expected.length}`);
  assert.deepEqual(body.reservations.map(({ id }) => id).sort(), expected.sort());
  assert.equal(body.total, expected.length);
  const [first = {}] = body.reservations;
  assert.deepEqual(Object.keys(first), [
    'id',
    'confirmation_number',
    'check_in',
    'check_out',
    'booking_date',
    'status',
    'channel',
    'source',
    'total_amount',
    'currency',
    'guests',
    'rooms',
    'charges',
  ]);
  assert.deepEqual(Object.keys((first.rooms as object[])[0] ?? {}), [
    'room_type',
    'board',
    'rate_code',
    'start_date',
    'end_date',
    'adults',
    'children',
  ]);
  assert.deepEqual(Object.keys((first.charges as object[])[0] ?? {}), ['code', 'description', 'amount', 'quantity']);
});

test('missing, malformed or reversed dates are refused with 400', async () => {
  const { baseUrl } = await start();
  for (const [query, code] of [
    ['', 'missing_parameter'],
    ['dateFrom=2026-06-15', 'missing_parameter'],
    ['dateTo=2026-06-15', 'missing_parameter'],
    ['dateFrom=15/06/2026&dateTo=2026-06-21', 'malformed_date'],
    ['dateFrom=2026-02-29&dateTo=2026-03-01', 'malformed_date'],
    ['dateFrom=2026-06-21&dateTo=2026-06-15', 'invalid_range'],
    [`${week}&status=sleeping`, 'invalid_status'],
    [`${week}&limit=0`, 'invalid_paging'],
    [`${week}&offset=-1`, 'invalid_paging'],
  ] as const) {
    const { status, body } = await get(baseUrl, `/api/reservations?${query}`);
    assert.equal(status, 400, query);
    assert.equal(body.error?.code, code, query);
  }
});

test('status filters the list in either spelling', async () => {
  const { baseUrl } = await start();
  for (const status of ['checked-in', 'checked_in']) {
    const { body } = await get(baseUrl, `/api/reservations?${week}&status=${status}`);
    assert.ok(body.reservations.length > 0);
    assert.deepEqual([...new Set(body.reservations.map((one) => one.status))], ['checked-in']);
  }
});

test('a single reservation equals the one in the list; an unknown id is 404', async () => {
  const { baseUrl } = await start();
  const { body } = await get(baseUrl, `/api/reservations?${week}&limit=1`);
  const [listed = {}] = body.reservations;
  const single = await get(baseUrl, `/api/reservations/${listed.id}`);
  assert.deepEqual(single.body, listed);
  assert.equal((await get(baseUrl, '/api/reservations/R1')).status, 404);
  assert.equal((await get(baseUrl, '/api/rooms')).status, 404);
});

test('the POST search returns the same as the list, with the requested parts', async () => {
  const { baseUrl } = await start();
  const search = async (body: object) => {
    const response = await fetch(`${baseUrl}/api/reservations/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Envelope };
  };
  const dates = { date_from: '2026-06-15', date_to: '2026-06-21' };
  const listed = await get(baseUrl, `/api/reservations?${week}`);
  assert.deepEqual((await search({ ...dates, property_id: 'LIS01' })).body, listed.body);
  const narrow = await search({ ...dates, include: ['guests'], status: ['checked_in', 'confirmed'], limit: 5 });
  assert.equal(narrow.body.reservations.length, 5);
  for (const one of narrow.body.reservations)
    assert.deepEqual([one.rooms, one.charges, Array.isArray(one.guests)], [undefined, undefined, true]);
  assert.equal((await search({ date_from: '2026-06-15' })).status, 400);
  assert.equal((await search({ ...dates, property_id: 'NOWHERE' })).status, 400);
});

for (const shape of ['wrapped', 'bare', 'flat'] as const) {
  for (const paging of ['offset', 'page', 'cursor', 'link'] as const) {
    if (shape === 'bare' && paging === 'cursor') continue;
    test(`${shape} lists in ${paging} pages are complete and without repetition`, async () => {
      const { baseUrl, hotel } = await start({ shape, paging });
      const seen: string[] = [];
      let next: string | undefined = `/api/reservations?${week}&limit=17`;
      for (let page = 1; next !== undefined; page += 1) {
        const { body, headers } = await get(baseUrl, next);
        const records = (shape === 'bare' ? body : shape === 'flat' ? body.rows : body.reservations) as Record<
          string,
          unknown
        >[];
        seen.push(
          ...records.map((one) =>
            shape === 'flat' ? `${one.res_no} ${one.guest_id} ${one.room_no} ${one.line_no}` : String(one.id),
          ),
        );
        if (paging === 'offset')
          next = records.length < 17 ? undefined : `/api/reservations?${week}&limit=17&offset=${page * 17}`;
        else if (paging === 'page')
          next = records.length < 17 ? undefined : `/api/reservations?${week}&limit=17&page=${page + 1}`;
        else if (paging === 'cursor')
          next = body.next_cursor && `/api/reservations?${week}&limit=17&cursor=${body.next_cursor}`;
        else next = /<http:\/\/[^/]+([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
        assert.ok(page < 100);
      }
      assert.equal(new Set(seen).size, seen.length, 'each once');
      const ids = hotel.list((one) => one.checkIn <= '2026-06-21' && one.checkOut >= '2026-06-15').map(({ id }) => id);
      assert.deepEqual([...new Set(seen.map((key) => key.split(' ')[0]))].sort(), ids.sort());
    });
  }
}

test('the same seed gives the same hotel and the same changes; another seed others', async () => {
  const [one, two, other] = [await start({ seed: 'a' }), await start({ seed: 'a' }), await start({ seed: 'b' })];
  const live = ({ hotel }: typeof one) => [
    hotel.advance(40).map(({ event, what }) => `${event} ${what}`),
    hotel.list(),
  ];
  const first = live(one);
  assert.deepEqual(live(two), first);
  assert.notDeepEqual(live(other), first);
});

test('all reservations are plausible after ten simulated weeks', async () => {
  const simulator = await start({ reservations: 150 });
  for (let week = 0; week < 10; week += 1) {
    simulator.hotel.advance(30);
    simulator.passDays(7);
  }
  const today = simulator.hotel.today('LIS01');
  assert.equal(today, '2026-08-24');
  for (const one of simulator.hotel.list()) {
    assert.ok(one.checkOut >= one.checkIn, one.id);
    assert.ok(
      one.status !== 'checked_in' || (one.checkIn <= today && one.checkOut >= today),
      `${one.id} is in house outside its dates`,
    );
    assert.ok(one.status !== 'confirmed' || one.checkIn >= today, `${one.id} did not arrive and is not a no-show`);
  }
});
