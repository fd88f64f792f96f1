import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOf } from '../../src/core/deliver/batch.ts';
import { outcomeOf } from '../../src/core/deliver/http-answer.ts';

const answer = (type: string | undefined, body: string) =>
  outcomeOf(
    {
      kind: 'answered',
      status: 200,
      headers: type === undefined ? {} : { 'content-type': type },
      bytes: new TextEncoder().encode(body),
      durationMs: 5,
    } as never,
    0,
    '{}',
  );

test('a maintenance page with status 200 is no delivery, and an outage of the destination', () => {
  const page = answer('text/html; charset=utf-8', '<!DOCTYPE html><title>Maintenance</title><p>Back soon.</p>');
  assert.ok(page.kind === 'retry' && page.code === 'deliver.web_page');
  assert.match(
    page.message,
    /answered 200.* with a web page: something before its API answered, and nothing was taken/,
  );
  const records = ['R1', 'R2'].map((id) => ({ record: { id }, outcome: page }));
  assert.equal(healthOf(records as never)?.kind, 'failed');
});

test('JSON, nothing, and a word that a script calls HTML are deliveries', () => {
  assert.equal(answer('application/json', '{"ok":true}').kind, 'delivered');
  assert.equal(answer(undefined, '').kind, 'delivered');
  assert.equal(answer('text/html', 'OK').kind, 'delivered');
  assert.equal(answer('text/plain', '<html> as text').kind, 'delivered');
});
