import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type Curve, draw } from '../../bench/curves/draw.ts';
import { folder } from '../../bench/curves.ts';

test('every picture of a curve is drawn from the measurement beside it (`npm run bench -- curves draw`)', () => {
  const files = readdirSync(folder);
  const measured = files.filter((file) => file.endsWith('.json'));
  assert.deepEqual(
    files.filter((file) => file.endsWith('.svg')),
    measured.map((file) => file.replace(/json$/, 'svg')),
  );
  for (const file of measured) {
    const curve = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Curve;
    assert.equal(readFileSync(path.join(folder, file.replace(/json$/, 'svg')), 'utf8'), draw(curve), file);
    assert.match(curve.measured, /^\d{4}-\d\d-\d\d.*cores.*load/, 'with date, machine and load');
  }
});
