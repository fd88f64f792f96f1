import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hmacSha256, newKey, open, parseKey, randomSecret, seal } from '../../src/kit/crypto.ts';

test('a sealed value opens under the same key and for the same purpose', () => {
  const key = newKey();
  fc.assert(
    fc.property(fc.string(), fc.string(), (plaintext, associated) => {
      const opened = open([key], seal([key], plaintext, associated), associated);
      assert.deepEqual(opened, { kind: 'ok', plaintext: Buffer.from(plaintext) });
    }),
  );
});

test('any flipped bit is noticed', () => {
  const key = newKey();
  const sealed = seal([key], 'a secret', 'row 1');
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.notEqual(open([key], changed, 'row 1').kind, 'ok', `bit ${bit}`);
  }
});

test('a value that is cut short or moved to another row does not open', () => {
  const key = newKey();
  const sealed = seal([key], 'a secret', 'row 1');
  for (let length = 0; length < sealed.length; length++) {
    assert.notEqual(open([key], sealed.subarray(0, length), 'row 1').kind, 'ok');
  }
  assert.deepEqual(open([key], sealed, 'row 2'), { kind: 'damaged' });
});

test('a sealed value does not contain the plaintext, and sealing twice gives different values', () => {
  const key = newKey();
  const [first, second] = [seal([key], 'a secret', ''), seal([key], 'a secret', '')];
  assert(!first.includes('a secret'));
  assert.notDeepEqual(first, second);
});

test('a new key seals while the old one still opens; a missing key is named', () => {
  const [old, current] = [newKey(), newKey()];
  const before = seal([old], 'kept', 'row');
  assert.equal(open([current, old], before, 'row').kind, 'ok');
  assert.deepEqual(open([current], before, 'row'), { kind: 'unknown_key', keyId: old.id });
  assert.equal(open([current], seal([current, old], 'new', 'row'), 'row').kind, 'ok');
});

test('a key is 32 bytes in hex or base64, and its id does not reveal it', () => {
  const { bytes, id } = newKey();
  for (const text of [
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('base64'),
    ` ${bytes.toString('base64url')}\n`,
  ]) {
    assert.deepEqual(parseKey(text)?.bytes, bytes);
    assert.equal(parseKey(text)?.id, id);
  }
  for (const text of ['', 'password', bytes.toString('hex').slice(1), bytes.subarray(1).toString('base64')])
    assert.equal(parseKey(text), undefined);
  assert(!bytes.toString('hex').includes(id));
});

test('the hmac is that of RFC 4231, test case 2', () => {
  assert.equal(
    hmacSha256(Buffer.from('Jefe'), 'what do ya want for nothing?').toString('hex'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('random secrets carry their prefix and do not repeat', () => {
  const secrets = new Set(Array.from({ length: 100 }, () => randomSecret('inn_')));
  assert.equal(secrets.size, 100);
  for (const text of secrets) assert.match(text, /^inn_[\w-]{43}$/);
});
