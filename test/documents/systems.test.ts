import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkFiles } from '../../src/core/documents/check.ts';
import { findSystems, readSystems } from '../../src/core/documents/systems.ts';

const systems = await readSystems();
const names = (words: string) => findSystems(systems, words).found.map(({ name }) => name);

test('a system is found by its name, another name, its vendor and a part of them, in any spelling', () => {
  assert.deepEqual(names('Hostaway'), ['hostaway']);
  assert.deepEqual(names('smartbnb'), ['hospitable']);
  assert.deepEqual(names('STAYS NET'), ['stays-net']);
  assert.deepEqual(names('travelnet solutions'), ['track']);
  assert.deepEqual(names('OPERA'), ['ohip']);
  assert.deepEqual(names('Mews PMS'), ['mews'], 'the words may say more than the name');
  assert.deepEqual(names('百居易'), ['hostex']);
});

test('a market lists its systems', () => {
  const parks = names('holiday parks');
  assert.ok(parks.includes('newbook'));
  assert.ok(!parks.includes('mews'));
});

test('a misspelt name finds nothing and names the nearest; an unknown one names none', () => {
  const near = findSystems(systems, 'hostawai');
  assert.deepEqual([near.found.length, near.similar.map(({ name }) => name)], [0, ['hostaway']]);
  assert.deepEqual(findSystems(systems, 'zzzzzzzzzz'), { found: [], similar: [] });
});

test('nothing lists all, and no two systems have the same name', () => {
  assert.equal(names('').length, systems.length);
  for (const { name, title } of systems) assert.deepEqual([names(name), names(title)], [[name], [name]]);
});

test('the integration of a system names every variable that its connector reads, so that it works with these', () => {
  const variables = (text: string) => new Set(text.match(/\$\{env:\w+\}/g));
  for (const { name, integration } of systems) {
    const file = new URL(`../../connectors/${name}/connector.yaml`, import.meta.url);
    const unnamed = variables(readFileSync(file, 'utf8')).difference(variables(integration));
    assert.deepEqual([...unnamed], [], name);
  }
});

test('the integration of every system is valid beside its connector', () => {
  for (const { name, integration } of systems) {
    const file = new URL(`../../connectors/${name}/connector.yaml`, import.meta.url);
    const checked = checkFiles([
      { file: `connectors/${name}.yaml`, kind: 'connector', text: readFileSync(file, 'utf8') },
      { file: `integrations/${name}.yaml`, kind: 'integration', text: integration },
    ]);
    assert.deepEqual(checked.kind === 'invalid' ? checked.mistakes : [], [], name);
  }
});
