import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { presetsFile, presetsText } from '../../scripts/preset-reference.ts';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import { presets } from '../../src/core/deliver/destinations/http/preset.ts';
import { filters } from '../../src/core/deliver/destinations/http/template.ts';
import { loadDestinationTypes } from '../../src/core/deliver/destinations.ts';

const docs = new URL('../../docs/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, docs), 'utf8');

test('the page of the presets is made from them', () => {
  assert.equal(readFileSync(presetsFile, 'utf8'), presetsText(), 'run: npm run generate');
});

for (const { preset } of presets.values()) {
  test(`the page of ${preset} shows its picture and links to its fields`, () => {
    const page = read(`guides/destinations/${preset}.md`);
    assert.ok(existsSync(new URL(`images/destinations/${preset}.svg`, docs)));
    assert.ok(page.includes(`images/destinations/${preset}.svg`));
    assert.ok(page.includes(`reference/presets.md#${preset}`));
  });
}

for (const { preset, auth_example: auth } of presets.values()) {
  test(`the document on the page of ${preset} is valid, and so is the example of its credentials`, () => {
    const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(read(`guides/destinations/${preset}.md`)) ?? [];
    const { destination, type, receives, consent: _, ...settings } = parse(text);
    assert.deepEqual([destination, type, receives], ['crm', 'http', ['reservation', 'guest']]);
    const { with: variables } = http.settings.parse(settings);
    http.settings.parse({ ...settings, auth });
    assert.deepEqual(
      Object.keys(variables).filter((name) => !(name in (presets.get(preset)?.with ?? {}))),
      [],
    );
  });
}

const types = await loadDestinationTypes();
const warehouses = [...types.values()].filter(({ writeState }) => writeState !== undefined);

for (const { type, settings } of warehouses) {
  test(`the page of ${type} says in its first paragraph what it was proved against, and its document is valid`, () => {
    const page = read(`guides/destinations/${type}.md`);
    assert.match(page, /^# .*\n\nProved against /);
    const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const { destination, type: said, receives, ...rest } = parse(text);
    assert.deepEqual([destination, said, receives], ['lake', type, ['reservation', 'guest']]);
    settings.parse(rest);
  });
}

test('every preset and every type has a page, which the guide links to', () => {
  const pages = ['destinations', 'buses'].flatMap((folder) =>
    readdirSync(new URL(`guides/${folder}/`, docs)).map((page) => `${folder}/${page}`),
  );
  const names = pages.map((page) => page.replace(/^.*\/|\.md$/g, ''));
  assert.deepEqual(names.toSorted(), [...presets.keys(), ...types.keys()].toSorted());
  const guides = ['deliver', 'presets'].map((name) => read(`guides/${name}.md`)).join('');
  for (const page of pages) assert.ok(guides.includes(`(${page})`), page);
});

test('the page of http lists every filter of a template', () => {
  const page = read('guides/destinations/http.md');
  const named = new Set([...page.matchAll(/`([a-z0-9_]+)(?::[^`]*)?`/g)].map(([, name]) => name));
  assert.deepEqual(
    [...filters.keys()].filter((name) => !named.has(name)),
    [],
  );
});
