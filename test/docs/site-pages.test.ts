import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apiFile, apiText } from '../../scripts/api-reference.ts';
import { connectorsFile, connectorsText } from '../../scripts/connector-coverage.ts';

const docs = new URL('../../docs/', import.meta.url);

test('the pages about the API and the connectors are made from them', () => {
  assert.equal(readFileSync(apiFile, 'utf8'), apiText(), 'run: npm run generate');
  assert.equal(readFileSync(connectorsFile, 'utf8'), connectorsText(), 'run: npm run generate');
});

test('every reader of the site has a path of at most five pages, and each page is there', () => {
  const config = readFileSync(new URL('../../site/.vitepress/config.mts', import.meta.url), 'utf8');
  const groups = [...config.matchAll(/text: '([^']+)',\s*(collapsed: true,\s*)?items: \[([\s\S]*?)\n?\s*\],?\s*\}/g)];
  assert.deepEqual(
    groups.map(([, reader]) => reader),
    ['Integrator', 'Operator', 'Marketing and data', 'Data protection', 'Platform', 'Partner', 'Reference'],
  );
  for (const [, reader, isReference, items = ''] of groups) {
    const links = [...items.matchAll(/page\('[^']+', '([^']+)'\)/g)].map(([, link = '']) => link);
    assert.ok(links.length > 0 && (isReference !== undefined || links.length <= 5), reader ?? '');
    for (const link of links) {
      const page = link.endsWith('/') ? `${link}README` : link;
      assert.ok(existsSync(new URL(`.${page}.md`, docs)), link);
    }
  }
});
