import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { publishedFiles } from '../../scripts/document-reference.ts';
import { jsonSchema } from '../../src/core/documents/json-schema.ts';
import { schemas } from '../../src/core/documents/kinds.ts';
import { caseFiles } from './case-files.ts';

const root = new URL('../../', import.meta.url);

for (const [path, text] of publishedFiles()) {
  test(`${path} is up to date (scripts/document-reference.ts writes it)`, () => {
    const kept = readFileSync(new URL(path, root), 'utf8').split('\n');
    const differs = text.split('\n').findIndex((line, i) => line !== kept[i]);
    assert(kept.join('\n') === text, `differs from the schemas from line ${differs + 1} on: ${kept[differs]}`);
  });
}

test('nothing is left in schemas/ that no schema writes', () => {
  assert.deepEqual(
    readdirSync(new URL('schemas/', root)).sort(),
    ['asyncapi.json', ...Object.keys(schemas).map((kind) => `${kind}.json`)].sort(),
  );
});

test('every key of every document says what it is for', () => {
  const silent: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { properties } = schema as { properties?: Record<string, { description?: string }> };
    for (const [key, child] of Object.entries(properties ?? {})) {
      if (!child.description && !('$ref' in child)) silent.push(`${path}.${key}`);
    }
    for (const [key, child] of Object.entries(schema)) visit(child, key === 'properties' ? path : `${path}.${key}`);
  };
  for (const kind of Object.keys(schemas) as (keyof typeof schemas)[]) visit(jsonSchema(kind), kind);
  assert.deepEqual(silent, []);
});

test('the schemas for editors agree with what the service checks: sound documents pass, misspelled and missing keys do not', () => {
  const asJson = (kind: keyof typeof schemas): unknown => JSON.parse(JSON.stringify(jsonSchema(kind)));
  const kinds = Object.keys(schemas) as (keyof typeof schemas)[];
  const editors = new Map(kinds.map((kind) => [kind, z.fromJSONSchema(asJson(kind) as z.core.JSONSchema.JSONSchema)]));
  const passes = (kind: keyof typeof schemas, text: string) => editors.get(kind)?.safeParse(parse(text) ?? {}).success;
  for (const { name, kind, text, expected } of caseFiles()) {
    if (expected.length === 0) assert.equal(passes(kind, text), true, name);
    else if (expected.some((line) => /: (?:unknown key|\w+ is missing|must be one of) ?/.test(line)))
      assert.equal(passes(kind, text), false, name);
  }
});
