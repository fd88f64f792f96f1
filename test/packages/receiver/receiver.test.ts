import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  isNewer,
  type Message,
  readMessages,
  recordKey,
  SeenKeys,
  verify,
} from '../../../packages/receiver/src/index.ts';
import { recordFile, recordText } from '../../../scripts/receiver-types.ts';
import { encodeMessage, type Message as Sent } from '../../../src/core/deliver/message.ts';

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const now = Date.UTC(2026, 5, 1);
const sent = {
  type: 'reservation',
  integration: 'lisbon-grand',
  brand_id: 'LIS01',
  event: 'updated',
  version: 3,
  idempotency_key: 'ib_key',
  data: { id: 'R-1', status: 'confirmed', total_amount: '512.40', guests: [{ first_name: 'Ana' }] },
} as unknown as Sent;
const body = encodeMessage(sent);

/** Signed by the reference library of Standard Webhooks. */
function headers(at = now, text = body, by = secret): Record<string, string> {
  const signature = new Webhook(by).sign('ib_key', new Date(at), text);
  return {
    'webhook-id': 'ib_key',
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signature,
  };
}

test('a signed message is verified and typed; with two secrets, either one counts', () => {
  const other = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;
  for (const given of [body, Buffer.from(body)]) {
    const checked = verify({ headers: headers(), body: given, secrets: [other, secret], now });
    assert.ok(checked.kind === 'verified');
    assert.equal(checked.id, 'ib_key');
    assert.equal(checked.message.type === 'reservation' && checked.message.data.total_amount, 512.4);
  }
});

test('a wrong secret, a changed byte, an old request and missing headers are refused with 401', () => {
  const refusals = [
    { headers: headers(now, body, `whsec_${Buffer.alloc(32, 9).toString('base64')}`) },
    { body: body.replace('"version":3', '"version":4') },
    { headers: headers(now - 301_000) },
    { headers: headers(now + 301_000) },
    { headers: { ...headers(), 'webhook-timestamp': '1e9' } },
    { headers: { ...headers(), 'webhook-signature': 'v1,' } },
    { headers: {} },
  ];
  for (const wrong of refusals) {
    const checked = verify({ headers: headers(), body, secrets: [secret], now, ...wrong });
    assert.deepEqual([checked.kind, 'status' in checked && checked.status], ['refused', 401], JSON.stringify(wrong));
  }
});

test('a secret that decodes to little verifies nothing, alone or beside a good one', () => {
  for (const weak of [
    '',
    'whsec_',
    '!!!!',
    'whsec_!!!!',
    'whsec_AAAA',
    'whsec_é',
    `whsec_AA${'!'.repeat(60)}`,
    undefined,
  ]) {
    const key = Buffer.from(weak?.replace(/^whsec_/, '') ?? '', 'base64');
    const signature = createHmac('sha256', key)
      .update(`ib_key.${now / 1000}.${body}`)
      .digest('base64');
    const forged = { ...headers(), 'webhook-signature': `v1,${signature}` };
    for (const secrets of [[weak], [secret, weak]] as string[][]) {
      assert.equal(verify({ headers: forged, body, secrets, now }).kind, 'refused', String(weak));
    }
    assert.equal(verify({ headers: headers(), body, secrets: [weak, secret] as string[], now }).kind, 'verified');
  }
});

test('no tolerance or clock switches the age check off', () => {
  const old = headers(now - 86_400_000);
  for (const odd of [{ toleranceSeconds: Number.NaN }, { now: Number.NaN }, { toleranceSeconds: -1 }]) {
    assert.equal(verify({ headers: old, body, secrets: [secret], now, ...odd }).kind, 'refused');
  }
});

test('a signed body that is not one message is refused with 400', () => {
  for (const text of ['{', '[]', `[${body},${body}]`, '{"type":"invoice"}']) {
    const checked = verify({ headers: headers(now, text), body: text, secrets: [secret], now });
    assert.deepEqual([checked.kind, 'status' in checked && checked.status], ['refused', 400], text);
  }
});

test('a batch is a list of messages', () => {
  const read = readMessages(`[${body},${body}]`);
  assert.ok(!('wrong' in read));
  assert.equal(read.length, 2);
});

test('the epoch outranks the version', () => {
  assert.equal(isNewer({ version: 1 }, undefined), true);
  assert.equal(isNewer({ version: 3 }, { version: 3 }), false);
  assert.equal(isNewer({ version: 4 }, { version: 3 }), true);
  assert.equal(isNewer({ epoch: 2, version: 1 }, { version: 9 }), true);
  assert.equal(isNewer({ version: 9 }, { epoch: 2, version: 1 }), false);
  const [one] = readMessages(body) as readonly Message[];
  assert.ok(one);
  assert.notEqual(recordKey(one), recordKey({ ...one, integration: 'kamo-riverside' }));
});

test('a key is new once, until it is removed or the oldest are forgotten', () => {
  const seen = new SeenKeys(2);
  assert.deepEqual(
    ['a', 'a', 'b', 'c', 'a'].map((key) => seen.add(key)),
    [true, false, true, true, true],
  );
  seen.remove('a');
  assert.equal(seen.add('a'), true);
});

test('the types are those of the table of fields', () => {
  assert.equal(readFileSync(recordFile, 'utf8'), recordText(), 'run: npm run generate');
});
