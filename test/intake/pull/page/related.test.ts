import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchSingle } from '../../../../src/core/intake/pull/request/single.ts';
import { executeRun } from '../../../../src/core/intake/pull/run/execution.ts';
import type { IntegrationName } from '../../../../src/terms.ts';
import type { Asked, Reply, ScriptedPartner } from '../support/partner.ts';
import { sync } from '../support/runtime.ts';
import { setUpPulls } from '../support/set-up.ts';

/** A partner whose list names guests and rooms by id; each is fetched by a separate request. */
const { runtime, partnerOf: opened } = setUpPulls();

const day = { from: '2026-03-01', to: '2026-03-01' };

/** Reservation i is booked by guest i modulo 5, in room type 1 or 2, which the guest's profile names. */
const rows = Array.from({ length: 8 }, (_, i) => ({
  id: `R${i + 1}`,
  check_in: '2026-03-01',
  check_out: '2026-03-03',
  status: 'confirmed',
  guest_ids: [`g${i % 5}`],
}));
const guestOf = (id: string) => ({ id, first: 'Ana', last: `Example ${id}`, favourite: Number(id.slice(1)) % 2 });
const typeOf = (id: number) => ({ id, code: id === 0 ? 'DBL' : 'SUITE' });

const connector = {
  shape: { root_path: 'reservations', single_path: 'reservation' },
  map: {
    guests: {
      from: 'guest_ids',
      join: { in: '$body.guests', key: 'id', by: '$item' },
      fields: { guest_id: 'id', first_name: 'first', last_name: 'last' },
    },
    rooms: {
      from: 'guest_ids',
      join: { in: '$body.guests', key: 'id', by: '$item' },
      fields: { room_type: { lookup: { in: '$body.types', key: 'id', by: 'favourite', value: 'code' } } },
    },
  },
  pull: {
    pagination: { type: 'none' },
    single: { path: '/api/reservations/{id}' },
    related: [
      { name: 'guests', ids: 'guest_ids', path: '/guests', query: { id: '{ids}' }, chunk: 3 },
      {
        name: 'types',
        ids: { table: 'guests', path: 'favourite' },
        method: 'POST',
        path: '/types/{brand_id}',
        body: { wanted: { ids: '{ids}' }, as_text: '{ids.joined}' },
        root_path: 'data.types',
      },
    ],
  },
};

type Override = (asked: Asked) => Reply | undefined | Promise<Reply | undefined>;

async function partnerOf(override: Override = () => undefined): Promise<ScriptedPartner> {
  const partner = await opened(async (asked): Promise<Reply> => {
    const own = await override(asked);
    if (own !== undefined) return own;
    if (asked.path === '/guests') return { json: asked.query.getAll('id').map(guestOf) };
    if (asked.path === '/types/LIS01') {
      const { wanted } = JSON.parse(asked.body) as { wanted: { ids: number[] } };
      return { json: { data: { types: wanted.ids.map(typeOf) } } };
    }
    if (asked.path.startsWith('/api/reservations/')) return { json: { reservation: rows[0] } };
    return { json: { reservations: rows } };
  });
  return partner;
}

let made = 0;
async function pulled(override?: Override, pull: Record<string, unknown> = {}) {
  const partner = await partnerOf(override);
  const integration = `related${++made}`;
  const ports = runtime.ports({ integration, baseUrl: partner.url, connector, pull });
  const result = await sync(ports, integration, day);
  return { partner, integration, ports, result, stored: await runtime.stored(integration) };
}

const nameOf = (data: unknown) => (data as { guests: { last_name?: string }[] }).guests[0]?.last_name;
const roomOf = (data: unknown) => (data as { rooms: { room_type?: string }[] }).rooms[0]?.room_type;
const asksFor = (path: string) => (partner: ScriptedPartner) => partner.requests.filter((asked) => asked.path === path);
const guestAsks = asksFor('/guests');

test('chunks are requested at the same time only where the rate is declared', async () => {
  for (const isDeclared of [true, false]) {
    const second = Promise.withResolvers<void>();
    let open = 0;
    let most = 0;
    const rate = { rate: { requests: 100, per: '1s', burst: 10 } };
    const { partner, result, stored } = await pulled(
      async ({ path }) => {
        if (path !== '/guests') return undefined;
        most = Math.max(most, ++open);
        if (open === 2) second.resolve();
        if (isDeclared) await second.promise;
        open--;
        return undefined;
      },
      { ...(isDeclared && rate), timeouts: { idle: '2s', total: '2s' } },
    );
    assert.deepEqual([result.state, guestAsks(partner).length, most], ['complete', 2, isDeclared ? 2 : 1]);
    assert.ok(stored.every(({ id, data }) => nameOf(data) === `Example g${(Number(id.slice(1)) - 1) % 5}`));
  }
});

test('related rows are fetched in chunks, each id once, and joined', async () => {
  const { partner, result, stored } = await pulled();
  assert.equal(result.state, 'complete', JSON.stringify(result));
  assert.deepEqual(
    partner.requests.map(({ method, pathQuery }) => `${method} ${pathQuery}`),
    [
      'GET /api/reservations?dateFrom=2026-03-01&dateTo=2026-03-01',
      'GET /guests?id=g0&id=g1&id=g2',
      'GET /guests?id=g3&id=g4',
      'POST /types/LIS01',
    ],
  );
  assert.equal(partner.requests[3]?.body, '{"wanted":{"ids":[0,1]},"as_text":"0,1"}');
  assert.equal(result.counters.requests, 4);
  const { rows: logged } = await runtime.pool.query('select tries from run_pages where run_id = $1', [result.runId]);
  assert.deepEqual(logged, [{ tries: 4 }], 'the page’s log counts them too');
  assert.deepEqual(
    stored.map(({ data }) => [nameOf(data), roomOf(data)]),
    rows.map(({ guest_ids: [id = ''] }) => [`Example ${id}`, Number(id.slice(1)) % 2 === 0 ? 'DBL' : 'SUITE']),
  );
});

test('a change in a related row changes the reservation', async () => {
  let last = 'Example';
  const { ports, integration, result } = await pulled(({ path, query }) =>
    path === '/guests'
      ? { json: query.getAll('id').map((id) => ({ ...guestOf(id), last: `${last} ${id}` })) }
      : undefined,
  );
  assert.equal(result.counters.changed, 8);
  assert.equal((await sync(ports, integration, day)).counters.changed, 0);
  last = 'Married';
  assert.equal((await sync(ports, integration, day)).counters.changed, 8);
});

test('an unknown id leaves its fields empty and does not end the run', async () => {
  const { result, stored } = await pulled(({ path, query }) =>
    path === '/guests' ? { json: query.getAll('id').flatMap((id) => (id === 'g1' ? [] : [guestOf(id)])) } : undefined,
  );
  assert.deepEqual([result.state, stored.length, result.counters.dead], ['complete', 8, 0]);
  assert.deepEqual(
    stored.slice(0, 3).map(({ data }) => nameOf(data)),
    ['Example g0', undefined, 'Example g2'],
  );
});

test('a chunk that is too large is halved', async () => {
  const { partner, result, stored } = await pulled(({ path, query }) =>
    path === '/guests' && query.getAll('id').length > 1 ? { status: 413, json: {} } : undefined,
  );
  assert.equal(result.state, 'complete', JSON.stringify(result));
  assert.equal(guestAsks(partner).filter(({ query }) => query.getAll('id').length === 1).length, 5);
  assert.equal(nameOf(stored[4]?.data), 'Example g4');
});

test('404 for a single id means no rows; for several ids, a wrong path', async () => {
  const several = await pulled(({ path }) => (path === '/guests' ? { status: 404, json: {} } : undefined));
  assert.deepEqual([several.result.error?.code, several.stored.length], ['pull.not_found', 0]);
  const alone = await pulled(({ path, query }) => {
    if (path !== '/guests') return undefined;
    if (query.getAll('id').length > 1) return { status: 413, json: {} };
    return query.get('id') === 'g1' ? { status: 404, json: {} } : undefined;
  });
  assert.deepEqual([alone.result.state, alone.stored.length], ['complete', 8]);
});

test('a related table that fails ends the run like a page, and the page is not stored', async () => {
  const cases: [Reply, string][] = [
    [{ status: 500, json: {} }, 'pull.server_error'],
    [{ status: 401, json: {} }, 'pull.auth_failed'],
    [{ json: { error: 'maintenance' } }, 'pull.error_in_answer'],
    [{ json: { rows: [] } }, 'pull.wrong_shape'],
    [{ raw: '<html>' }, 'pull.not_json'],
  ];
  for (const [reply, code] of cases) {
    const { result, stored } = await pulled(({ path }) => (path === '/guests' ? reply : undefined));
    assert.deepEqual([result.state, result.error?.code, stored.length], ['failed', code, 0]);
  }
  const bare = await pulled(({ path }) => (path === '/api/reservations' ? { json: rows } : undefined));
  assert.equal(bare.result.error?.code, 'pull.wrong_shape');
});

test('a failed chunk is retried; a page stopped between two chunks is requested again', async () => {
  let failed = false;
  const once = await pulled(({ path }) => {
    if (path !== '/guests' || failed) return undefined;
    failed = true;
    return 'cut';
  });
  assert.deepEqual([once.result.state, once.result.counters.retries], ['complete', 1]);

  const stopping = new AbortController();
  const partner = await partnerOf(({ path, query }) => {
    if (path !== '/guests' || query.get('id') !== 'g3' || stopping.signal.aborted) return undefined;
    stopping.abort();
    return 'hang';
  });
  const integration = 'stopped' as IntegrationName;
  const ports = runtime.ports({ integration, baseUrl: partner.url, connector });
  const queued = await ports.runs.queue({ integration, kind: 'backfill', requestedBy: 'test', ...day });
  assert.ok(queued.kind === 'queued');
  const work = async (node: string, signal?: AbortSignal) => {
    const run = await ports.runs.claim(integration, queued.run.runId, node, 60_000);
    assert.ok(run);
    return executeRun({ ...ports, node }, run, { parkable: true, ...(signal && { signal }) });
  };
  assert.equal((await work('a', stopping.signal)).kind, 'stopped');
  assert.equal((await runtime.stored(integration)).length, 0);
  const outcome = await work('b');
  assert.ok(outcome.kind === 'finished');
  assert.deepEqual([outcome.end.state, outcome.counters.fetched, outcome.counters.changed], ['complete', 8, 8]);
  assert.equal((await runtime.stored(integration)).length, 8);
});

test('a related table that keeps answering 429 ends the run after ten waits, parked or not', async () => {
  const partner = await partnerOf(({ path }) =>
    path === '/guests' ? { status: 429, headers: { 'retry-after': '60' }, json: {} } : undefined,
  );
  const integration = 'limited' as IntegrationName;
  const ports = runtime.ports({ integration, baseUrl: partner.url, connector });
  const queued = await ports.runs.queue({ integration, kind: 'backfill', requestedBy: 'test', ...day });
  assert.ok(queued.kind === 'queued');
  for (let parked = 0; ; parked++) {
    assert.ok(parked <= 10);
    const run = await ports.runs.claim(integration, queued.run.runId, 'test', 60_000);
    assert.ok(run);
    const outcome = await executeRun(ports, run, { parkable: true });
    if (outcome.kind !== 'finished') {
      await runtime.pool.query('update partner_accounts set retry_at = null where integration = $1', [integration]);
      continue;
    }
    assert.deepEqual([outcome.end.state, outcome.end.code], ['failed', 'pull.rate_limited']);
    break;
  }
  assert.equal(guestAsks(partner).length, 11);
});

test('a single reservation has its related tables too', async () => {
  const partner = await partnerOf();
  const ports = runtime.ports({ integration: 'one', baseUrl: partner.url, connector });
  const single = await fetchSingle(ports, 'one' as IntegrationName, 'R1');
  assert.ok(single.kind === 'found');
  assert.deepEqual(single.body, { reservation: rows[0], guests: [guestOf('g0')], types: [typeOf(0)] });
});

test('a bare list has related tables, also those whose rows do not repeat the requested id', async () => {
  const partner = await opened(({ path }) => {
    const [, id] = /^\/api\/reservations\/(R\d)\/guests$/.exec(path) ?? [];
    if (id !== undefined) return { json: { people: [{ last: `Guest of ${id}` }] } };
    return { json: path === '/api/reservations' ? rows : rows.slice(0, 1) };
  });
  const of = (related: object) => ({
    map: { guests: { join: { in: '$body.people', key: 'reservation', by: 'id' }, fields: { last_name: 'last' } } },
    shape: { single_path: '[0]' },
    pull: { pagination: { type: 'none' }, single: { path: '/api/reservations/{id}' }, related: [related] },
  });
  const people = { name: 'people', ids: 'id', path: '/api/reservations/{ids}/guests', chunk: 1, id_as: 'reservation' };
  const ports = runtime.ports({ integration: 'bare', baseUrl: partner.url, connector: of(people) });
  const result = await sync(ports, 'bare', day);
  assert.deepEqual([result.state, result.counters.dead], ['complete', 0], JSON.stringify(result));
  const names = rows.map(({ id }) => `Guest of ${id}`);
  assert.deepEqual(
    (await runtime.stored('bare')).map(({ data }) => nameOf(data)),
    names,
  );
  const single = await fetchSingle(ports, 'bare' as IntegrationName, 'R1');
  assert.ok(single.kind === 'found', JSON.stringify(single));
  assert.deepEqual((single.record.body as { people: unknown }).people, [{ last: 'Guest of R1', reservation: 'R1' }]);
  assert.equal((await sync(ports, 'bare', day)).counters.changed, 0);
});

test('a booking that leaves the list is requested with its related tables', async () => {
  let isListed = true;
  const moved = { ...rows[0], check_in: '2026-03-02', check_out: '2026-03-04', guest_ids: ['g1'] };
  const { ports, integration } = await pulled(({ path }) => {
    if (path === '/api/reservations') return { json: { reservations: isListed ? rows : rows.slice(1) } };
    return path === '/api/reservations/R1' ? { json: { reservation: moved } } : undefined;
  });
  isListed = false;
  const result = await sync(ports, integration, { from: '2026-03-01', to: '2026-03-07' });
  assert.equal(result.state, 'complete', JSON.stringify(result));
  const found = (await runtime.stored(integration)).find(({ id }) => id === 'R1')?.data;
  assert.deepEqual([found?.check_in, nameOf(found), roomOf(found)], ['2026-03-02', 'Example g1', 'SUITE']);
});

test('a table without ids is requested whole, once per run, and an answer may itself be the row', async () => {
  const book = rows.map((row, i) => ({ ...row, type: i % 2 }));
  const partner = await opened(({ path, query }): Reply => {
    if (path === '/types') return { json: { types: [typeOf(0), typeOf(1)] } };
    if (path.startsWith('/guests/')) return { json: guestOf(path.slice(8)) };
    return { json: { reservations: book.slice(Number(query.get('offset')), Number(query.get('offset')) + 4) } };
  });
  const whole = {
    ...connector,
    map: {
      ...connector.map,
      rooms: {
        from: '$item',
        fields: { room_type: { lookup: { in: '$body.types', key: 'id', by: 'type', value: 'code' } } },
      },
    },
    pull: {
      pagination: { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: 4 },
      related: [
        { name: 'types', path: '/types' },
        { name: 'guests', ids: 'guest_ids', path: '/guests/{ids}', chunk: 1, root_path: '$item' },
      ],
    },
  };
  const ports = runtime.ports({ integration: 'whole', baseUrl: partner.url, connector: whole });
  assert.equal((await sync(ports, 'whole', day)).state, 'complete');
  assert.equal(partner.requests.filter(({ path }) => path === '/types').length, 1);
  const stored = (await runtime.stored('whole')).map(({ data }) => {
    const { guests, rooms } = data as { guests: { last_name: string }[]; rooms: { room_type: string }[] };
    return [guests[0]?.last_name, rooms[0]?.room_type];
  });
  assert.deepEqual(stored.slice(0, 2), [
    ['Example g0', 'DBL'],
    ['Example g1', 'SUITE'],
  ]);
});
