import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type FaultKind,
  type FaultRule,
  faultKinds,
  faults,
  readRule,
  type SimulatorOptions,
  startSimulator,
} from '../../../packages/partner-kit/src/simulate/index.ts';

const ends: (() => Promise<unknown>)[] = [];
after(() => Promise.all(ends.map((end) => end())));
const now = () => Date.parse('2026-06-15T10:00:00Z');

async function start(options: SimulatorOptions) {
  const simulator = await startSimulator({ seed: 7, reservations: 120, now, untidy: 0, ...options });
  ends.push(() => simulator.stop());
  return simulator;
}

const week = '/api/reservations?dateFrom=2026-06-15&dateTo=2026-06-21';

/** Everything that a few requests show about an API, as one text. */
async function portrait(fault: FaultRule | undefined, options: SimulatorOptions): Promise<string> {
  const simulator = await start({
    ...options,
    auth: { type: 'bearer', token: 't' },
    faults: fault === undefined ? [] : [fault],
  });
  const { id } =
    simulator.hotel.list(
      (one) => one.checkIn <= '2026-06-21' && one.checkOut >= '2026-06-15' && one.charges.length > 0,
    )[0] ?? {};
  const patienceMs = fault?.kind === 'slow' || fault?.kind === 'hang' ? 40 : 5_000;
  const seen: string[] = [];
  let cursor = '';
  for (const path of [
    `${week}&limit=20`,
    `${week}&limit=20&offset=20`,
    `${week}&limit=1000`,
    `${week}&status=checked-in`,
    `/api/reservations/${id}`,
    '/api/reservations/none',
    '/api/reservations',
    '/api/reservations?dateFrom=x&dateTo=y',
  ]) {
    for (const authorization of ['Bearer t', 'Bearer x']) {
      try {
        const response = await fetch(`${simulator.baseUrl}${path}${cursor}`, {
          headers: { authorization },
          redirect: 'manual',
          signal: AbortSignal.timeout(patienceMs),
        });
        const head = `${response.status} ${response.headers.get('content-type')} ${response.headers.get('retry-after')}`;
        seen.push(`${head} ${Buffer.from(await response.arrayBuffer()).toString('latin1')}`);
        const next = /"next_cursor":"([^"]+)"/.exec(seen.at(-1) ?? '')?.[1];
        cursor = next !== undefined && path.includes('limit=20') ? `&cursor=${next}` : '';
      } catch (error) {
        seen.push(`failed ${(error as Error).name}`);
      }
    }
  }
  await simulator.stop();
  return seen.join('\n');
}

test('every fault is visible, and none without a rule', async () => {
  const usual: SimulatorOptions = { paging: 'offset' };
  const plain = await portrait(undefined, usual);
  assert.equal(await portrait(undefined, usual), plain, 'the same without a fault');
  for (const kind of faultKinds) {
    const options: SimulatorOptions = kind === 'cursor_loop' ? { paging: 'cursor' } : usual;
    const good = kind === 'cursor_loop' ? await portrait(undefined, options) : plain;
    const value = kind === 'slow' ? { value: 1_000 } : {};
    assert.notEqual(await portrait({ kind, ...value }, options), good, kind);
    assert.ok(faults[kind].what.length > 5, kind);
  }
});

test('every accident is in all rows, and unknown ones are refused', async () => {
  const simulator = await start({});
  const rows = async () =>
    ((await (await fetch(`${simulator.baseUrl}${week}&limit=50`)).json()) as { reservations: Row[] }).reservations;
  type Row = { total_amount: number; check_in: string; status: string; guests: { [field: string]: string }[] };
  const right = await rows();
  const wrong = async (of: string) => {
    const rule = readRule({ kind: 'accident', of, times: 1 });
    assert.ok('kind' in rule, of);
    simulator.faults.set([rule]);
    return rows();
  };
  const guests = (all: readonly Row[]) => all.flatMap((row) => row.guests ?? []);
  const had = guests(right).map(({ email }) => email);
  assert.deepEqual(
    guests(await wrong('rename:email')).map(({ mail }) => mail),
    had,
  );
  assert.deepEqual(guests(await wrong('lose:guests')), []);
  const amounts = (all: readonly Row[]) => all.map(({ total_amount }) => Math.round(total_amount));
  assert.deepEqual(
    amounts(await wrong('factor:100')),
    amounts(right.map((row) => ({ ...row, total_amount: row.total_amount * 100 }))),
  );
  assert.ok(
    (await wrong('shift:1')).every(
      ({ check_in }, n) => Date.parse(check_in) - Date.parse(right[n]?.check_in ?? '') === 86_400_000,
    ),
  );
  assert.ok((await wrong('status:cancelled')).every(({ status }) => status === 'cancelled'));
  assert.ok(
    guests(await wrong('constant:last_name')).every(({ last_name = 'Mustermann' }) => last_name === 'Mustermann'),
  );
  assert.ok(guests(await wrong('mask:last_name')).every(({ last_name = '****' }) => last_name.endsWith('****')));
  assert.deepEqual(await rows(), right, 'afterwards the answers are right again');
  for (const what of ['rename', 'factor:much', 'burn:email'])
    assert.ok('wrong' in readRule({ kind: 'accident', of: what }), what);
});

test('a fault occurs a number of times, by chance, or on one call', async () => {
  const simulator = await start({ faults: [{ kind: 'server_error', times: 2, on: 'list', value: 503 }] });
  const get = async (path = week) => (await fetch(`${simulator.baseUrl}${path}`)).status;
  assert.equal(await get('/api/reservations/none'), 404);
  assert.deepEqual([await get(), await get(), await get()], [503, 503, 200]);
  assert.deepEqual(simulator.faults.rules, []);
  simulator.faults.set([{ kind: 'rate_limit', chance: 0.5 }]);
  const drawn: number[] = [];
  for (let i = 0; i < 60; i += 1) drawn.push(await get());
  const limited = drawn.filter((status) => status === 429).length;
  assert.ok(limited > 15 && limited < 45, `${limited} of 60`);
  assert.equal(simulator.stats.faults.rate_limit, limited);
});

test('the same seed produces the same faults', async () => {
  const draw = async () => {
    const { baseUrl } = await start({ faults: [{ kind: 'server_error', chance: 0.4 }] });
    const drawn: number[] = [];
    for (let i = 0; i < 20; i += 1) drawn.push((await fetch(`${baseUrl}${week}`)).status);
    return drawn;
  };
  assert.deepEqual(await draw(), await draw());
});

test('a list shifts under offset paging: the last row of a page appears again', async () => {
  const { baseUrl } = await start({ faults: [{ kind: 'shift' }] });
  const ids = async (offset: number) => {
    const body = (await (await fetch(`${baseUrl}${week}&limit=10&offset=${offset}`)).json()) as {
      reservations: { id: string }[];
      total: number;
    };
    return { ids: body.reservations.map(({ id }) => id), total: body.total };
  };
  const [first, second] = [await ids(0), await ids(10)];
  assert.equal(second.ids[0], first.ids[9]);
  assert.equal(second.total, first.total + 1);
});

test('the rate limit accepts requests after Retry-After', async () => {
  let nowMs = now();
  const { baseUrl } = await start({ rateLimit: { requests: 2, perSeconds: 10 }, now: () => nowMs });
  const get = () => fetch(`${baseUrl}${week}&limit=1`);
  await get();
  nowMs += 4_000;
  await get();
  const refused = await get();
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '6']);
  nowMs += 6_000;
  assert.equal((await get()).status, 200);
});

test('the admin calls change reservations, faults and time', async () => {
  const simulator = await start({ faults: [] });
  const { baseUrl, hotel } = simulator;
  const call = async (method: string, path: string, body?: object, type = 'application/json') => {
    const response = await fetch(`${baseUrl}/_sim/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const [one] = hotel.list(({ status, checkIn }) => status === 'confirmed' && checkIn > '2026-06-16');
  const id = one?.id ?? '';
  assert.equal(
    (await call('POST', `reservations/${id}/change`, { kind: 'move', check_in: '2026-07-01', check_out: '2026-07-04' }))
      .body.event,
    'reservation.updated',
  );
  assert.deepEqual([hotel.find(id)?.checkIn, hotel.find(id)?.rooms[0]?.endDate], ['2026-07-01', '2026-07-04']);
  await call('POST', `reservations/${id}/change`, {
    kind: 'guest',
    profile: true,
    set: { phone: '+351910000000', marketing_consent: false },
  });
  assert.equal(hotel.guest(one?.guestIds[0] ?? '')?.phone, '+351910000000');
  for (const wrong of [
    { kind: 'explode' },
    { kind: 'move', check_in: 'x' },
    { kind: 'guest', set: { __proto__: 1, shoe: 'x' } },
    { kind: 'extend', nights: 0.5 },
  ]) {
    assert.equal((await call('POST', `reservations/${id}/change`, wrong)).status, 400, JSON.stringify(wrong));
  }
  assert.equal((await call('POST', `reservations/${id}/change`, { kind: 'cancel' }, 'text/plain')).status, 415);
  assert.equal((await call('POST', 'reservations/R0/change', { kind: 'cancel' })).status, 409);
  assert.equal((await call('POST', 'advance', { changes: 5 })).body.changes, 5);
  const before = hotel.today('LIS01');
  await call('POST', 'advance', { days: 2 });
  assert.deepEqual([before, hotel.today('LIS01')], ['2026-06-15', '2026-06-17']);
  assert.equal((await call('POST', 'faults', { kind: 'no such' })).status, 400);
  await call('POST', 'faults', { kind: 'server_error' satisfies FaultKind });
  assert.equal((await fetch(`${baseUrl}${week}`)).status, 500);
  await call('DELETE', 'faults', {});
  assert.equal((await fetch(`${baseUrl}${week}`)).status, 200);
  const found = await call('GET', `reservations?search=${id}`);
  assert.equal((found.body.reservations as unknown as unknown[]).length, 1);
  const page = await (await fetch(`${baseUrl}/_sim/`)).text();
  assert.match(page, /Simulated hotel/);
  assert.doesNotMatch(page, /https?:\/\/[a-z]/, 'nothing comes from elsewhere');
  const { lines } = (await call('GET', 'state')).body as unknown as { lines: { kind: string; what?: string }[] };
  assert.ok(lines.some(({ kind, what }) => kind === 'change' && what === 'moved to 2026-07-01, 2026-07-04'));
});
