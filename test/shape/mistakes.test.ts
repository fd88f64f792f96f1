import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { z } from 'zod';
import { mapSchema, shapeSchema, valuesSchema } from '../../src/core/documents/connector-mapping.ts';
import { explain } from '../../src/core/documents/explain.ts';
import type { MapConfig, ShapeConfig } from '../../src/core/shape/config.ts';
import { compilePushShape, compileShape } from '../../src/core/shape/shape.ts';

interface Case {
  readonly mapping: Pick<ShapeConfig, 'shape' | 'map' | 'values'> & { push?: { map: MapConfig } };
  readonly problems: readonly { readonly path: string; readonly offset?: number; readonly says: string }[];
}

const cases = parse(readFileSync(new URL('cases/mistakes.yaml', import.meta.url), 'utf8')) as Case[];

for (const { mapping, problems } of cases) {
  test(`mistake: ${JSON.stringify(mapping)}`, () => {
    const { push, ...sections } = mapping;
    shapeSchema.optional().parse(mapping.shape);
    mapSchema.optional().parse(mapping.map);
    mapSchema.optional().parse(push?.map);
    valuesSchema.optional().parse(mapping.values);
    const config: ShapeConfig = { ...sections, timezone: 'Europe/Lisbon', unknownStatus: 'dead_letter' };
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

/** The compiler relies on the schema for these. */
const refused: readonly (readonly [path: string, schema: z.ZodType, value: unknown])[] = [
  ['idd', mapSchema, { idd: 'x' }],
  ['guests.fields.fone', mapSchema, { guests: { fields: { fone: 'x' } } }],
  ['id.upper', mapSchema, { id: { path: 'a', upper: true } }],
  ['guests.where.a.like', mapSchema, { guests: { where: { a: { like: 'x' } } } }],
  ['total_amount.minor_units', mapSchema, { total_amount: { minor_units: 2.5 } }],
  ['check_in.add_days', mapSchema, { check_in: { add_days: 1.5 } }],
  ['channel.first', mapSchema, { channel: { first: [] } }],
  ['status.arrived', valuesSchema, { status: { arrived: 'X' } }],
  ['marketing_consent.maybe', valuesSchema, { marketing_consent: { maybe: 'X' } }],
  ['colour', valuesSchema, { colour: { red: 'X' } }],
];

test('the schema refuses what the compiler does not look for, at its place', () => {
  for (const [path, schema, value] of refused)
    assert.deepEqual([path], [...new Set(explain(schema, value).map((problem) => problem.path.join('.')))]);
});

function sorted<Of extends { path: string }>(list: readonly Of[]): Of[] {
  return list.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}
