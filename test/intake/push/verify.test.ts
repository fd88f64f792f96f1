import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { mintEndpointId, mintSecret, secretKeys } from '../../../src/intake/push/mint.ts';
import { defaultVerification, type Headers, type Verification, verify } from '../../../src/intake/push/verify.ts';

const secret = 'whsec_dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVy';
const one = secretKeys(1, secret);
const two = secretKeys(2, 'whsec_c29tZXRoaW5nIGVsc2UgYWx0b2dldGhlciBub3c');
const body = Buffer.from('{"event":"guest.updated"}');
const now = 1_763_164_800_500;
const timestamp = '1763164800';

const check = (
  verification: Verification,
  headers: Headers,
  options: { query?: string; secrets?: (typeof one)[]; at?: number; rawBody?: Buffer } = {},
) =>
  verify(
    verification,
    { headers, query: options.query ?? '', rawBody: options.rawBody ?? body },
    options.secrets ?? [one],
    options.at ?? now,
  );

const signed = (key: string, stamp = timestamp, rawBody: Buffer = body): Headers => ({
  'x-webhook-timestamp': stamp,
  'x-webhook-signature': `sha512=${createHmac('sha512', key).update(`${stamp}.`).update(rawBody).digest('hex')}`,
});

test('the published example verifies: the recipe of the interface, computed elsewhere', () => {
  // printf '1763164800.{"event":"guest.updated"}' | openssl dgst -sha512 -hmac "$secret"
  const signature =
    'sha512=1f75c4648b5540b6a5a397d17804bbf1e95ddc703079e8b390c310a2d0863a397a58c742b534746aad64eecf73cee8b84fb9cf7c497e65c8cc70ce9fba0030be';
  assert.deepEqual(check(defaultVerification, { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature }), {
    kind: 'verified',
    secretNo: 1,
  });
});

test('any of the valid secrets verifies, and the verdict says which', () => {
  const secrets = [two, one];
  assert.deepEqual(check(defaultVerification, signed(secret), { secrets }), { kind: 'verified', secretNo: 1 });
  assert.deepEqual(check(defaultVerification, signed(two.bytes.toString()), { secrets }), {
    kind: 'verified',
    secretNo: 2,
  });
});

test('a secret expires at its time', () => {
  const ending = secretKeys(1, secret, now);
  assert.deepEqual(check(defaultVerification, signed(secret), { secrets: [ending] }), {
    kind: 'refused',
    reason: 'no_valid_secret',
  });
  assert.equal(check(defaultVerification, signed(secret), { secrets: [ending], at: now - 1 }).kind, 'verified');
  assert.deepEqual(check(defaultVerification, signed(secret), { secrets: [ending, two] }), {
    kind: 'refused',
    reason: 'signature_wrong',
  });
});

test('300 s to either side are accepted, 301 are not, and the skew is reported', () => {
  const at = (skew: number) => check(defaultVerification, signed(secret), { at: now + skew * 1000 });
  assert.equal(at(300).kind, 'verified');
  assert.equal(at(-300).kind, 'verified');
  assert.deepEqual(at(301), { kind: 'refused', reason: 'timestamp_old', skewS: 301 });
  assert.deepEqual(at(-301), { kind: 'refused', reason: 'timestamp_ahead', skewS: -301 });
});

test('property: any change to body, timestamp or signature is refused', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (bytes, place, flip) => {
        const rawBody = Buffer.from(bytes);
        const headers = signed(secret, timestamp, rawBody);
        assert.equal(check(defaultVerification, headers, { rawBody }).kind, 'verified');
        const changed = Buffer.from(rawBody);
        changed[place % changed.length] = (changed[place % changed.length] ?? 0) ^ flip;
        assert.equal(check(defaultVerification, headers, { rawBody: changed }).kind, 'refused');
        const later = { ...headers, 'x-webhook-timestamp': '1763164801' };
        assert.equal(check(defaultVerification, later, { rawBody }).kind, 'refused');
        const signature = String(headers['x-webhook-signature']);
        const at = 7 + (place % 128);
        const digit = signature[at] === '0' ? '1' : '0';
        const forged = { ...headers, 'x-webhook-signature': signature.slice(0, at) + digit + signature.slice(at + 1) };
        assert.equal(check(defaultVerification, forged, { rawBody }).kind, 'refused');
      },
    ),
  );
});

test('property: no header makes it throw', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string(),
      fc.constantFrom<Verification['type']>('hmac', 'token', 'standard_webhooks'),
      (a, b, type) => {
        const verification: Verification =
          type === 'hmac'
            ? defaultVerification
            : type === 'token'
              ? { type, header: 'x-webhook-signature', prefix: '' }
              : { type, headers: 'webhook', toleranceS: 300 };
        const headers = {
          'x-webhook-timestamp': a,
          'x-webhook-signature': b,
          'webhook-id': a,
          'webhook-timestamp': timestamp,
          'webhook-signature': b,
        };
        assert.equal(check(verification, headers).kind, 'refused');
      },
    ),
  );
});

for (const algorithm of ['sha256', 'sha512'] as const) {
  for (const encoding of ['hex', 'base64'] as const) {
    for (const sign of ['timestamp.body', 'body'] as const) {
      test(`another sender: ${algorithm}, ${encoding}, over ${sign}`, () => {
        const verification: Verification = {
          type: 'hmac',
          algorithm,
          encoding,
          sign,
          header: 'X-Pms-Sig',
          prefix: 'v0:',
          toleranceS: 60,
          ...(sign === 'timestamp.body' && { timestampHeader: 'X-Pms-Time' }),
        };
        const string = sign === 'body' ? '' : `${timestamp}.`;
        const mac = createHmac(algorithm, secret).update(string).update(body).digest(encoding);
        const headers = { 'x-pms-sig': `v0:${mac}`, 'x-pms-time': timestamp };
        assert.equal(check(verification, headers).kind, 'verified');
        assert.equal(check(verification, { ...headers, 'x-pms-sig': mac }).kind, 'refused', 'without the prefix');
        assert.equal(check(verification, headers, { rawBody: Buffer.from('{}') }).kind, 'refused');
        assert.equal(check(verification, headers, { at: now + 61_000 }).kind, sign === 'body' ? 'verified' : 'refused');
      });
    }
  }
}

test('a token in a header or in the URL', () => {
  const inHeader: Verification = { type: 'token', header: 'Authorization', prefix: 'Bearer ' };
  assert.deepEqual(check(inHeader, { authorization: `Bearer ${secret}` }), { kind: 'verified', secretNo: 1 });
  assert.deepEqual(check(inHeader, { authorization: secret }), { kind: 'refused', reason: 'signature_malformed' });
  assert.deepEqual(check(inHeader, { authorization: `Bearer ${secret}x` }), {
    kind: 'refused',
    reason: 'signature_wrong',
  });
  assert.deepEqual(check(inHeader, {}), { kind: 'refused', reason: 'signature_missing' });
  const inUrl: Verification = { type: 'token', query: 'token', prefix: '' };
  assert.equal(check(inUrl, {}, { query: `a=1&token=${secret}` }).kind, 'verified');
  assert.deepEqual(check(inUrl, {}, { query: 'token=' }), { kind: 'refused', reason: 'signature_missing' });
  assert.deepEqual(check(inUrl, {}, { query: `tokens=${secret}` }), { kind: 'refused', reason: 'signature_missing' });
});

test('Standard Webhooks, as its own library signs', () => {
  const verification: Verification = { type: 'standard_webhooks', headers: 'webhook', toleranceS: 300 };
  const issued = mintSecret();
  const secrets = [secretKeys(4, issued)];
  const signature = new Webhook(issued).sign('msg_1', new Date(now), body.toString());
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  assert.deepEqual(check(verification, headers, { secrets }), { kind: 'verified', secretNo: 4 });
  const several = {
    ...headers,
    'webhook-signature': `v1a,AAAA v1,${Buffer.alloc(32).toString('base64')} ${signature}`,
  };
  assert.equal(check(verification, several, { secrets }).kind, 'verified');
  assert.equal(check(verification, { ...headers, 'webhook-id': 'msg_2' }, { secrets }).kind, 'refused');
  assert.deepEqual(check(verification, { ...headers, 'webhook-id': undefined }, { secrets }), {
    kind: 'refused',
    reason: 'id_missing',
  });
  assert.equal(check(verification, headers, { secrets, at: now + 301_000 }).kind, 'refused');
});

test('minted ids and secrets: never twice, safe in URLs, shells and both schemes', () => {
  const secrets = new Set(Array.from({ length: 500 }, mintSecret));
  assert.equal(secrets.size, 500);
  for (const each of secrets) assert.match(each, /^whsec_[A-Za-z0-9]{44}$/);
  assert.match(mintEndpointId(false), /^whk_[0-9a-z]{20}$/);
  assert.match(mintEndpointId(true), /^sbx_[0-9a-z]{20}$/);
});
