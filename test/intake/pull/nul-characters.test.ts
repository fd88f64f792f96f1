import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookings, type Reply } from './support/partner.ts';
import { sync } from './support/runtime.ts';
import { setUpPulls } from './support/set-up.ts';

/** PostgreSQL cannot store NUL characters: a run must end even if a partner sends one. */
const { runtime, partnerOf } = setUpPulls();
const week = { from: '2026-03-01', to: '2026-03-07' };
const cursor = { pagination: { type: 'cursor', next: 'next', cursor: 'query.cursor' } };

const answers: readonly (readonly [what: string, reply: () => Reply, code: string, state?: string])[] = [
  ['a key of a page without the list', () => ({ json: { '\0': 1, other: 2 } }), 'pull.wrong_shape'],
  ['its words about an error', () => ({ status: 400, json: { error: 'no\0such\0range' } }), 'pull.bad_request'],
  [
    'a cursor',
    () => ({ json: { reservations: bookings(2, week.from, 4), next: 'a\0b' } }),
    'pull.cursor_invalid',
    'incomplete',
  ],
  ['a refusal of the credentials', () => ({ status: 401, json: { message: 'bad\0token' } }), 'pull.auth_failed'],
];

for (const [what, reply, code, expected = 'failed'] of answers) {
  test(`a NUL character in ${what} ends the run with a code`, async () => {
    const partner = await partnerOf(reply);
    const name = `nul-${code.split('.')[1]}`;
    const ports = runtime.ports({ integration: name, baseUrl: partner.url, connector: { pull: cursor } });
    const { state, error } = await sync(ports, name, week);
    assert.deepEqual([state, error?.code], [expected, code]);
    const { rows } = await runtime.pool.query('select state from runs where integration = $1', [name]);
    assert.deepEqual(rows, [{ state: expected }]);
  });
}
