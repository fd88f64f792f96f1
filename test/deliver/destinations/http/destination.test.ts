import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { DeliverLimits, Outcome } from '../../../../src/core/deliver/destination.ts';
import { destinationType as http } from '../../../../src/core/deliver/destinations/http/destination.ts';
import { destinationType as webhook } from '../../../../src/core/deliver/destinations/webhook/destination.ts';
import type { Authorizer } from '../../../../src/core/outbound/auth/outgoing.ts';
import { listen, type Received, type Reply } from '../../http-server.ts';
import { delivery, reservation, services } from '../../support.ts';

const limits = (batch = 1, deadlineMs = 30_000): DeliverLimits => ({
  batch,
  deadlineMs,
  leaseLeftMs: () => 60_000,
  extend: async () => true,
  signal: new AbortController().signal,
});

async function setUp(t: TestContext, answer: (request: Received) => Reply | 'hang' | 'cut') {
  const server = await listen(answer);
  const offered = services('/');
  t.after(async () => {
    await offered.close();
    await server.close();
  });
  return { ...server, offered };
}

const rows: [answer: Reply | 'hang' | 'cut', expected: Partial<Outcome>][] = [
  [{ status: 200 }, { kind: 'delivered', status: 200 }],
  [{ status: 204 }, { kind: 'delivered', status: 204 }],
  [{ status: 400 }, { kind: 'dead', code: 'deliver.refused' }],
  [{ status: 401 }, { kind: 'retry', code: 'deliver.auth_failed' }],
  [{ status: 403 }, { kind: 'retry', code: 'deliver.auth_failed' }],
  [{ status: 404 }, { kind: 'dead', code: 'deliver.refused' }],
  [{ status: 409 }, { kind: 'dead', code: 'deliver.refused' }],
  [
    { status: 302, headers: { location: 'https://elsewhere.example/' } },
    { kind: 'dead', code: 'deliver.refused' },
  ],
  [{ status: 408 }, { kind: 'retry', code: 'deliver.server_error' }],
  [{ status: 425 }, { kind: 'retry', code: 'deliver.server_error' }],
  [{ status: 500 }, { kind: 'retry', code: 'deliver.server_error' }],
  [
    { status: 503, headers: { 'retry-after': '9' } },
    { kind: 'retry', code: 'deliver.server_error', afterMs: 9_000 },
  ],
  [{ status: 429 }, { kind: 'retry', code: 'deliver.rate_limited' }],
  [
    { status: 429, headers: { 'retry-after': '3' } },
    { kind: 'retry', code: 'deliver.rate_limited', afterMs: 3_000, free: true },
  ],
  // The destination's clock is years behind ours: what counts is the difference that it states itself.
  [
    {
      status: 429,
      headers: { date: 'Sun, 15 Nov 2020 06:00:00 GMT', 'retry-after': 'Sun, 15 Nov 2020 06:00:07 GMT' },
    },
    { kind: 'retry', code: 'deliver.rate_limited', afterMs: 7_000, free: true },
  ],
  ['cut', { kind: 'retry', code: 'deliver.unreachable' }],
  ['hang', { kind: 'retry', code: 'deliver.timeout' }],
];

for (const [answer, expected] of rows) {
  const name = typeof answer === 'string' ? answer : `${answer.status} ${JSON.stringify(answer.headers ?? {})}`;
  test(`http: ${name} is ${expected.kind}`, async (t) => {
    const { url, offered } = await setUp(t, () => answer);
    const destination = http.open(http.settings.parse({ url }), offered);
    const [outcome] = await destination.deliver(
      [delivery(reservation('r'))],
      limits(1, answer === 'hang' ? 300 : 30_000),
    );
    assert.deepEqual({ ...outcome, ...expected }, outcome);
    if (expected.kind === 'retry' && !('free' in expected)) assert.equal('free' in (outcome ?? {}), false);
  });
}

test('http: connection refused, unknown host, a private address that is not allowed', async (t) => {
  const server = await listen(() => ({ status: 200 }));
  await server.close();
  const allowed = services('/');
  const guarded = services('/', false);
  t.after(() => Promise.all([allowed.close(), guarded.close()]));
  const codeOf = async (url: string, offered = allowed) => {
    const [outcome] = await http
      .open(http.settings.parse({ url }), offered)
      .deliver([delivery(reservation('r'))], limits());
    return [outcome?.kind, outcome && 'code' in outcome ? outcome.code : undefined];
  };
  assert.deepEqual(await codeOf(server.url), ['retry', 'deliver.unreachable']);
  assert.deepEqual(await codeOf('http://no-such-host.invalid/'), ['retry', 'deliver.unreachable']);
  assert.deepEqual(await codeOf(server.url, guarded), ['dead', 'deliver.blocked_address']);
});

test('http: one change is an object with its Idempotency-Key, a batch a list without', async (t) => {
  const { url, received, offered } = await setUp(t, () => ({ status: 200 }));
  const destination = http.open(
    http.settings.parse({ url: `${url}/in/{data.id}`, headers: { 'X-Brand': '{brand_id}' } }),
    offered,
  );
  await destination.deliver([delivery(reservation('a/b c'))], limits());
  await destination.deliver([delivery(reservation('a')), delivery(reservation('b'))], limits(10));
  await destination.deliver([delivery(reservation('c'))], limits(10));
  const [one, two, three] = received;
  assert.equal(one?.path, '/in/a%2Fb%20c');
  assert.equal(one?.headers['x-brand'], 'LIS01');
  assert.equal(
    one?.headers['idempotency-key'],
    (one?.body as { idempotency_key: string } | undefined)?.idempotency_key,
  );
  assert.match(
    one?.text ?? '',
    /^\{"type":"reservation","integration":"lisbon","brand_id":"LIS01","event":"created","version":1,"idempotency_key":"[^"]+","data":\{"id":"a\/b c",.*"total_amount":1250\.5,/,
  );
  assert.equal(two?.headers['idempotency-key'], undefined);
  assert.equal((two?.body as unknown[] | undefined)?.length, 2);
  assert.equal((three?.body as unknown[] | undefined)?.length, 1);
});

test('http: refused credentials are renewed once', async (t) => {
  let token = 'old';
  const { url, offered } = await setUp(t, ({ headers }) => ({ status: headers.authorization === 'new' ? 200 : 401 }));
  const authorizer = (renew: boolean): Authorizer => ({
    authorize: async (request) => ({
      kind: 'ok',
      request: { ...request, headers: { ...request.headers, authorization: token } },
    }),
    refused: async () => {
      if (renew) token = 'new';
      return renew;
    },
  });
  const settings = http.settings.parse({ url, auth: { type: 'bearer', token: 'x' } });
  const stubborn = http.open(settings, { ...offered, authorizer: () => authorizer(false) });
  assert.equal(
    (await stubborn.deliver([delivery(reservation('r'))], limits()))[0]?.kind,
    'retry',
    'it waits for the key',
  );
  const renewing = http.open(settings, { ...offered, authorizer: () => authorizer(true) });
  assert.equal((await renewing.deliver([delivery(reservation('r'))], limits()))[0]?.kind, 'delivered');
});

test('http: a body mapping leaves absent values out and keeps types', async (t) => {
  const { url, received, offered } = await setUp(t, () => ({ status: 200 }));
  const settings = http.settings.parse({
    url,
    with: { property: 'P1' },
    body: {
      ref: '{integration}:{data.id}',
      total: '{data.total_amount}',
      total_text: '{data.total_amount|text}',
      nights: '{data.nights}',
      who: '{data.guests.0.last_name|upper}',
      channel: '{data.channel|or:direct}',
      '{with.property}': true,
      tags: ['{data.channel}', 'hotel'],
      arrival_ms: '{data.check_in|epoch_ms}',
    },
  });
  await http
    .open(settings, offered)
    .deliver([delivery(reservation('r', { total_amount: '12345678901234567.89' }))], limits());
  assert.equal(
    received[0]?.text,
    '{"ref":"lisbon:r","total":12345678901234567.89,"total_text":"12345678901234567.89","who":"EXEMPLO","channel":"direct","P1":true,"tags":["hotel"],"arrival_ms":1796083200000}',
  );
});

test('http: a body without a word for it does not send an erased or withdrawn guest as an ordinary one', async (t) => {
  const { url, received, offered } = await setUp(t, () => ({ status: 200 }));
  const ana = { first_name: 'Ana', email: 'ana@example.com', marketing_consent: false };
  const erasure = { ...delivery(reservation('r', { guests: [{}] }), { version: 2, event: 'erased' }), erased: [ana] };
  const withdrawal = { ...delivery(reservation('r', { guests: [ana] }), { version: 2 }), byConsent: true };
  const contact = { url: `${url}/{guest.email}`, method: 'PUT', each: 'guest', body: { name: '{guest.first_name}' } };
  const send = async (settings: object, one: typeof withdrawal) => {
    received.length = 0;
    const [outcome] = await http.open(http.settings.parse(settings), offered).deliver([one], limits());
    return [
      outcome?.kind === 'dead' ? outcome.code : outcome?.kind,
      ...received.map(({ method, text }) => `${method} ${text}`),
    ];
  };
  assert.deepEqual(await send(contact, erasure), ['deliver.not_expressed']);
  assert.deepEqual(await send({ ...contact, on: { erased: { method: 'DELETE' } } }, erasure), ['delivered', 'DELETE ']);
  assert.deepEqual(await send(contact, withdrawal), ['deliver.not_expressed']);
  const withConsent = { ...contact, body: { agreed: '{guest.marketing_consent}' } };
  assert.deepEqual(await send(withConsent, withdrawal), ['delivered', 'PUT {"agreed":false}']);
  const { body: _, ...whole } = contact;
  const [kind, sent] = await send(whole, erasure);
  assert.equal(kind, 'delivered');
  assert.match(sent ?? '', /"event":"erased"/);
});

test('http: a body without a word for it does not send a removed record as an ordinary one', async (t) => {
  const { url, received, offered } = await setUp(t, () => ({ status: 200 }));
  const left = { version: 2, event: 'removed', removed: true, data: { id: 'r' } } as const;
  const send = async (settings: object) => {
    received.length = 0;
    const one = delivery(reservation('r'), left);
    const [outcome] = await http.open(http.settings.parse({ url, ...settings }), offered).deliver([one], limits());
    return [
      outcome?.kind === 'dead' || outcome?.kind === 'skipped' ? outcome.code : outcome?.kind,
      ...received.map(({ method, path, text }) => `${method} ${path} ${text}`),
    ];
  };
  const body = { ref: '{data.id}' };
  assert.deepEqual(await send({ body }), ['deliver.not_expressed']);
  assert.deepEqual(await send({ body: { ...body, state: '{data.status}' } }), [
    'delivered',
    'POST / {"ref":"r","state":"removed"}',
  ]);
  const removed = { method: 'DELETE', url: `${url}/{data.id}` };
  assert.deepEqual(await send({ body, on: { removed } }), ['delivered', 'DELETE /r ']);
  const [kind, sent] = await send({});
  assert.equal(kind, 'delivered');
  assert.match(
    sent ?? '',
    /"event":"removed","version":2,.*"data":\{"id":"r"\},"removed":true|"removed":true.*"data":\{"id":"r"\}/,
  );
  // A destination of persons has no stays to remove.
  assert.deepEqual(await send({ each: 'guest', body: { email: '{guest.email}' } }), ['nothing_to_send']);
});

test('http: mistakes in templates are found when the document is checked', () => {
  const problems = (settings: object) =>
    http.settings.safeParse(settings).error?.issues.map(({ path, message }) => [path.join('.'), message]);
  assert.deepEqual(problems({ url: 'https://x.example/{dta.id}' }), [
    [
      'url',
      'there is no dta; a path begins with one of type, integration, brand_id, event, epoch, version, idempotency_key, changed_at, data, guest, former, companion, stay, moment, found, may_have_arrived, with, items',
    ],
  ]);
  assert.match(
    problems({ url: 'https://x.example/', body: { a: [{ b: '{data.id|shout}' }] } })?.[0]?.join(' ') ?? '',
    /^body\.a\.0\.b there is no filter shout/,
  );
  assert.match(
    problems({ url: 'https://x.example/', body: { a: '{data.channel|empty:null}' } })?.[0]?.join(' ') ?? '',
    /^body\.a empty is one of left_out, as_null, as_text/,
  );
  assert.match(
    problems({ url: 'https://x.example/', on: { erased: { url: 'https://x.example/{}' } } })?.[0]?.join(' ') ?? '',
    /^on\.erased\.url \{\} is not a path/,
  );
  assert.deepEqual(problems({})?.[0]?.[1], 'needs url, or a preset');
  assert.match(problems({ preset: 'mailchimp' })?.[0]?.[1] ?? '', /needs with\.base_url/);
});

test('webhook: verified with the public library; each try is signed again under the same id', async (t) => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const old = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  const { url, received, offered } = await setUp(t, () => ({ status: 500 }));
  let now = Date.now() - 5_000;
  const clock = { ...offered.clock, now: () => (now += 2_000) };
  const destination = webhook.open(webhook.settings.parse({ url, secret, old_secret: old }), { ...offered, clock });
  await destination.deliver([delivery(reservation('r'))], limits());
  await destination.deliver([delivery(reservation('r'))], limits());
  for (const { text, headers } of received) {
    for (const key of [secret, old]) {
      const verified = new Webhook(key).verify(text, headers as Record<string, string>) as { data: { id: string } };
      assert.equal(verified.data.id, 'r');
    }
    assert.throws(() => new Webhook(secret).verify(`${text} `, headers as Record<string, string>));
  }
  assert.equal(received[0]?.headers['webhook-id'], received[1]?.headers['webhook-id']);
  assert.notEqual(received[0]?.headers['webhook-signature'], received[1]?.headers['webhook-signature']);
});
