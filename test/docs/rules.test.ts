import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { compileRules, type Rule } from '../../src/core/transform/rules.ts';

/** The examples of docs/guides/rules.md. */

interface Example {
  readonly rules: readonly Rule[];
  readonly record: Partial<Reservation>;
  readonly becomes: 'dropped' | Partial<Reservation>;
}

const page = readFileSync(new URL('../../docs/guides/rules.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/```yaml\n(# (.*)\nrules:[\s\S]*?)```/g)];

test('the page has examples', () => assert.ok(blocks.length >= 4));

for (const [, text = '', title = ''] of blocks) {
  test(title, () => {
    const { rules, record, becomes } = parse(text) as Example;
    const compiled = compileRules(rules, { integration: 'grand', brand_id: 'LIS01', country: 'PT' });
    if (compiled.kind !== 'ok') return assert.fail(JSON.stringify(compiled));
    const whole = { id: 'R1', check_in: '2026-03-01', check_out: '2026-03-02', status: 'confirmed' as const };
    const before = { ...whole, guests: [], rooms: [], charges: [], ...record } as Reservation;
    const applied = compiled.rules.apply(before);
    if (becomes === 'dropped') return assert.equal(applied.kind, 'dropped');
    if (applied.kind !== 'kept') return assert.fail(JSON.stringify(applied));
    assert.deepEqual(applied.record, { ...before, ...becomes });
    return undefined;
  });
}
