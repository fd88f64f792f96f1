import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectorNames, readCases } from '../../connectors/cases.ts';
import { measure } from './measure.ts';

/** Nine fields of ten must be right, from the response alone. */
const least = 0.9;

for (const name of connectorNames) {
  for (const golden of readCases(name).filter(
    ({ response, records }) => response !== undefined && records.length > 0,
  )) {
    test(`${golden.name}: the suggested mapping gives the golden records`, (t) => {
      const { hits, all, misses } = measure(golden);
      t.diagnostic(`${golden.name}: ${hits} of ${all} fields (${((hits / all) * 100).toFixed(1)} %)`);
      assert.ok(hits / all >= least, misses.join('\n'));
    });
  }
}
