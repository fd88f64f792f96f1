import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { sign } from '../../../packages/sender/src/index.ts';
import { rulesText } from '../../../scripts/check-rules.ts';

const docs = new URL('../../../docs/partners/', import.meta.url);
const page = (name: string) => readFile(new URL(name, docs), 'utf8');

test('the page of the rules is made from them', async () => {
  assert.equal(await page('rules.md'), rulesText(), 'run: npm run generate');
});

test('the example signature is correct', async () => {
  const text = await page('webhooks.md');
  const cell = (name: string) => new RegExp(`^\\| ${name} +\\| \`([^\`]+)\``, 'm').exec(text)?.[1] ?? '';
  assert.equal(cell('signature'), sign(cell('secret'), Number(cell('timestamp')), cell('body')));
});

test('every recipe sends the three headers and is linked', async () => {
  const recipes = (await readdir(docs)).filter((name) => name.startsWith('recipe-'));
  assert.equal(recipes.length, 5);
  const start = await page('README.md');
  for (const recipe of recipes) {
    const text = await page(recipe);
    for (const part of ['application/json', 'X-Webhook-Timestamp', 'X-Webhook-Signature', 'sha512='])
      assert.ok(text.includes(part), `${recipe}: ${part}`);
    assert.ok(start.includes(recipe), recipe);
  }
});

test('links between the pages are valid', async () => {
  const names = await readdir(docs);
  for (const name of names.filter((one) => one.endsWith('.md'))) {
    for (const [, target = ''] of (await page(name)).matchAll(/\]\(([\w.-]+\.md)(?:#[\w-]+)?\)/g))
      assert.ok(names.includes(target), `${name} links to ${target}`);
  }
});
