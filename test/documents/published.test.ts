import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { schemas } from '../../src/documents/kinds.ts';
import { publishedFiles } from '../../src/documents/publish.ts';
import { jsonSchema } from '../../src/documents/published-schemas.ts';

const root = new URL('../../', import.meta.url);

for (const [path, text] of publishedFiles()) {
  test(`${path} is up to date (src/documents/publish.ts writes it)`, () => {
    const kept = readFileSync(new URL(path, root), 'utf8').split('\n');
    const differs = text.split('\n').findIndex((line, i) => line !== kept[i]);
    assert(kept.join('\n') === text, `differs from the schemas from line ${differs + 1} on: ${kept[differs]}`);
  });
}

test('nothing is left in schemas/ that no schema writes', () => {
  assert.deepEqual(
    readdirSync(new URL('schemas/', root)).sort(),
    Object.keys(schemas)
      .map((kind) => `${kind}.json`)
      .sort(),
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
