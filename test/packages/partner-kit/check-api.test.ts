import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type ApiCheckOptions, apiRules, checkApi } from '../../../packages/partner-kit/src/check/api.ts';
import type { CheckAuth } from '../../../packages/partner-kit/src/check/auth.ts';
import {
  type FaultRule,
  type SimulatorOptions,
  startSimulator,
} from '../../../packages/partner-kit/src/simulate/index.ts';

const ends: (() => Promise<unknown>)[] = [];
after(() => Promise.all(ends.map((end) => end())));
const bearer = { type: 'bearer', token: 't0p-secret' } as const;

async function check(simulated: SimulatorOptions = {}, checked: Partial<ApiCheckOptions> = {}) {
  const simulator = await startSimulator({
    seed: 7,
    reservations: 220,
    untidy: 0,
    now: () => Date.parse('2026-06-15T10:00:00Z'),
    auth: bearer,
    ...simulated,
  });
  ends.push(() => simulator.stop());
  const waits: number[] = [];
  const report = await checkApi({
    baseUrl: simulator.baseUrl,
    auth: bearer,
    from: '2026-06-13',
    to: '2026-06-19',
    intervalMs: 0,
    wait: async (ms) => {
      waits.push(ms);
    },
    ...checked,
  });
  await simulator.stop();
  return { report, waits, simulator };
}

function notHeld({
  rules,
}: {
  readonly rules: readonly { readonly id: string; readonly outcome: string }[];
}): string[] {
  return rules.filter(({ outcome }) => outcome === 'fail' || outcome === 'advice').map(({ id }) => id);
}

/** Each fault breaks one rule, and the check must report exactly this rule. */
const broken: readonly (readonly [FaultRule, readonly string[], SimulatorOptions?])[] = [
  [{ kind: 'open_door' }, ['auth.refuses']],
  [{ kind: 'forbidden_for_unauthorized' }, ['auth.refuses']],
  [{ kind: 'unauthorized_html' }, ['answers.json_type']],
  [{ kind: 'accepts_missing_dates' }, ['list.missing_dates']],
  [{ kind: 'accepts_malformed_dates' }, ['list.malformed_dates']],
  // One fault that two calls show.
  [{ kind: 'error_for_bad_request' }, ['list.missing_dates', 'list.malformed_dates']],
  [{ kind: 'ignores_range' }, ['list.range']],
  [{ kind: 'ignores_status' }, ['list.status']],
  [{ kind: 'unknown_id_found' }, ['single.unknown']],
  [{ kind: 'thin_single' }, ['single.complete']],
  [{ kind: 'no_single' }, []],
  [{ kind: 'text_plain' }, ['answers.json_type']],
  [{ kind: 'latin1' }, ['answers.utf8']],
  [{ kind: 'trailing_comma' }, ['answers.valid_json']],
  [{ kind: 'rate_limit_silent', times: 1 }, ['answers.retry_after']],
  [{ kind: 'rate_limit_date', times: 1 }, ['answers.retry_after']],
  [{ kind: 'rate_limit', times: 1 }, []],
  [{ kind: 'server_error', times: 1 }, ['answers.stable']],
  [{ kind: 'reset', times: 1 }, ['answers.stable']],
  [{ kind: 'truncate', times: 1 }, ['answers.stable']],
  [{ kind: 'no_array', times: 1 }, ['list.answers']],
  [{ kind: 'cap_limit' }, ['paging.limit']],
  [{ kind: 'first_page_only' }, ['paging.advances']],
  [{ kind: 'first_page_only' }, ['paging.advances'], { paging: 'cursor' }],
  [{ kind: 'endless' }, ['paging.ends']],
  [{ kind: 'duplicate' }, ['paging.once']],
  // A list that changes while it is read is not a fault of the API.
  [{ kind: 'shift' }, []],
  [{ kind: 'cursor_loop' }, ['paging.ends'], { paging: 'cursor', maxLimit: 30 }],
  [{ kind: 'wrong_total' }, ['paging.total']],
  [{ kind: 'no_guests', on: 'list' }, ['record.guests']],
  [{ kind: 'no_rooms', on: 'list' }, ['record.rooms']],
  [{ kind: 'no_charges', on: 'list' }, ['record.charges']],
  [{ kind: 'no_confirmation', on: 'list' }, ['record.confirmation_number']],
  [{ kind: 'numeric_id' }, ['record.id']],
  [{ kind: 'dates_dmy' }, ['record.check_in']],
  [{ kind: 'dates_with_time' }, ['record.check_out']],
  [{ kind: 'booking_date_epoch' }, ['record.booking_date']],
  [{ kind: 'reversed_stay' }, ['record.stay']],
  [{ kind: 'foreign_status' }, ['record.status']],
  [{ kind: 'amount_text' }, ['record.total_amount']],
  [{ kind: 'currency_sign' }, ['record.currency']],
  [{ kind: 'phone_local' }, ['guests.phone']],
  [{ kind: 'email_broken' }, ['guests.email']],
  [{ kind: 'birthday_dmy' }, ['guests.date_of_birth']],
  [{ kind: 'nationality_alpha3' }, ['guests.nationality']],
  [{ kind: 'consent_text' }, ['guests.marketing_consent']],
  [{ kind: 'adults_text' }, ['rooms.adults']],
  [{ kind: 'room_dates_dmy' }, ['rooms.start_date']],
  [{ kind: 'charge_text' }, ['charges.amount']],
  [{ kind: 'quantity_fraction' }, ['charges.quantity']],
];

for (const [fault, expected, options] of broken) {
  test(`${fault.kind}${options?.paging === undefined ? '' : ` (${options.paging})`}: ${expected.join(' and ') || 'nothing'} is named`, async () => {
    const { report, simulator } = await check({ faults: [fault], ...options });
    assert.deepEqual(
      notHeld(report),
      expected,
      JSON.stringify(
        report.rules.filter(({ outcome }) => outcome === 'fail' || outcome === 'advice'),
        null,
        1,
      ),
    );
    assert.ok((simulator.stats.faults[fault.kind] ?? 0) > 0);
    for (const rule of report.rules)
      assert.equal(rule.change !== undefined, rule.outcome === 'fail' || rule.outcome === 'advice');
  });
}

type Body = Record<string, unknown>;

/** No simulator fault breaks these rules: a proxy changes one field of the response instead. */
const rewritten: Readonly<Record<string, (body: Body, path: string) => Body>> = {
  'list.root': ({ reservations, ...rest }, path) =>
    reservations === undefined || path.endsWith('/search')
      ? { ...rest, ...(reservations === undefined ? {} : { reservations }) }
      : { ...rest, bookings: reservations },
  'search.same': (body, path) => (path.endsWith('/search') ? { ...body, reservations: [{ id: 'another' }] } : body),
  'paging.envelope': (body) => (body.page === undefined ? body : { ...body, page: String(body.page) }),
  ...Object.fromEntries(
    ['channel', 'source'].map((name) => [
      `record.${name}`,
      (body: Body) => eachRecord(body, (record) => ({ ...record, [name]: 7 })),
    ]),
  ),
  ...Object.fromEntries(
    [
      ['guests', 'first_name', 7],
      ['guests', 'last_name', 7],
      ['guests', 'document_type', 7],
      ['guests', 'document_number', 7],
      ['rooms', 'room_type', 7],
      ['rooms', 'board', 7],
      ['rooms', 'rate_code', 7],
      ['rooms', 'end_date', '31.12.2026'],
      ['rooms', 'children', -1],
      ['charges', 'code', 7],
      ['charges', 'description', 7],
    ].map(([part, name, value]) => [
      `${part}.${name}`,
      (body: Body) =>
        eachRecord(body, (record) => ({
          ...record,
          [String(part)]: (record[String(part)] as Body[]).map((item) => ({ ...item, [String(name)]: value })),
        })),
    ]),
  ),
};

function eachRecord(body: Body, change: (record: Body) => Body): Body {
  if (Array.isArray(body.reservations)) return { ...body, reservations: (body.reservations as Body[]).map(change) };
  return body.id === undefined ? body : change(body);
}

for (const [rule, change] of Object.entries(rewritten)) {
  test(`a changed response: the check reports ${rule}`, async () => {
    const { report } = await check(
      {},
      {
        fetch: async (url, init) => {
          const response = await fetch(url, init);
          const body = change((await response.json()) as Body, new URL(url).pathname);
          return Response.json(body, { status: response.status });
        },
      },
    );
    assert.deepEqual(notHeld(report), [rule]);
  });
}

test('the check reports a token endpoint without a token, and its consequences', async () => {
  const simulator = await startSimulator({
    reservations: 20,
    auth: { type: 'oauth2', clientId: 'c', clientSecret: 's' },
  });
  ends.push(() => simulator.stop());
  const auth = {
    type: 'oauth2',
    token_url: `${simulator.baseUrl}/oauth/token`,
    client_id: 'c',
    client_secret: 'wrong',
  } as const;
  const report = await checkApi({
    baseUrl: simulator.baseUrl,
    auth,
    from: '2026-06-13',
    to: '2026-06-19',
    intervalMs: 0,
  });
  // Without a token every call answers 401.
  assert.deepEqual(notHeld(report), [
    'auth.token',
    'list.answers',
    'list.missing_dates',
    'list.malformed_dates',
    'single.unknown',
  ]);
});

test('each rule is broken by at least one of these cases', () => {
  const named = new Set([...broken.flatMap(([, expected]) => expected), ...Object.keys(rewritten), 'auth.token']);
  assert.deepEqual(
    apiRules.map(({ id }) => id).filter((id) => !named.has(id)),
    [],
  );
});

for (const shape of ['wrapped', 'bare'] as const) {
  for (const paging of ['offset', 'page', 'cursor', 'link'] as const) {
    if (shape === 'bare' && paging === 'cursor') continue;
    test(`a correct API passes: ${shape}, ${paging}`, async () => {
      const { report } = await check({ shape, paging }, paging === 'page' ? { paging } : {});
      assert.deepEqual(notHeld(report), []);
      if (paging === 'cursor' || paging === 'link') {
        const small = await check({ shape, paging, maxLimit: 25 });
        assert.deepEqual(notHeld(small.report), [], 'its pages are small');
      }
      assert.equal(report.passed, true);
      const byId = new Map(report.rules.map(({ id, outcome }) => [id, outcome]));
      for (const id of [
        'auth.refuses',
        'list.range',
        'list.status',
        'single.complete',
        'search.same',
        'paging.ends',
        'paging.once',
        'paging.advances',
        'guests.phone',
      ])
        assert.equal(byId.get(id), 'pass', id);
      assert.ok(report.requests.length <= 30, `${report.requests.length} requests`);
    });
  }
}

test('the check supports every authentication method', async () => {
  const doors: readonly [SimulatorOptions['auth'] & object, (baseUrl: string) => CheckAuth][] = [
    [{ type: 'api_key', in: 'header', name: 'X-API-Key', key: 'k' }, () => ({ type: 'api_key', key: 'k' })],
    [
      { type: 'api_key', in: 'query', name: 'key', key: 'k3y-in-query' },
      () => ({ type: 'api_key', query: 'key', key: 'k3y-in-query' }),
    ],
    [{ type: 'basic', username: 'u', password: 'p' }, () => ({ type: 'basic', username: 'u', password: 'p' })],
    [
      { type: 'hmac', secret: 's', algorithm: 'sha512', encoding: 'base64' },
      () => ({ type: 'hmac', secret: 's', algorithm: 'sha512', encoding: 'base64' }),
    ],
    [
      { type: 'custom', headers: { 'X-A': 'a' }, query: { b: 'b' } },
      () => ({ type: 'custom', headers: { 'X-A': 'a' }, query: { b: 'b' } }),
    ],
    [
      { type: 'oauth2', clientId: 'c', clientSecret: 's' },
      (baseUrl) => ({
        type: 'oauth2',
        token_url: `${baseUrl}/oauth/token`,
        client_id: 'c',
        client_secret: 's',
        client_auth: 'post',
        scopes: ['a', 'b'],
      }),
    ],
  ];
  for (const [auth, made] of doors) {
    const simulator = await startSimulator({ seed: 7, reservations: 60, untidy: 0, auth });
    ends.push(() => simulator.stop());
    const today = simulator.hotel.today('LIS01');
    // The simulator's HMAC guard uses the real clock, so the check must too.
    const report = await checkApi({
      baseUrl: simulator.baseUrl,
      auth: made(simulator.baseUrl),
      from: today,
      to: today,
      intervalMs: 0,
    });
    assert.deepEqual(notHeld(report), [], auth.type);
    assert.equal(report.rules.find(({ id }) => id === 'auth.refuses')?.outcome, 'pass', auth.type);
    assert.doesNotMatch(JSON.stringify(report), /k3y-in-query/);
  }
});

test('a POST list is checked by the same rules, also with credentials in the body', async () => {
  const body = { api_user: 'u', api_key: 'k' };
  for (const paging of ['offset', 'cursor'] as const) {
    const { report } = await check(
      { auth: { type: 'custom', body }, paging },
      { auth: { type: 'custom', body }, form: 'post' },
    );
    assert.deepEqual(notHeld(report), []);
    const byId = new Map(report.rules.map(({ id, outcome }) => [id, outcome]));
    for (const id of ['auth.refuses', 'list.missing_dates', 'list.status', 'paging.ends'])
      assert.equal(byId.get(id), 'pass', id);
    assert.equal(byId.get('single.complete'), 'skip');
  }
  const { report } = await check({ faults: [{ kind: 'ignores_status' }] }, { form: 'post' });
  assert.deepEqual(notHeld(report), ['list.status']);
});

test('the report contains no guest data and no secrets', async () => {
  const { report, simulator } = await check({
    faults: [{ kind: 'phone_local' }, { kind: 'email_broken' }, { kind: 'birthday_dmy' }],
  });
  const text = JSON.stringify(report);
  assert.doesNotMatch(text, /t0p-secret/);
  for (const reservation of simulator.hotel.list()) {
    for (const { lastName, email, phone, documentNumber } of simulator.hotel.guestsOf(reservation)) {
      for (const value of [email, phone?.slice(4), documentNumber])
        assert.ok(value === undefined || !text.includes(value), value ?? '');
      assert.ok(lastName.length < 6 || !text.includes(`"${lastName}"`), lastName);
    }
  }
  assert.match(text, /99\/99\/9999/, 'the form of a value is shown');
});

test('requests are spaced and limited, and Retry-After is honoured', async () => {
  const { waits, report } = await check(
    { faults: [{ kind: 'rate_limit', times: 1, value: 7 }] },
    { intervalMs: 1_000, now: () => 5_000_000 },
  );
  assert.ok(waits.includes(7_000));
  assert.ok(waits.filter((ms) => ms === 1_000).length >= report.requests.length - 2, 'a second between requests');
  const few = await check({}, { mostRequests: 6 });
  assert.equal(few.report.requests.length, 6);
  assert.ok(few.report.rules.some(({ id, outcome }) => id === 'single.unknown' && outcome === 'skip'));
});

test('another root key, flat rows and an empty week are reported as such', async () => {
  const flat = await check({ shape: 'flat' });
  assert.deepEqual(notHeld(flat.report), ['list.root', 'record.guests', 'record.rooms', 'record.charges']);
  const empty = await check({}, { from: '2020-01-01', to: '2020-01-07' });
  assert.deepEqual(notHeld(empty.report), []);
  assert.match(empty.report.rules.find(({ id }) => id === 'record.id')?.seen ?? '', /--from/);
});

test('an unreachable API fails with a clear message', async () => {
  const report = await checkApi({
    baseUrl: 'http://127.0.0.1:9',
    auth: { type: 'none' },
    from: '2026-06-13',
    to: '2026-06-19',
    intervalMs: 0,
    wait: async () => undefined,
  });
  assert.equal(report.passed, false);
  assert.ok(notHeld(report).includes('list.answers'));
});

test('every rule has a unique id and says what to change', () => {
  assert.equal(new Set(apiRules.map(({ id }) => id)).size, apiRules.length);
  for (const rule of apiRules) assert.ok(rule.title.length > 10 && rule.change.length > 20, rule.id);
});
