import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { senderRules, startSenderCheck } from '../../../packages/partner-kit/src/check/sender/check.ts';
import {
  type OutgoingEvent,
  sign,
  WebhookSender,
  type WebhookSenderOptions,
} from '../../../packages/sender/src/index.ts';

const secret = 'c2VjcmV0LXNlY3JldC1zZWNyZXQ';

function reservation(
  id: string,
  event = 'reservation.updated',
  status = 'confirmed',
): OutgoingEvent & { data: Record<string, unknown> } {
  return {
    event,
    data: {
      reservation_id: id,
      confirmation_number: `C-${id}`,
      check_in: '2026-06-15',
      check_out: '2026-06-17',
      status,
      guests: [{ first_name: 'Zdenka', last_name: 'Vaňková', email: 'zdenka@mail.example', phone: '+420601000000' }],
      stays: [{ room_type: 'Double', board_type: 'HB', adults: 2, children: 0 }],
      charges: [],
    },
  };
}

interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}

interface Breakage {
  /** Changes an outgoing request; `attempt` counts the attempts for one event. */
  readonly alter?: (sent: Sent, attempt: number, first: Sent) => void;
  /** Signs again after changing the body. */
  readonly resign?: true;
  readonly options?: Partial<WebhookSenderOptions>;
  readonly event?: (event: ReturnType<typeof reservation>) => OutgoingEvent;
  readonly twice?: true;
}

/** Sends three events through a sender with this fault, on a clock that advances with each delay. */
async function check(breakage: Breakage = {}) {
  let nowMs = Date.parse('2026-06-15T10:00:00Z');
  const now = () => nowMs;
  const listening = await startSenderCheck({ secret, brandId: 'LIS01', now, settleMs: 20, patienceMs: 5_000 });
  const tries = new Map<string, { count: number; first: Sent }>();
  const sender = await WebhookSender.open({
    url: listening.url,
    secret,
    brandId: 'LIS01',
    now,
    random: () => 1,
    wait: async (ms) => {
      nowMs += ms;
    },
    ...breakage.options,
    fetch: async (url, init) => {
      const body = String(init.body);
      const sent: Sent = { url, method: 'POST', headers: { ...(init.headers as Record<string, string>) }, body };
      const known = tries.get(body) ?? { count: 0, first: structuredClone(sent) };
      tries.set(body, { ...known, count: known.count + 1 });
      breakage.alter?.(sent, known.count + 1, known.first);
      if (breakage.resign)
        sent.headers['X-Webhook-Signature'] = sign(secret, Number(sent.headers['X-Webhook-Timestamp']), sent.body);
      const post = () =>
        fetch(sent.url, { method: sent.method, headers: sent.headers, body: sent.method === 'GET' ? null : sent.body });
      const response = await post();
      if (breakage.twice && response.ok) await post();
      return response;
    },
  });
  const shape = breakage.event ?? ((event) => event);
  for (const event of [
    reservation('R1', 'reservation.created'),
    reservation('R2'),
    reservation('R3', 'reservation.cancelled', 'cancelled'),
  ])
    await sender.send(shape(event));
  await sender.close();
  listening.finish();
  const report = await listening.report;
  return {
    report,
    not: report.rules.filter(({ outcome }) => outcome === 'fail' || outcome === 'advice').map(({ id }) => id),
  };
}

const rewrite = (change: (envelope: Record<string, unknown>) => unknown): Breakage => ({
  resign: true,
  alter: (sent) => {
    sent.body = JSON.stringify(change(JSON.parse(String(sent.body))));
  },
});
const hmac = (algorithm: string, text: string) => createHmac(algorithm, secret).update(text);
const stamped = ({ headers, body }: Sent) => `${headers['X-Webhook-Timestamp']}.${body}`;
const data = (change: (given: Record<string, unknown>) => Record<string, unknown>): Breakage => ({
  event: (event) => ({ ...event, data: change(event.data) }),
});

const broken: Readonly<Record<string, readonly [Breakage, readonly string[], RegExp?]>> = {
  'text/plain': [
    {
      alter: (sent) => {
        sent.headers['Content-Type'] = 'text/plain';
      },
    },
    ['request.json_type'],
  ],
  'PUT instead of POST': [
    {
      alter: (sent) => {
        sent.method = 'PUT';
      },
    },
    ['request.post'],
  ],
  'another path': [
    {
      alter: (sent) => {
        sent.url += '/reservation.updated';
      },
    },
    ['request.post'],
  ],
  'an array of events': [rewrite((envelope) => [envelope]), ['request.body']],
  'Latin-1': [
    {
      resign: true,
      alter: (sent) => {
        sent.body = Buffer.from(String(sent.body).replace('ň', 'ñ'), 'latin1');
      },
    },
    ['request.body'],
  ],
  'no signature': [
    {
      alter: (sent) => {
        delete sent.headers['X-Webhook-Signature'];
      },
    },
    ['signature.valid'],
    /no X-Webhook-Signature/,
  ],
  SHA256: [
    {
      alter: (sent) => {
        sent.headers['X-Webhook-Signature'] = `sha256=${hmac('sha256', stamped(sent)).digest('hex')}`;
      },
    },
    ['signature.valid'],
    /HMAC-SHA256/,
  ],
  Base64: [
    {
      alter: (sent) => {
        sent.headers['X-Webhook-Signature'] = `sha512=${hmac('sha512', stamped(sent)).digest('base64')}`;
      },
    },
    ['signature.valid'],
    /Base64, not hex/,
  ],
  capitals: [
    {
      alter: (sent) => {
        sent.headers['X-Webhook-Signature'] = `sha512=${hmac('sha512', stamped(sent)).digest('hex').toUpperCase()}`;
      },
    },
    ['signature.valid'],
    /capitals/,
  ],
  'no prefix': [
    {
      alter: (sent) => {
        sent.headers['X-Webhook-Signature'] = hmac('sha512', stamped(sent)).digest('hex');
      },
    },
    ['signature.valid'],
    /begin with sha512=/,
  ],
  'the body alone is signed': [
    {
      alter: (sent) => {
        sent.headers['X-Webhook-Signature'] = `sha512=${hmac('sha512', String(sent.body)).digest('hex')}`;
      },
    },
    ['signature.valid'],
    /only the body/,
  ],
  'other bytes are signed': [
    {
      alter: (sent) => {
        sent.body = JSON.stringify(JSON.parse(String(sent.body)), null, 2);
      },
    },
    ['signature.valid'],
    /different serialization/,
  ],
  'a line break in the secret': [{ options: { secret: `${secret}\n` } }, ['signature.valid'], /line break/],
  'another secret': [
    { options: { secret: 'another one of 24 characters' } },
    ['signature.valid'],
    /none of the usual mistakes/,
  ],
  milliseconds: [
    {
      resign: true,
      alter: (sent) => {
        sent.headers['X-Webhook-Timestamp'] += '000';
      },
    },
    ['timestamp.seconds'],
    /milliseconds/,
  ],
  'a slow clock': [
    {
      resign: true,
      alter: (sent) => {
        sent.headers['X-Webhook-Timestamp'] = String(Number(sent.headers['X-Webhook-Timestamp']) - 400);
      },
    },
    ['timestamp.now'],
    /400 seconds old/,
  ],
  'an unknown event': [{ event: (event) => ({ ...event, event: 'booking.changed' }) }, ['envelope.event']],
  'a local time': [
    { event: (event) => ({ ...event, timestamp: '2026-06-15T12:00:00+02:00' }) },
    ['envelope.timestamp'],
  ],
  'another brand': [{ event: (event) => ({ ...event, brand_id: 'OPO02' }) }, ['envelope.brand_id']],
  'no brand': [rewrite(({ brand_id: _gone, ...rest }) => rest), ['envelope.brand_id']],
  'data as text': [rewrite((envelope) => ({ ...envelope, data: JSON.stringify(envelope.data) })), ['envelope.data']],
  'no event id': [rewrite(({ event_id: _gone, ...rest }) => rest), ['envelope.event_id']],
  'no retry': [{ options: { retries: 0 } }, ['retry.four']],
  'two retries': [{ options: { retries: 2 } }, ['retry.four']],
  'ten retries': [{ options: { retries: 10 } }, ['retry.stops']],
  'even waits': [{ options: { backoff: { firstMs: 2_000, factor: 1 } } }, ['retry.backoff']],
  'retries with the first signature': [
    { alter: (sent, _attempt, first) => Object.assign(sent.headers, first.headers) },
    ['retry.resigned'],
  ],
  'a new id for each retry': [rewrite((envelope) => ({ ...envelope, event_id: randomUUID() })), ['retry.same_id']],
  'a new time in each retry': [
    rewrite((envelope) => ({
      ...envelope,
      timestamp: new Date(Date.parse('2026-06-15T10:00:00Z') + Math.random() * 1e6).toISOString(),
    })),
    ['retry.same_body'],
  ],
  'Retry-After not heard': [
    { options: { maxRetryAfterMs: 0, backoff: { firstMs: 800, factor: 2 } } },
    ['retry.retry_after'],
  ],
  'accepted and sent again': [{ twice: true }, ['retry.accepted_once']],
  'only what changed': [
    data(({ reservation_id, status }) => ({ reservation_id, status, charges: [] })),
    ['data.complete'],
  ],
  'no charges': [data(({ charges: _gone, ...rest }) => rest), ['data.charges']],
  'other dates': [data((given) => ({ ...given, check_in: '15.06.2026' })), ['data.dates']],
  'one guest, no array': [data((given) => ({ ...given, guests: (given.guests as unknown[])[0] })), ['data.guests']],
  'adults as text': [data((given) => ({ ...given, stays: [{ room_type: 'Double', adults: '2' }] })), ['data.stays']],
  'cancelled, but confirmed': [data((given) => ({ ...given, status: 'confirmed' })), ['data.cancelled']],
};

test('a correct sender passes', async () => {
  const { report, not } = await check();
  assert.deepEqual(not, []);
  assert.equal(report.passed, true);
  assert.deepEqual(
    report.rules.filter(({ outcome }) => outcome === 'skip').map(({ id }) => id),
    ['events.kinds'],
  );
});

for (const [name, [breakage, expected, seen]] of Object.entries(broken)) {
  test(`${name}: ${expected.join(' and ')} is named`, async () => {
    const { report, not } = await check(breakage);
    assert.deepEqual(
      not,
      expected,
      JSON.stringify(
        report.rules.filter(({ id }) => not.includes(id)),
        null,
        1,
      ),
    );
    if (seen !== undefined) assert.match(report.rules.find(({ id }) => id === expected[0])?.seen ?? '', seen);
    const text = JSON.stringify(report);
    for (const hidden of ['Zdenka', 'Vaňková', 'zdenka@', '601000000', secret])
      assert.ok(!text.includes(hidden), `the report contains ${hidden}`);
  });
}

test('each rule except events.kinds is broken by at least one of these cases', async () => {
  const named = new Set(Object.values(broken).flatMap(([, expected]) => expected));
  assert.deepEqual(
    senderRules.map(({ id }) => id).filter((id) => !named.has(id)),
    ['events.kinds'],
  );
});

test('when the time is up, rules that could not be tested are skipped', async () => {
  const { report: finished } = await startSenderCheck({ patienceMs: 10 });
  const report = await finished;
  assert.equal(report.passed, false);
  assert.deepEqual([...new Set(report.rules.map(({ outcome }) => outcome))], ['skip']);
});

test('the check ends when everything was observed, and says what it waits for', async () => {
  let nowMs = Date.parse('2026-06-15T10:00:00Z');
  const heard: string[] = [];
  const listening = await startSenderCheck({
    now: () => nowMs,
    settleMs: 1,
    onProgress: ({ waitingFor }) => heard.push(waitingFor),
  });
  const sender = await WebhookSender.open({
    url: listening.url,
    secret: listening.secret,
    brandId: 'X',
    now: () => nowMs,
    wait: async (ms) => {
      nowMs += ms;
    },
  });
  for (const id of ['A', 'B', 'C']) await sender.send(reservation(id));
  assert.equal((await listening.report).passed, true);
  assert.match(heard[0] ?? '', /another event/);
  assert.match(heard[2] ?? '', /retry 2 of 4/);
});

test('every rule has a unique id and says what to change', () => {
  assert.equal(new Set(senderRules.map(({ id }) => id)).size, senderRules.length);
  for (const rule of senderRules) assert.ok(rule.title.length > 10 && rule.change.length > 10, rule.id);
});
