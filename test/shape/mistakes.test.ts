import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { mapSchema, shapeSchema, valuesSchema } from '../../src/documents/connector-mapping.ts';
import type { MapConfig, ShapeConfig } from '../../src/shape/config.ts';
import { compilePushShape, compileShape } from '../../src/shape/shape.ts';

interface Case {
  readonly unchecked?: boolean;
  readonly mapping: Pick<ShapeConfig, 'shape' | 'map' | 'values'> & { timezone?: string; push?: { map: MapConfig } };
  readonly problems: readonly { readonly path: string; readonly offset?: number; readonly says: string }[];
}

const cases = parse(readFileSync(new URL('cases/mistakes.yaml', import.meta.url), 'utf8')) as Case[];

for (const { mapping, problems, unchecked } of cases) {
  test(`mistake: ${JSON.stringify(mapping)}`, () => {
    const { push, timezone = 'Europe/Lisbon', ...sections } = mapping;
    if (unchecked !== true) {
      shapeSchema.optional().parse(mapping.shape);
      mapSchema.optional().parse(mapping.map);
      mapSchema.optional().parse(push?.map);
      valuesSchema.optional().parse(mapping.values);
    }
    const config: ShapeConfig = { ...sections, timezone, unknownStatus: 'dead_letter' };
    const compiled = push === undefined ? compileShape(config) : compilePushShape(config, push.map);
    assert.ok(compiled.kind === 'invalid', 'it compiles');
    const places = compiled.problems.map(({ path, offset }) => ({ path, offset }));
    assert.deepEqual(sorted(places), sorted(problems.map(({ path, offset }) => ({ path, offset }))));
    for (const { path, says } of problems) {
      const message: string = compiled.problems.find((problem) => problem.path === path)?.message ?? '';
      assert.ok(message.includes(says), `${path}: ${message}`);
    }
  });
}

function sorted<Of extends { path: string }>(list: readonly Of[]): Of[] {
  return list.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}
