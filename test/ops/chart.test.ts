import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { version } from '../../src/kit/version.ts';

/** The Helm chart, as far as it can be checked without Helm and a cluster. */

const chart = fileURLToPath(new URL('../../ops/helm/innbound/', import.meta.url));
const read = (file: string) => readFileSync(path.join(chart, file), 'utf8');
const templates = readdirSync(path.join(chart, 'templates')).map((file) => `templates/${file}`);
type Schema = { properties?: Record<string, Schema>; additionalProperties?: boolean };
const schema = JSON.parse(read('values.schema.json')) as Schema;
const values = parse(read('values.yaml')) as Record<string, unknown>;

test('the values match their schema, and a misspelled key does not', () => {
  const checked = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  assert.deepEqual(checked.safeParse(values).error?.issues ?? [], []);
  assert.equal(checked.safeParse({ ...values, replica: 3 }).success, false);
  assert.equal(checked.safeParse({ ...values, web: { replicas: 0 } }).success, false);
});

test('every value that a template uses is in values.yaml, and every value is used', () => {
  const used = new Set(
    templates.flatMap((file) =>
      [...read(file).matchAll(/\.Values((?:\.\w+)+)/g)].map(([, place = '']) => place.slice(1)),
    ),
  );
  const at = (place: string) =>
    place.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], values);
  assert.deepEqual(
    [...used].filter((place) => at(place) === undefined),
    [],
  );
  const unused = Object.keys(values).filter((key) => ![...used].some((place) => place.split('.')[0] === key));
  assert.deepEqual(unused, []);
});

test('templates are balanced, and valid YAML once their actions are filled', () => {
  for (const file of templates) {
    const text = read(file);
    const count = (pattern: RegExp) => [...text.matchAll(pattern)].length;
    assert.equal(count(/\{\{-? ?(?:if|with|range|define) ?/g), count(/\{\{-? ?end ?-?\}\}/g), file);
    if (file.endsWith('.tpl')) continue;
    const filled = text
      .replaceAll(/^\s*\{\{-? (?:if|with|range|end|define)\b.*\}\}\n/gm, '')
      .replaceAll(/^(\s*)\{\{- include "innbound\.labels".*\}\}$/gm, '$1name: innbound')
      .replaceAll(/^(\s*)\{\{- include "innbound\.podSpec".*\}\}$/gm, '$1containers: []')
      .replaceAll(/\{\{[^}]*\}\}/g, '1');
    for (const document of parseAllDocuments(filled)) {
      assert.deepEqual(document.errors, [], `${file}\n${filled}`);
      const { apiVersion, kind, metadata } = document.toJS() as Record<string, unknown>;
      assert.ok(apiVersion && kind && metadata, file);
    }
  }
});

test('documents that are kept in the database need no ConfigMap and no migration job', () => {
  const pod = read('templates/_pod.tpl');
  for (const name of ['connectors', 'integrations', 'destinations', 'settings']) {
    const parts = [
      ...pod.matchAll(new RegExp(`if \\.root\\.Values\\.documents\\.${name} \\}\\}\\n *- \\{ name: ${name},`, 'g')),
    ];
    assert.equal(parts.length, 2, `the mount and the volume of ${name}`);
  }
  // `apply` without files would remove all documents.
  assert.match(
    read('templates/migration.yaml'),
    /^\{\{- if and \.Values\.migration\.enabled \.Values\.documents\.integrations /,
  );
});

test('a slow start is not ended by the liveness probe', () => {
  const manifests = [
    read('templates/_pod.tpl'),
    readFileSync(path.join(chart, '../../kubernetes/innbound.yaml'), 'utf8'),
  ];
  for (const text of manifests) {
    const starts = [...text.matchAll(/startupProbe: .*\/healthz.* periodSeconds: (\d+), failureThreshold: (\d+)/g)];
    assert.equal(starts.length, [...text.matchAll(/livenessProbe:/g)].length);
    for (const [, period, threshold] of starts) assert.ok(Number(period) * Number(threshold) >= 600);
  }
});

test('the chart has the version of the package', () => {
  const { appVersion, version: own } = parse(read('Chart.yaml')) as { appVersion: string; version: string };
  assert.deepEqual([appVersion, own], [version, version]);
});
