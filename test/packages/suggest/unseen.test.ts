import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseJson } from '../../../src/kit/json.ts';
import type { GoldenCase } from '../../connectors/cases.ts';
import { measure } from './measure.ts';

/**
 * Invented responses in the style of many systems: other words, languages and depths. Each was written before the vocabulary was
 * adapted to it. At the first try edges, german-pension and resort had 116 of 120 fields right; rows-of-a-group, stays-with-guests,
 * rental-minor-units and hal-contact 213 of 235.
 */
const dir = new URL('unseen/', import.meta.url);
const leastOfOne = 0.85;
const leastOfAll = 0.95;

const measured = readdirSync(dir).map((file) => {
  const golden = parseJson(readFileSync(new URL(file, dir), 'utf8')) as unknown as GoldenCase;
  return { file, ...measure(golden) };
});

for (const { file, hits, all, misses } of measured) {
  test(`${file}: most suggested fields are right`, (t) => {
    t.diagnostic(`${file}: ${hits} of ${all} fields (${((hits / all) * 100).toFixed(1)} %)`);
    assert.ok(hits / all >= leastOfOne, misses.join('\n'));
  });
}

test('of the lines marked 0.9 or surer, 97 of 100 are right', () => {
  const sure = measured.flatMap((one) => one.sure.map((line) => ({ file: one.file, ...line })));
  const wrong = sure.filter(({ right }) => !right);
  assert.ok(sure.length > 300, `${sure.length} lines`);
  assert.ok(wrong.length <= sure.length * 0.03, wrong.map(({ file, field }) => `${file} ${field}`).join('\n'));
});

test('over all shapes, nineteen fields of twenty are right', () => {
  const hits = measured.reduce((sum, one) => sum + one.hits, 0);
  const all = measured.reduce((sum, one) => sum + one.all, 0);
  const misses = measured.flatMap((one) => one.misses.map((miss) => `${one.file} ${miss}`));
  assert.ok(hits / all >= leastOfAll, `${hits} of ${all}\n${misses.join('\n')}`);
});
