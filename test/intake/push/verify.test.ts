import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { diagnose } from '../../../src/core/intake/push/diagnose.ts';
import { mintEndpointId, mintSecret, secretKeys } from '../../../src/core/intake/push/mint.ts';
import {
  defaultVerification,
  type Headers,
  type HmacVerification,
  type Verification,
} from '../../../src/core/intake/push/verification.ts';
import { verify } from '../../../src/core/intake/push/verify.ts';

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
      fc.constantFrom<Verification['type']>('hmac', 'token', 'basic', 'standard_webhooks'),
      (a, b, type) => {
        const verification: Verification =
          type === 'hmac'
            ? a.length % 2 === 0
              ? defaultVerification
              : { ...inParts, header: 'x-webhook-signature' }
            : type === 'token'
              ? { type, header: 'x-webhook-signature', prefix: '' }
              : type === 'basic'
                ? { type, username: a }
                : { type, headers: 'webhook', toleranceS: 300 };
        const headers = {
          authorization: `Basic ${b}`,
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

/** As Stripe, Paddle and others sign: the time and the signatures are parts of one header. */
const inParts: HmacVerification = {
  type: 'hmac',
  algorithm: 'sha256',
  sign: 'timestamp.body',
  header: 'Pms-Signature',
  prefix: '',
  encoding: 'hex',
  parts: { timestamp: 't', signature: 'v1' },
  toleranceS: 300,
};
const partOf = (key: string, stamp = timestamp) =>
  createHmac('sha256', key).update(`${stamp}.`).update(body).digest('hex');

test('the time and the signature as parts of one header', () => {
  const sent = (header: string | string[], options = {}) => check(inParts, { 'pms-signature': header }, options);
  const mac = partOf(secret);
  const verified = { kind: 'verified', secretNo: 1 };
  // printf '1763164800.{"event":"guest.updated"}' | openssl dgst -sha256 -hmac "$secret"
  assert.equal(mac, 'f7f330b1f92721fd2a210cc37357f4219a3cf42e1e54198551ce5c2bb9314b19');
  assert.deepEqual(sent(`t=${timestamp},v1=${mac}`), verified);
  assert.deepEqual(sent(`v0=${'0'.repeat(64)}, v1=${mac.toUpperCase()} ;t=${timestamp}`), verified);
  assert.deepEqual(sent([`t=${timestamp}`, `v1=${mac}`]), verified, 'sent as two header lines');
  assert.deepEqual(sent(`t=${timestamp},v1=${mac}`, { at: now + 301_000 }), {
    kind: 'refused',
    reason: 'timestamp_old',
    skewS: 301,
  });
  const refused = (header: string, reason: string) =>
    assert.deepEqual(sent(header), { kind: 'refused', reason }, header);
  refused('', 'timestamp_missing');
  refused(`v1=${mac}`, 'timestamp_missing');
  refused(`t=,v1=${mac}`, 'timestamp_missing');
  refused(`t=${timestamp}000,v1=${mac}`, 'timestamp_malformed');
  refused(`t=${timestamp},t=${timestamp},v1=${mac}`, 'timestamp_malformed');
  refused(`t=${timestamp},v0=${mac}`, 'signature_missing');
  refused(`t=${timestamp},v1=`, 'signature_missing');
  refused(`t=${timestamp},v1=${mac.slice(1)}`, 'signature_malformed');
  refused(`t=1763164801,v1=${mac}`, 'signature_wrong');
  assert.deepEqual(check(inParts, {}), { kind: 'refused', reason: 'timestamp_missing' });
});

test('of several signatures in one header, one must match a valid secret', () => {
  const mac = partOf(secret);
  const other = partOf('the key that the partner is about to use');
  const sent = (...macs: string[]) =>
    check(inParts, { 'pms-signature': [`t=${timestamp}`, ...macs.map((one) => `v1=${one}`)].join(',') });
  assert.equal(sent(other, mac).kind, 'verified');
  assert.equal(sent(mac, other).kind, 'verified');
  assert.equal(sent('', 'not hexadecimal', mac).kind, 'verified');
  assert.deepEqual(sent(other, other), { kind: 'refused', reason: 'signature_wrong' });
  assert.equal(sent(...Array<string>(9).fill(other), mac).kind, 'verified');
  assert.equal(sent(...Array<string>(10).fill(other), mac).kind, 'refused', 'no more than ten are tried');
});

for (const [sign, string] of [
  ['v0:{timestamp}:{body}', `v0:${timestamp}:${body}`],
  ['{timestamp}{body}', `${timestamp}${body}`],
  ['{body}.{timestamp}', `${body}.${timestamp}`],
  ['{timestamp}\n{timestamp}\n{body}\n', `${timestamp}\n${timestamp}\n${body}\n`],
] as const) {
  test(`another signed text: ${JSON.stringify(sign)}`, () => {
    const { parts: _, ...rest } = inParts;
    const verification: Verification = { ...rest, sign, timestampHeader: 'Pms-Time' };
    const mac = createHmac('sha256', secret).update(string).digest('hex');
    const headers = { 'pms-signature': mac, 'pms-time': timestamp };
    assert.equal(check(verification, headers).kind, 'verified');
    assert.equal(check(verification, { ...headers, 'pms-time': '1763164801' }).kind, 'refused');
    assert.equal(check(verification, headers, { rawBody: Buffer.from('{}') }).kind, 'refused');
    assert.equal(check(verification, { ...headers, 'pms-time': '{body}' }).kind, 'refused');
  });
}

for (const [format, stamp, later, malformed] of [
  ['milliseconds', '1763164800500', '1763165101500', timestamp],
  ['iso', '2025-11-15T00:00:00Z', '2025-11-15T01:05:01+01:00', '2025-11-15 00:00:00'],
] as const) {
  test(`a signed time in another format: ${format}`, () => {
    const verification: Verification = { ...inParts, timestampFormat: format };
    const at = (time: string) => check(verification, { 'pms-signature': `t=${time},v1=${partOf(secret, time)}` });
    assert.equal(at(stamp).kind, 'verified');
    assert.deepEqual(at(later), { kind: 'refused', reason: 'timestamp_ahead', skewS: -301 });
    assert.deepEqual(at(malformed), { kind: 'refused', reason: 'timestamp_malformed' });
  });
}

test('the sandbox explains a wrong signature among the parts of a header', () => {
  const hint = (header: string) =>
    diagnose(inParts, { headers: { 'pms-signature': header }, query: '', rawBody: body }, [one])?.explain;
  const mac = (algorithm: string, string: string) =>
    createHmac(algorithm, secret).update(string).update(body).digest('base64');
  const right = mac('sha256', `${timestamp}.`);
  assert.match(hint(`t=${timestamp},v1=${right}`) ?? '', /correct; encode it as hex after the prefix "v1="/);
  assert.match(hint(`t=${timestamp},v1=${mac('sha256', timestamp)}`) ?? '', /The dot .* is missing/);
  assert.match(hint(`t=${timestamp},v1=0,v1=${mac('sha512', `${timestamp}.`)}`) ?? '', /made with HMAC-SHA512/);
  assert.equal(hint(`t=${timestamp}`), undefined);
});

test('parts without a timestamp: it has its own header, or only the body is signed', () => {
  const { parts: _, ...rest } = inParts;
  const parts = { signature: 'sig' };
  const apart: Verification = { ...rest, parts, timestampHeader: 'Pms-Time' };
  const headers = { 'pms-signature': `keyId=main,sig=${partOf(secret)}`, 'pms-time': timestamp };
  assert.equal(check(apart, headers).kind, 'verified');
  assert.equal(check(apart, { ...headers, 'pms-time': '1763164801' }).kind, 'refused');
  const bodyOnly: Verification = { ...rest, parts, sign: 'body', encoding: 'base64' };
  const mac = createHmac('sha256', secret).update(body).digest('base64');
  assert.equal(check(bodyOnly, { 'pms-signature': `sig=${mac}` }).kind, 'verified');
});

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

test('a secret that is empty or short verifies nothing, alone or beside a good one', () => {
  for (const weak of ['', 'short', 'whsec_', 'whsec_AAAAAAAA', `ab${'!"#$%&()*,-.:;<>?@[]^{|}~'}`]) {
    const secrets = [one, secretKeys(7, weak)];
    const key = Buffer.from(weak.replace(/^whsec_/, ''), 'base64');
    const signature = createHmac('sha256', key).update(`id.${timestamp}.`).update(body).digest('base64');
    const standard = { 'webhook-id': 'id', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
    const scheme = { type: 'standard_webhooks', headers: 'webhook', toleranceS: 300 } as const;
    assert.equal(check(scheme, standard, { secrets }).kind, 'refused', weak);
    if (weak.length >= 24) continue;
    const token = { type: 'token', header: 'x-token', prefix: 'Bearer ' } as const;
    assert.equal(check(token, { 'x-token': `Bearer ${weak}` }, { secrets }).kind, 'refused', weak);
    assert.equal(check(defaultVerification, signed(weak), { secrets }).kind, 'refused', weak);
  }
});

test('the body is signed as Base64 text in lines of 60 characters, as Ruby writes it', () => {
  const text = 'x'.repeat(100);
  // [text].pack('m') of Ruby: 100 characters are 136 of Base64.
  const lines = [60, 60, 16].map(
    (length, i) =>
      `${Buffer.from(text)
        .toString('base64')
        .slice(i * 60, i * 60 + length)}\n`,
  );
  const mac = createHmac('sha1', secret).update(lines.join('')).digest('hex');
  const scheme: Verification = {
    type: 'hmac',
    algorithm: 'sha1',
    sign: '{body_base64}',
    header: 'X-Content-Signature',
    prefix: '',
    encoding: 'hex',
    timestampHeader: undefined,
    timestampFormat: 'seconds',
    toleranceS: 300,
  };
  const request = { headers: { 'x-content-signature': mac }, query: '', rawBody: Buffer.from(text) };
  const secrets = [secretKeys(1, secret)];
  assert.equal(verify(scheme, request, secrets, 0).kind, 'verified');
  assert.equal(verify(scheme, { ...request, rawBody: Buffer.from(`${text} `) }, secrets, 0).kind, 'refused');
});
