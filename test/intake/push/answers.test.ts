import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { transaction } from '../../../src/core/store/db/pool.ts';
import { appendEvents } from '../../../src/core/store/events/append.ts';
import { retireEndpoint } from '../../../src/core/store/events/endpoints.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { until } from '../../support/process.ts';
import { type Node, startNode } from './node.ts';
import {
  brandId,
  eventBody,
  exchange,
  nowS,
  post,
  type RawAnswer,
  rawRequest,
  readAnswers,
  sign,
  startIntake,
} from './support.ts';

/** Every cell of the table of answers, over a real socket, with the bytes written by hand. */

let service: Node;
before(async () => {
  service = await startNode();
});
after(async () => {
  await service.stop();
});

let count = 0;
const fresh = (more: Record<string, unknown> = {}) => eventBody({ event_id: `ev-${++count}`, ...more });

function isProblem(answer: RawAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.equal(answer.json.code, code);
  assert.equal(answer.json.status, status);
  assert.equal(typeof answer.json.request_id, 'string');
  assert.equal(typeof answer.json.title, 'string');
  assert.match(String(answer.json.type), /^urn:innbound:error:push\./);
  assert.ok(!answer.text.includes('Quill') && !answer.text.includes('mail.example'), 'the payload is not echoed');
}

test('202: stored, with its id', async () => {
  const answer = await post(service, eventBody({ event_id: 'first' }));
  assert.equal(answer.status, 202);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(answer.text, '{"status":"accepted","event_id":"first"}');
  const { rows } = await service.pool.query(`select event, state, integration from events where event_id = 'first'`);
  assert.deepEqual(rows, [{ event: 'reservation.created', state: 'pending', integration: 'lisbon-grand' }]);
});

test('202: a percent-encoded URL', async () => {
  const encoded = `%${service.endpointId.charCodeAt(0).toString(16)}${service.endpointId.slice(1)}`;
  assert.equal((await post({ ...service, endpointId: encoded }, fresh())).status, 202);
  isProblem(
    await post({ ...service, endpointId: `${service.endpointId}${'x'.repeat(50)}` }, fresh()),
    404,
    'push.unknown_endpoint',
  );
});

test('202 for each of the four events', async () => {
  for (const event of ['reservation.created', 'reservation.updated', 'reservation.cancelled', 'guest.updated']) {
    assert.equal((await post(service, fresh({ event }))).status, 202, event);
  }
});

test('202 even if our mapping fails later', async () => {
  assert.equal((await post(service, fresh({ data: { what: 'ever' } }))).status, 202);
});

test('202: the exact bytes are kept', async () => {
  const body = ` {\n "event":"guest.updated", "timestamp":"2026-11-15T00:00:00Z","brand_id":"${brandId}","event_id":"exact","data":{"n":12345678901234567890,"t":"\\u00e9é"} }\n`;
  assert.equal((await post(service, body)).status, 202);
  const { rows } = await service.pool.query<{ body: Buffer }>(`select body from events where event_id = 'exact'`);
  assert.equal(rows[0]?.body.toString(), body);
});

test('200: the same id again; another body with it is reported to the operator', async () => {
  const body = eventBody({ event_id: 'twice' });
  assert.equal((await post(service, body)).status, 202);
  const again = await post(service, body);
  assert.equal(again.status, 200);
  assert.equal(again.text, '{"status":"duplicate","event_id":"twice"}');
  const other = await post(service, eventBody({ event_id: 'twice', data: { other: true } }));
  assert.equal(other.status, 200);
  const { rows } = await service.pool.query<{ body: Buffer }>(`select body from events where event_id = 'twice'`);
  assert.equal(rows.length, 1);
  assert.equal(rows[0]?.body.toString(), body, 'the first wins');
  const noted = await until('the reuse is noted', async () => {
    const { rows } = await service.pool.query(`select code from rejections where code = 'push.event_id_reused'`);
    return rows.length > 0 && rows;
  });
  assert.equal(noted.length, 1);
});

test('200: the same bytes without an id; other bytes are another event', async () => {
  const body = eventBody({ event_id: undefined });
  const first = await post(service, body);
  assert.equal(first.status, 202);
  assert.match(String(first.json.event_id), /^sha256:[0-9a-f]{64}$/);
  const again = await post(service, body);
  assert.equal(again.status, 200);
  assert.equal(again.json.event_id, first.json.event_id);
  assert.equal((await post(service, `${body} `)).status, 202);
});

test('200: of a hundred identical concurrent requests one is accepted', async () => {
  const request = rawRequest(service, eventBody({ event_id: 'hundred' }));
  const answers = await Promise.all(Array.from({ length: 100 }, () => exchange(service.port, request)));
  const statuses = answers.map(([answer]) => answer?.status).sort();
  assert.deepEqual(statuses, [...Array.from({ length: 99 }, () => 200), 202]);
  const { rows } = await service.pool.query(`select count(*)::int as n from events where event_id = 'hundred'`);
  assert.deepEqual(rows, [{ n: 1 }]);
});

test('an id may be a number, with all its digits', async () => {
  const body = `{"event_id":12345678901234567890,"event":"guest.updated","timestamp":"2026-11-15T00:00:00Z","brand_id":"${brandId}","data":{}}`;
  assert.equal((await post(service, body)).text, '{"status":"accepted","event_id":"12345678901234567890"}');
});

for (const [what, body, code] of [
  ['text', 'hello', 'push.not_json'],
  ['nothing', '', 'push.not_json'],
  ['half an object', '{"event":', 'push.not_json'],
  ['two values', '{} {}', 'push.not_json'],
  ['a trailing comma', '{"a":1,}', 'push.not_json'],
  ['a control character in a text', '{"a":"\u0001"}', 'push.not_json'],
  ['a raw NUL', '{"a":"\u0000"}', 'push.not_json'],
  ['NaN', '{"a":NaN}', 'push.not_json'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]), 'push.not_utf8'],
  ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'push.not_utf8'],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), 'push.not_json'],
  ['a byte order mark', '\ufeff{}', 'push.unsafe_json'],
  ['an escaped NUL', '{"a":"\\u0000"}', 'push.unsafe_json'],
  ['half a surrogate pair', '{"a":"\\ud83d"}', 'push.unsafe_json'],
  ['a repeated key', '{"a":1,"a":2}', 'push.unsafe_json'],
  ['a repeated key, written differently', '{"a":1,"\\u0061":2}', 'push.unsafe_json'],
  ['__proto__', '{"data":{"__proto__":{"x":1}}}', 'push.unsafe_json'],
  ['constructor', '{"constructor":{"prototype":{}}}', 'push.unsafe_json'],
  ['a number beyond a double', '{"a":1e400}', 'push.unsafe_json'],
  ['nesting without end', '['.repeat(100_000), 'push.unsafe_json'],
  ['deep objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 'push.unsafe_json'],
  ['an endless list', `[${'1,'.repeat(100_000)}1]`, 'push.unsafe_json'],
  ['an endless object', `{${Array.from({ length: 3_000 }, (_, i) => `"k${i}":1`).join(',')}}`, 'push.unsafe_json'],
] as const) {
  test(`400: ${what}`, async () => isProblem(await post(service, body), 400, code));
}

test('413: by Content-Length, before a byte of the body is sent', async () => {
  const [answer] = await exchange(service.port, rawRequest(service, '', { 'content-length': '1048577' }));
  assert.ok(answer);
  isProblem(answer, 413, 'push.too_large');
  assert.equal(answer.headers.connection, 'close');
});

test('413: a sender that writes all of it before it reads still gets the answer', async () => {
  isProblem(await post(service, Buffer.alloc(3 * 1024 * 1024, 0x20)), 413, 'push.too_large');
});

test('413: by its chunks, as soon as they exceed the limit', async () => {
  const socket = connect(service.port, '127.0.0.1');
  await once(socket, 'connect');
  const answers = readAnswers(socket, 1);
  const head = rawRequest(service, '', { 'content-length': undefined, 'transfer-encoding': 'chunked' });
  socket.write(head);
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 0x20), Buffer.from('\r\n')]);
  let sent = 0;
  socket.on('error', () => {});
  const writing = (async () => {
    while (!socket.destroyed && sent < 1000) {
      sent += 1;
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    }
  })();
  const [answer] = await answers;
  socket.destroy();
  await writing;
  assert.ok(answer);
  isProblem(answer, 413, 'push.too_large');
  assert.ok(sent < 1000, 'it did not have to send all of it');
});

test('202: a body of exactly the limit', async () => {
  const base = eventBody({ event_id: 'limit', pad: '' });
  const body = eventBody({ event_id: 'limit', pad: 'x'.repeat(1024 * 1024 - Buffer.byteLength(base)) });
  assert.equal(Buffer.byteLength(body), 1024 * 1024);
  assert.equal((await post(service, body)).status, 202);
});

for (const [what, headers] of [
  ['no content type', { 'content-type': undefined }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['text', { 'content-type': 'text/plain' }],
  ['a cousin of JSON', { 'content-type': 'application/problem+json' }],
  ['application/jsonp', { 'content-type': 'application/jsonp' }],
  ['another charset', { 'content-type': 'application/json; charset=iso-8859-1' }],
  ['gzip', { 'content-encoding': 'gzip' }],
  ['br', { 'content-encoding': 'br' }],
] as const) {
  test(`415: ${what}`, async () => isProblem(await post(service, fresh(), headers), 415, 'push.wrong_media_type'));
}

for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json ;q=1']) {
  test(`202: content type ${type}`, async () =>
    assert.equal((await post(service, fresh(), { 'content-type': type })).status, 202));
}

test('202: content encoding identity, body in chunks', async () => {
  assert.equal((await post(service, fresh(), { 'content-encoding': 'identity' })).status, 202);
  const body = fresh();
  const head = rawRequest(service, body, { 'content-length': undefined, 'transfer-encoding': 'chunked' });
  const start = head.subarray(0, head.length - Buffer.byteLength(body));
  const chunks = [...body].map((one) => `${Buffer.byteLength(one).toString(16)}\r\n${one}\r\n`).join('');
  const [answer] = await exchange(service.port, [start, Buffer.from(chunks), Buffer.from('0\r\n\r\n')]);
  assert.equal(answer?.status, 202);
});

for (const [what, change, pointers] of [
  ['no event', { event: undefined }, ['/event']],
  ['an unknown event', { event: 'reservation.deleted' }, ['/event']],
  ['an event in capitals', { event: 'RESERVATION.CREATED' }, ['/event']],
  ['no timestamp', { timestamp: undefined }, ['/timestamp']],
  ['a timestamp as number', { timestamp: 1763164800 }, ['/timestamp']],
  ['a timestamp without zone', { timestamp: '2026-11-15T10:00:00' }, ['/timestamp']],
  ['a timestamp in another zone', { timestamp: '2026-11-15T10:00:00+02:00' }, ['/timestamp']],
  ['a date only', { timestamp: '2026-11-15' }, ['/timestamp']],
  ['a day that does not exist', { timestamp: '2026-02-30T10:00:00Z' }, ['/timestamp']],
  ['an hour that does not exist', { timestamp: '2026-02-03T24:00:01Z' }, ['/timestamp']],
  ['no brand', { brand_id: undefined }, ['/brand_id']],
  ['a brand as number', { brand_id: 5 }, ['/brand_id']],
  ['another brand', { brand_id: 'OPO02' }, ['/brand_id']],
  ['no data', { data: undefined }, ['/data']],
  ['data as list', { data: [] }, ['/data']],
  ['data as null', { data: null }, ['/data']],
  ['an id without end', { event_id: 'x'.repeat(300) }, ['/event_id']],
  ['all wrong', { event: 1, timestamp: 1, brand_id: 1, data: 1 }, ['/event', '/timestamp', '/brand_id', '/data']],
] as const) {
  test(`422: ${what}`, async () => {
    const answer = await post(service, fresh(change));
    isProblem(answer, 422, 'push.bad_envelope');
    assert.deepEqual(
      (answer.json.errors as { pointer: string }[]).map(({ pointer }) => pointer),
      pointers,
    );
    assert.equal(answer.json.pointer, pointers[0]);
  });
}

test('422: a list, a text, a number as body', async () => {
  for (const body of ['[]', '"x"', '1', 'null', 'true']) isProblem(await post(service, body), 422, 'push.bad_envelope');
});

const seconds = (offset: number) => String(Number(nowS()) + offset);
const refusals: [string, (body: string) => Record<string, string | undefined>][] = [
  ['no signature', () => ({ 'x-webhook-signature': undefined })],
  ['an empty signature', () => ({ 'x-webhook-signature': '' })],
  ['no timestamp', () => ({ 'x-webhook-timestamp': undefined })],
  ['an empty timestamp', () => ({ 'x-webhook-timestamp': '' })],
  ['a timestamp in words', () => ({ 'x-webhook-timestamp': 'now' })],
  ['a timestamp in milliseconds', () => ({ 'x-webhook-timestamp': `${nowS()}000` })],
  ['a timestamp with a sign', () => ({ 'x-webhook-timestamp': `+${nowS()}` })],
  ['a timestamp with a fraction', () => ({ 'x-webhook-timestamp': `${nowS()}.0` })],
  ['a timestamp in hexadecimal', () => ({ 'x-webhook-timestamp': `0x${Number(nowS()).toString(16)}` })],
  ['a timestamp with leading zero', () => ({ 'x-webhook-timestamp': `0${nowS()}` })],
  ['a timestamp in another script', () => ({ 'x-webhook-timestamp': '١٧٦٣١٦٤٨٠٠' })],
  ['a timestamp 310 s old', () => ({ 'x-webhook-timestamp': seconds(-310) })],
  ['a timestamp 310 s ahead', () => ({ 'x-webhook-timestamp': seconds(310) })],
  ['a signature of another secret', (body) => ({ 'x-webhook-signature': sign('whsec_other', nowS(), body) })],
  ['a signature of another body', () => ({ 'x-webhook-signature': sign(service.secret, nowS(), 'x') })],
  ['a signature of another time', (body) => ({ 'x-webhook-signature': sign(service.secret, seconds(-5), body) })],
  ['a signature cut short', (body) => ({ 'x-webhook-signature': sign(service.secret, nowS(), body).slice(0, -2) })],
  ['a signature too long', (body) => ({ 'x-webhook-signature': `${sign(service.secret, nowS(), body)}00` })],
  ['a signature without prefix', (body) => ({ 'x-webhook-signature': sign(service.secret, nowS(), body).slice(7) })],
  ['a prefix alone', () => ({ 'x-webhook-signature': 'sha512=' })],
  ['another prefix', (body) => ({ 'x-webhook-signature': sign(service.secret, nowS(), body).replace('512', '256') })],
  ['no hexadecimal', () => ({ 'x-webhook-signature': `sha512=${'zz'.repeat(64)}` })],
  [
    'two signatures',
    (body) => ({ 'x-webhook-signature': `sha512=${'0'.repeat(128)}, ${sign(service.secret, nowS(), body)}` }),
  ],
];
for (const [what, change] of refusals) {
  test(`401: ${what}, with the one body for all`, async () => {
    const body = fresh();
    const answer = await post(service, body, change(body));
    isProblem(answer, 401, 'push.unauthorized');
    const { request_id: _, ...rest } = answer.json;
    assert.deepEqual(rest, {
      type: 'urn:innbound:error:push.unauthorized',
      title: 'Not authenticated',
      status: 401,
      detail: 'The signature and timestamp of the request could not be verified.',
      code: 'push.unauthorized',
    });
  });
}

test('401: two signature headers, the second one right', async () => {
  const body = fresh();
  const bytes = rawRequest(service, body);
  const twice = Buffer.from(
    bytes
      .toString()
      .replace('\r\nx-webhook-signature', `\r\nx-webhook-signature: sha512=${'0'.repeat(128)}\r\nx-webhook-signature`),
  );
  const [answer] = await exchange(service.port, twice);
  assert.equal(answer?.status, 401);
});

test('401 comes before 400 and 422: an unsigned request learns nothing about its body', async () => {
  for (const body of ['nonsense', '{}']) {
    isProblem(
      await post(service, body, { 'x-webhook-signature': sign('other', nowS(), body) }),
      401,
      'push.unauthorized',
    );
  }
});

test('202: a timestamp 290 s old or ahead, a signature in capitals', async () => {
  for (const offset of [-290, 290]) {
    const body = fresh();
    assert.equal((await post(service, body, { 'x-webhook-timestamp': seconds(offset) })).status, 202);
  }
  const body = fresh();
  const at = nowS();
  const capitals = `sha512=${sign(service.secret, at, body).slice(7).toUpperCase()}`;
  assert.equal((await post(service, body, { 'x-webhook-timestamp': at, 'x-webhook-signature': capitals })).status, 202);
});

test('404: an unknown endpoint id of any form', async () => {
  for (const id of ['whk_00000000000000000000', 'x', '%00', '..%2f', 'a'.repeat(99), "'; drop table events--"]) {
    const path = `/webhooks/${encodeURI(id)}`;
    const [answer] = await exchange(service.port, rawRequest(service, fresh(), {}, path));
    assert.ok(answer);
    isProblem(answer, 404, 'push.unknown_endpoint');
  }
});

test('200: the sandbox answers with a report and stores no event', async () => {
  const request = rawRequest(service, eventBody({ event_id: 'tried' }), {}, `/webhooks/${service.sandboxId}`);
  const [answer] = await exchange(service.port, request);
  assert.equal(answer?.status, 200);
  const { rows } = await service.pool.query(`select from events where event_id = 'tried'`);
  assert.equal(rows.length, 0);
});

test('405: events are sent by POST', async () => {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const [answer] = await exchange(service.port, rawRequest(service, '', {}, undefined, method));
    assert.ok(answer);
    isProblem(answer, 405, 'push.wrong_method');
    assert.equal(answer.headers.allow, 'POST');
  }
});

test('429: over the endpoint’s rate, with Retry-After; other endpoints are not affected', async () => {
  const slow = await startNode('{ enabled: true, rate: { requests: 1, per: 1d, burst: 3 } }');
  try {
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await post(slow, fresh()));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 202, 202, 429, 429],
    );
    const refused = answers[4];
    assert.ok(refused);
    isProblem(refused, 429, 'push.rate_limited');
    assert.match(refused.headers['retry-after'] ?? '', /^[1-9]\d*$/);
    const wrong = await post(slow, fresh(), { 'x-webhook-signature': 'sha512=00' });
    assert.equal(wrong.status, 401, 'an unsigned request neither uses nor reveals the rate');
  } finally {
    await slow.stop();
  }
});

test('429: an address that keeps failing is refused before its body is read', async () => {
  // The clock stands still: nothing is forgiven meanwhile, however long the requests take.
  const startedAt = Date.now();
  const clock = { ...systemClock, now: () => startedAt };
  const guarded = await startIntake({ ports: { clock, failureRate: { perSecond: 1, burst: 5 } } });
  try {
    const statuses = [];
    for (let i = 0; i < 8; i++) {
      statuses.push((await post({ ...guarded, secret: 'wrong' }, fresh())).status);
    }
    assert.equal(statuses[0], 401);
    assert.equal(statuses.at(-1), 429);
    const right = await post(guarded, fresh());
    isProblem(right, 429, 'push.rate_limited');
    assert.ok(Number(right.headers['retry-after']) >= 1);
  } finally {
    await guarded.stop();
  }
});

test('503: the store cannot be reached, with Retry-After; nothing was accepted', async () => {
  const broken = await startIntake({
    ports: {
      insert: async () => {
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      },
    },
  });
  try {
    const answer = await post(broken, fresh());
    isProblem(answer, 503, 'push.unavailable');
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  } finally {
    await broken.stop();
  }
});

test('503: draining; earlier requests are answered', async () => {
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const { promise: arrival, resolve: arrived } = Promise.withResolvers<void>();
  const ending = await startIntake({
    ports: {
      insert: async (events) => {
        arrived();
        await gate;
        return appendEvents(ending.pool, events);
      },
    },
  });
  try {
    const taken = post(ending, fresh());
    await arrival;
    const drained = ending.webhooks.drain();
    const refused = await post(ending, fresh());
    isProblem(refused, 503, 'push.unavailable');
    assert.equal(refused.headers.connection, 'close');
    assert.match(refused.headers['retry-after'] ?? '', /^[1-9]\d*$/);
    release();
    assert.equal((await taken).status, 202);
    await drained;
  } finally {
    await ending.stop();
  }
});

test('410: immediately after the endpoint is retired', async () => {
  const retiring = await startNode();
  try {
    assert.equal((await post(retiring, fresh())).status, 202);
    await transaction(retiring.pool, (tx) => retireEndpoint(tx, 'lisbon-grand'));
    isProblem(await post(retiring, fresh()), 410, 'push.retired_endpoint');
  } finally {
    await retiring.stop();
  }
});

test('410: push is disabled for the integration', async () => {
  const off = await startNode('{ enabled: false }');
  try {
    isProblem(await post(off, fresh()), 410, 'push.retired_endpoint');
  } finally {
    await off.stop();
  }
});
