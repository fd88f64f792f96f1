import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { z } from 'zod';
import { mappingReference, referenceFile } from '../../scripts/mapping-reference.ts';
import { mapSchema, shapeSchema, valuesSchema } from '../../src/core/documents/connector-mapping.ts';
import { fieldFormSchema, operatorsSchema } from '../../src/core/documents/mapping-field.ts';
import type { MapConfig, ShapeSection, ValuesConfig } from '../../src/core/shape/config.ts';

test('the mapping reference is up to date with the schema and the examples', () => {
  const hint = 'run node scripts/mapping-reference.ts';
  assert.equal(readFileSync(referenceFile, 'utf8'), mappingReference(), hint);
});

test('every key of a field and of a condition is in a case that is run', () => {
  const examples = new URL('../../docs/reference/mapping-examples/', import.meta.url);
  const files = [
    new URL('cases/fields.yaml', import.meta.url),
    ...readdirSync(examples).map((one) => new URL(one, examples)),
  ];
  const cases = files.map((file) => readFileSync(file, 'utf8')).join();
  const keys = [...Object.keys(fieldFormSchema.shape), ...Object.keys(operatorsSchema.shape)];
  assert.deepEqual(
    keys.filter((key) => !new RegExp(`\\b${key}:`).test(cases)),
    [],
  );
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
