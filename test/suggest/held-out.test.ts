import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanOf, scoreSystems } from './score-systems.ts';

/**
 * Invented responses in the styles of the field, written before anybody looked at how the suggestion works. `learnt` was used to improve
 * it; `held-out` was not. Scores of the first try, before any change: learnt 0.70 in the mean, held-out 0.73; two of the 24 systems
 * were not read at all.
 */
const least = { learnt: { mean: 0.7, lowest: 0 }, 'held-out': { mean: 0.73, lowest: 0 } } as const;

for (const [name, { mean, lowest }] of Object.entries(least)) {
  const scored = scoreSystems(new URL(`${name}/`, import.meta.url));
  for (const { file, about, score, misses } of scored) {
    test(`${name}, ${file}: ${about}`, (t) => {
      t.diagnostic(`${(score * 100).toFixed(1)} % of the expected fields`);
      assert.ok(score >= lowest, misses.join('\n'));
    });
  }
  test(`${name}: the mean`, (t) => {
    t.diagnostic(meanOf(scored).toFixed(3));
    assert.ok(meanOf(scored) >= mean, scored.map(({ file, score }) => `${file} ${score.toFixed(3)}`).join('\n'));
  });
}
