import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownWords, withOwnWords } from '../../console/src/parts/answer.ts';

const words = (answer: unknown) => ownWords(typeof answer === 'string' ? answer : JSON.stringify(answer))?.words;

test('the explanation is found wherever APIs put it', () => {
  assert.equal(words({ error: 'loyalty tier is required' }), 'loyalty tier is required');
  assert.equal(words({ title: 'Invalid', detail: 'email is taken' }), 'email is taken');
  assert.equal(words({ error: { code: 7, message: 'no such list' } }), 'no such list');
  assert.equal(words({ errors: [{ message: 'a' }, { message: 'b' }, { message: 'a' }] }), 'a; b');
  assert.equal(words({ errors: { email: ['is invalid'] } }), '{"errors":{"email":["is invalid"]}}');
});

test('an answer that is not JSON is shown as text, without tags and not too long', () => {
  assert.equal(words('<html><h1>Bad gateway</h1></html>'), 'Bad gateway');
  assert.equal(words('x'.repeat(2_000))?.length, 302);
  assert.equal(ownWords('  '), undefined);
  assert.equal(ownWords(undefined), undefined);
});

test('the words follow what we say about the answer', () => {
  assert.equal(
    withOwnWords('The destination answered 422.', '{"error":"no tier"}'),
    'The destination answered 422: no tier',
  );
  assert.equal(
    withOwnWords('The destination answered 422: no ….', '{"error":"no tier"}'),
    'The destination answered 422: no tier',
    'not both, the words that everyone may read and the full ones',
  );
  assert.equal(withOwnWords('The destination answered 422.', undefined), 'The destination answered 422.');
});
