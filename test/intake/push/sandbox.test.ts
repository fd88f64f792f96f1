import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openSandbox } from '../../../src/core/intake/push/sandbox.ts';
import { reportOn } from '../../../src/core/intake/push/sandbox-report.ts';
import {
  listSandboxReports,
  pruneSandboxReports,
  readSandboxReport,
  saveSandboxReport,
} from '../../../src/core/store/events/sandbox.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { strictLimits } from '../../../src/kit/json.ts';
import type { Json } from '../../../src/terms.ts';
import { activeIntegration } from './events-support.ts';
import {
  eventBody,
  exchange,
  nowS,
  rawRequest,
  reservationData,
  type Service,
  settings,
  sign,
  startIntake,
} from './support.ts';

let service: Service;
const transforms = [
  { drop: ['guests[].document_number'] },
  { when: 'guest.email.endsWith("@grand.example")', drop: ['guests[]'], note: 'Staff.' },
];
const brand = activeIntegration({}, { transforms });

before(async () => {
  service = await startIntake({
    sandbox: (intake, pool) =>
      openSandbox({
        clock: systemClock,
        endpoint: intake.directory.endpoint,
        report: async (_, arrived, examined) => reportOn(arrived, { ...examined, settings, brand }),
        witness: async () => 'new',
        save: (endpointId, name, report) => saveSandboxReport(pool, endpointId, name, report),
        list: (endpointId) => listSandboxReports(pool, endpointId),
        read: (endpointId, reportId) => readSandboxReport(pool, endpointId, reportId),
        jsonLimits: () => strictLimits,
      }),
  });
});
after(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: reports are read as the partner's developer reads them
type Report = any;

async function examine(
  body: string | Buffer,
  headers: Record<string, string | undefined> = {},
): Promise<{ status: number; json: Report }> {
  const target = { secret: service.secret, endpointId: service.sandboxId };
  const [answer] = await exchange(service.port, rawRequest(target, body, headers));
  if (!answer) throw new Error('no answer');
  return { status: answer.status, json: answer.json };
}

const nothingLive = async () => {
  const { rows } = await service.pool.query(
    `select (select count(*) from events) + (select count(*) from records) + (select count(*) from dead_letters) as n`,
  );
  assert.deepEqual(rows, [{ n: 0 }]);
};

test('a valid event is reported with the resulting record and what normalization changed', async () => {
  const data = reservationData({
    guests: [{ first_name: 'MARTA', last_name: 'QUILL', email: ' Marta@Mail.Example ', phone: '912 345 678' }],
  });
  const { status, json } = await examine(eventBody({ data }));
  assert.equal(status, 200);
  assert.equal(json.status, 'accepted');
  assert.equal(json.event_id, 'ev-1');
  const { report } = json;
  assert.equal(report.would_answer.status, 202);
  assert.partialDeepStrictEqual(report.signature, { right: true });
  assert.deepEqual(report.envelope, []);
  assert.equal(report.outcome.kind, 'record');
  assert.deepEqual(report.outcome.record.guests, [
    { first_name: 'Marta', last_name: 'Quill', email: 'marta@mail.example', phone: '+351912345678' },
  ]);
  const changed = new Set(report.outcome.notes.map(({ field }: { field: string }) => field));
  assert.ok(changed.has('guests[0].phone') && changed.has('guests[0].email'));
  await nothingLive();
});

const hmac = (algorithm: string, string: string, key: string | Buffer = service.secret) =>
  createHmac(algorithm, key).update(string);
const body = eventBody();
function inAlphabet(json: string): string {
  const keys = new Set<string>();
  const value = JSON.parse(json, (key, one) => {
    keys.add(key);
    return one;
  });
  return JSON.stringify(value, [...keys].sort());
}
let timestamp = '';
for (const [mistake, signature, explanation] of [
  ['only the body signed', () => `sha512=${hmac('sha512', body).digest('hex')}`, /Only the body was signed/],
  ['SHA-256', () => `sha256=${hmac('sha256', `${timestamp}.${body}`).digest('hex')}`, /HMAC-SHA256/],
  ['base64', () => `sha512=${hmac('sha512', `${timestamp}.${body}`).digest('base64')}`, /encode it as hex/],
  ['no prefix', () => hmac('sha512', `${timestamp}.${body}`).digest('hex'), /after the prefix "sha512="/],
  [
    'the secret decoded',
    () =>
      `sha512=${hmac('sha512', `${timestamp}.${body}`, Buffer.from(service.secret.slice(6), 'base64')).digest('hex')}`,
    /whole secret as issued/,
  ],
  ['no dot', () => `sha512=${hmac('sha512', `${timestamp}${body}`).digest('hex')}`, /dot between/],
  [
    'another layout of the JSON',
    () => `sha512=${hmac('sha512', `${timestamp}.${JSON.stringify(JSON.parse(body), null, 2)}`).digest('hex')}`,
    /with line breaks/,
  ],
  [
    'a line break that was not sent',
    () => `sha512=${hmac('sha512', `${timestamp}.${body}\n`).digest('hex')}`,
    /trailing line break/,
  ],
  [
    'keys in another order',
    () => `sha512=${hmac('sha512', `${timestamp}.${inAlphabet(body)}`).digest('hex')}`,
    /alphabetical order/,
  ],
  ['another secret', () => sign('whsec_other', timestamp, body), /does not match this body/],
] as const) {
  test(`a wrong signature is explained: ${mistake}`, async () => {
    timestamp = nowS();
    const { status, json } = await examine(body, {
      'x-webhook-timestamp': timestamp,
      'x-webhook-signature': signature(),
    });
    assert.equal(status, 200);
    assert.equal(json.report.signature.right, false);
    assert.equal(json.report.would_answer.status, 401);
    assert.match(json.report.signature.explanation, explanation);
    assert.equal(json.report.outcome.kind, 'record', 'the rest of the report is still there');
  });
}

for (const [mistake, stated, part] of [
  ['milliseconds', () => String(Date.now()), 'timestamp_malformed'],
  ['a clock that is slow', () => String(Number(nowS()) - 400), 'timestamp_old'],
  ['a clock that is fast', () => String(Number(nowS()) + 400), 'timestamp_ahead'],
] as const) {
  test(`a wrong time that is signed correctly is a wrong time, and nothing else: ${mistake}`, async () => {
    const at = stated();
    const { json } = await examine(body, {
      'x-webhook-timestamp': at,
      'x-webhook-signature': sign(service.secret, at, body),
    });
    assert.deepEqual([json.report.signature.part, json.report.signature.reason], ['time', part]);
    assert.doesNotMatch(json.report.signature.explanation, /encode/);
  });
}

test('a wrong clock is reported with its offset', async () => {
  const late = String(Number(nowS()) - 4000);
  const { json } = await examine(body, { 'x-webhook-timestamp': late });
  assert.equal(json.report.signature.reason, 'timestamp_old');
  assert.ok(Math.abs(json.report.signature.skew_s - 4000) < 100);
});

for (const [what, send, status] of [
  ['not JSON', () => examine('<xml/>'), 400],
  ['not UTF-8', () => examine(Buffer.from([0x7b, 0xff, 0x7d])), 400],
  ['nothing', () => examine(''), 400],
  ['another media type', () => examine(body, { 'content-type': 'text/xml' }), 415],
  ['a bad envelope', () => examine('{"event":"x"}'), 422],
] as const) {
  test(`any request is accepted for a report: ${what}`, async () => {
    const answer = await send();
    assert.equal(answer.status, 200);
    assert.equal(answer.json.report.would_answer.status, status);
    assert.equal(answer.json.status, 'refused', 'accepted only where live would accept it');
  });
}

test('a body over the limit of live is reported as such, with the rest of the report', async () => {
  const large = eventBody({ data: reservationData({ remarks: 'x'.repeat(1_500_000) }) });
  const { status, json } = await examine(large);
  assert.equal(status, 200);
  assert.deepEqual([json.status, json.report.would_answer.status], ['refused', 413]);
  assert.equal(json.report.signature.right, true);
  assert.equal(json.report.outcome.kind, 'record');
});

test('a record that could not become canonical is reported with field and rule', async () => {
  const { json } = await examine(eventBody({ data: reservationData({ check_out: '2026-02-30', status: 'weird' }) }));
  assert.equal(json.report.would_answer.status, 202, 'that would be our dead letter, not the sender’s retry');
  assert.equal(json.report.outcome.kind, 'dead_letter');
  assert.match(json.report.outcome.message, /check_out/);
});

test('a partial event is reported with what it changes, and with what it lacks for a new reservation', async () => {
  const bare = { reservation_id: 'R-77' };
  const { json } = await examine(eventBody({ event: 'reservation.cancelled', data: bare }));
  const { kind, record, effect } = json.report.outcome;
  assert.deepEqual([kind, record], ['record', { id: 'R-77', status: 'cancelled' }]);
  assert.match(effect, /If it is not stored, .*record\.unknown_reservation.*check_in is missing/);
  const created = await examine(eventBody({ event: 'reservation.created', data: bare }));
  assert.equal(created.json.report.outcome.code, 'record.invalid', 'a new reservation must be complete');
});

test('a guest event is reported with the resulting guest', async () => {
  const { json } = await examine(
    eventBody({ event: 'guest.updated', data: { guest: { id: 'G-1', email: 'A@mail.example' } } }),
  );
  assert.deepEqual(json.report.outcome.record, { guest_id: 'G-1', email: 'a@mail.example' });
  assert.match(json.report.outcome.effect, /profile found by guest_id, then e-mail, or creates one/);
});

test('a guest event is reported as the rules change it', async () => {
  const updated = (data: Json) => examine(eventBody({ event: 'guest.updated', data }));
  const { json } = await updated({ email: 'a@mail.example', document_number: 'N1234567' });
  assert.deepEqual(json.report.outcome.record, { email: 'a@mail.example' });
  assert.equal(json.report.outcome.notes[0].code, 'rule_removed');
  const staff = await updated({ email: 'desk@grand.example' });
  assert.deepEqual(staff.json.report.outcome, { kind: 'dropped', reason: 'Staff.' });
});

test('a guest event that identifies nobody is reported as the dead letter that it would be', async () => {
  for (const data of [{}, { first_name: 'Ana' }, { email: 'not an address' }]) {
    const { json } = await examine(eventBody({ event: 'guest.updated', data }));
    assert.deepEqual(
      [json.status, json.report.outcome.kind, json.report.outcome.code],
      ['accepted', 'dead_letter', 'push.guest_unidentified'],
    );
  }
});

test('a guest event with the whole reservation is reported with each of its guests', async () => {
  const guests = [{ email: 'a@mail.example' }, { email: 'b@mail.example' }, {}];
  const { json } = await examine(eventBody({ event: 'guest.updated', data: reservationData({ guests }) }));
  assert.deepEqual(json.report.outcome.record, {
    guests: [{ email: 'a@mail.example' }, { email: 'b@mail.example' }, {}],
  });
  assert.match(json.report.outcome.effect, /then reservation R-1001/);
});

test('reports are readable by link, as JSON and as a page, and listed', async () => {
  const { json } = await examine(eventBody({ event_id: '<script>alert(1)</script>' }));
  const url = `http://127.0.0.1:${service.port}`;
  const read = await fetch(url + json.report_url);
  assert.equal(read.status, 200);
  assert.equal(((await read.json()) as Report).report_id, json.report.report_id);
  const page = await fetch(url + json.report_url, { headers: { accept: 'text/html' } });
  assert.match(page.headers.get('content-type') ?? '', /text\/html/);
  assert.ok(!(await page.text()).includes('<script>'));
  const list = await fetch(`${url}/webhooks/${service.sandboxId}`);
  assert.ok(
    ((await list.json()) as Report).reports.some(({ report_id }: Report) => report_id === json.report.report_id),
  );
  for (const wrong of [
    `/webhooks/${service.sandboxId}/reports/rep_none`,
    `/webhooks/${service.endpointId}/reports`,
    '/webhooks/sbx_none12345/reports',
  ]) {
    assert.equal((await fetch(url + wrong)).status, 404, wrong);
  }
});

test('reports expire', async () => {
  await service.pool.query(`update sandbox_reports set at = now() - interval '8 days'`);
  const { json } = await examine(body);
  await pruneSandboxReports(service.pool, 7 * 86_400_000);
  const { rows } = await service.pool.query('select report_id from sandbox_reports');
  assert.deepEqual(rows, [{ report_id: json.report.report_id }]);
});
