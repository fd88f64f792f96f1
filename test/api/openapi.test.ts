import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { operationsFile, operationsText } from '../../scripts/console-types.ts';
import { openApi } from '../../scripts/openapi-doc.ts';

const text = JSON.stringify(openApi());
const document = JSON.parse(text);
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: { name: string; in: string; required: boolean; schema: object }[];
  readonly responses: Record<string, { content: Record<string, { schema: object }> }>;
  readonly requestBody?: object;
}

test('the console’s types match the API’s description (scripts/console-types.ts writes them)', () => {
  assert.equal(readFileSync(operationsFile, 'utf8'), operationsText());
});

test('the document is OpenAPI 3.1 and describes every parameter of every path', () => {
  assert.match(document.openapi, /^3\.1\./);
  for (const { path, method, parameters, summary, operationId } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const described = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
    assert.deepEqual(described.sort(), inPath.sort(), `${method} ${path}`);
    assert.ok(summary.length > 0 && !summary.endsWith('.'), operationId);
  }
});

test('every reference resolves, and every response has a schema', () => {
  const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '');
  for (const reference of new Set(references)) {
    const found = reference
      .replace('#/', '')
      .split('/')
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
    assert.ok(found, reference);
  }
  for (const { responses, operationId } of operations) {
    const good = Object.keys(responses).filter((status) => status < '300');
    assert.equal(good.length, 1, operationId);
    assert.ok(responses['422']?.content['application/problem+json'], operationId);
  }
});
