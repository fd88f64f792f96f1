import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { errorIn } from '../../../src/core/outbound/ask/actions.ts';
import { partnerMessage, readAnswer, withoutSecrets } from '../../../src/core/outbound/ask/answer.ts';
import { parseJson } from '../../../src/kit/json.ts';
import type { Json } from '../../../src/terms.ts';

const read = (text: string) => readAnswer(Buffer.from(text), undefined);

test('any JSON is read with every digit kept', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const answer = read(text);
      assert.ok(answer.kind === 'ok');
      assert.deepEqual(answer.body, parseJson(text));
    }),
  );
  const long = read(
    '{"id":12345678901234567890,"amount":0.12345678901234567,"exp":1e400,"text":"12345678901234567890e5"}',
  );
  assert.deepEqual(long, {
    kind: 'ok',
    body: { id: '12345678901234567890', amount: '0.12345678901234567', exp: '1e400', text: '12345678901234567890e5' },
  });
});

test('no message repeats the content', () => {
  for (const text of [
    '{"guest":"Maria Example',
    '{"email":"maria@example.com",}',
    'Maria Example',
    '<html>Maria</html>',
    '[1,2,"Maria"',
  ]) {
    const answer = read(text);
    assert.ok(answer.kind === 'unreadable');
    assert.doesNotMatch(answer.message, /maria/i);
  }
});

test('the partner’s message is found, shortened and masked', () => {
  const message = (body: unknown, secrets: string[] = []) => partnerMessage(Buffer.from(JSON.stringify(body)), secrets);
  assert.equal(message({ message: 'no' }), 'no');
  assert.equal(message({ error: { code: 5, message: 'bad\n date' } }), 'bad date');
  assert.equal(message({ errors: [{ detail: 'first' }, { detail: 'second' }] }), 'first; second');
  assert.equal(
    message({ error: 'invalid', error_description: 'the key s3cret is wrong' }, ['s3cret']),
    'the key *** is wrong',
  );
  assert.equal(message({ Errors: { ErrorCode: '301', ErrorMessage: 'no such hotel' } }), 'no such hotel');
  assert.equal(message({ response_code: 4, response_message: 'no such key', data: [] }), 'no such key');
  assert.equal(message({ request: { status: 'ERROR', error: { id: 'x', details: 'bad key' } } }), 'bad key');
  assert.equal(message('plain'), 'plain');
  assert.equal(message({ message: 'x'.repeat(1000) })?.length, 300);
});

test('an answer without a message is quoted from its beginning, on one line and masked', () => {
  const quoted = (text: string, secrets: string[] = []) => partnerMessage(Buffer.from(text), secrets);
  assert.equal(quoted('{"code":1}'), '{"code":1}');
  assert.equal(quoted('<html>\n  <h1>403</h1>'), '<html> <h1>403</h1>');
  assert.equal(quoted('Not today'), 'Not today');
  assert.equal(quoted(` \n`), undefined);
  assert.equal(quoted('x'.repeat(1_000_000))?.length, 300);
  const secret = 'p "q"/1';
  const escaped = `{"code":${JSON.stringify(secret)},"url":"/list?key=${encodeURIComponent(secret)}"}`;
  assert.equal(quoted(escaped, [secret]), '{"code":"***","url":"/list?key=***"}');
  assert.equal(errorIn({ success: false, ref: 'a-17' }, [], () => false)?.said, '{"success":false,"ref":"a-17"}');
});

test('an answer with a success status may report an error, or that there is none', () => {
  const code = (body: Json) => errorIn(body, [], () => false)?.rule.code;
  for (const body of [
    { Errors: { ErrorCode: '0', ErrorMessage: 'Success' } },
    { Errors: [{ ErrorCode: '0' }] },
    { error: { message: 'No error' } },
    { error: 'none' },
    { error: { code: 'OK' } },
  ]) {
    assert.equal(code(body), undefined, JSON.stringify(body));
  }
  assert.equal(code({ Errors: { ErrorCode: '202', ErrorMessage: 'Success' } }), 'pull.error_in_answer');
  assert.equal(code({ error: { message: 'no bookings table' } }), 'pull.error_in_answer');
  assert.equal(code({ error: 'Unauthorized', errorCode: '1000' }), 'pull.auth_failed');
  assert.equal(code({ Errors: { ErrorCode: '301', ErrorMessage: 'Unauthorized Request.' } }), 'pull.auth_failed');
  assert.equal(code({ error: 'Invalid API key' }), 'pull.auth_failed');
});

test('credentials are masked as they are, and escaped in JSON, in XML and in a URL', () => {
  const secret = 'p"<&> ä';
  const forms = [secret, JSON.stringify({ secret }), `<a b="p&quot;&lt;&amp;&gt; ä"/>`, encodeURIComponent(secret)];
  for (const form of forms) assert.ok(withoutSecrets(form, [secret]).includes('***'), form);
});
