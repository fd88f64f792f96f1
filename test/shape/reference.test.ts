import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { z } from 'zod';
import { mappingReference, referenceFile } from '../../scripts/mapping-reference.ts';
import { valueSources } from '../../src/canonical/value-sources.ts';
import { mapSchema, shapeSchema, valuesSchema } from '../../src/documents/connector-mapping.ts';
import { fieldFormSchema, operatorsSchema } from '../../src/documents/mapping-field.ts';
import { operatorNames } from '../../src/shape/condition.ts';
import type { MapConfig, ShapeSection, ValuesConfig } from '../../src/shape/config.ts';
import { modifierNames } from '../../src/shape/modify.ts';

test('the mapping reference is up to date with the schema and the examples', () => {
  const hint = 'run node scripts/mapping-reference.ts';
  assert.equal(readFileSync(referenceFile, 'utf8'), mappingReference(), hint);
});

test('the schema and the compiler know the same keys', () => {
  const sorted = (names: Iterable<string>): string[] => [...names].sort();
  assert.deepEqual(sorted(Object.keys(fieldFormSchema.shape)), sorted([...valueSources, ...modifierNames]));
  assert.deepEqual(sorted(Object.keys(operatorsSchema.shape)), sorted(operatorNames));
});

test('the schema and the compiler accept the same documents', () => {
  // Checked by the compiler: a parsed document is a configuration without a cast.
  const accepted: { map: MapConfig; shape: ShapeSection; values: ValuesConfig } = {
    map: mapSchema.parse({}),
    shape: shapeSchema.parse({}),
    values: valuesSchema.parse({}),
  };
  assert.deepEqual(accepted, { map: {}, shape: {}, values: {} });
});

test('every key of the mapping has a description and exports to JSON Schema', () => {
  const bare: string[] = [];
  for (const [name, schema] of Object.entries({ shape: shapeSchema, map: mapSchema, values: valuesSchema }))
    collectBare(z.toJSONSchema(schema), name, bare);
  assert.deepEqual(bare, []);
});

type Node = { [key: string]: unknown };

function collectBare(node: unknown, at: string, bare: string[]): void {
  if (typeof node !== 'object' || node === null) return;
  const { properties } = node as Node;
  if (typeof properties === 'object' && properties !== null) {
    for (const [key, child] of Object.entries(properties as Node)) {
      if (typeof (child as Node).description !== 'string') bare.push(`${at}.${key}`);
    }
  }
  for (const [key, child] of Object.entries(node)) collectBare(child, `${at}/${key}`, bare);
}
