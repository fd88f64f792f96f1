import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectorsFile, connectorsText, systemsFile, systemsText } from '../../scripts/connector-coverage.ts';

test('the page about the connectors is made from them', () => {
  assert.equal(readFileSync(connectorsFile, 'utf8'), connectorsText(), 'run: npm run generate');
  assert.equal(readFileSync(systemsFile, 'utf8'), systemsText(), 'run: npm run generate');
});

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The pages of the front page, by task; the site's sidebar is made from this list. */
const listed = readFileSync(path.join(root, 'docs', 'README.md'), 'utf8')
  .split('\n### ')
  .slice(1)
  .flatMap((group) =>
    [...group.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, name = '', target = '']) => ({
      name,
      page: path.posix.join('docs', target),
    })),
  );

test('every page is in the list of pages by task, once and under one name', () => {
  const pages = globSync('docs/**/*.md', { cwd: root }).filter(
    (page) => page !== 'docs/README.md' && !page.startsWith('docs/adr/'),
  );
  const inDocs = listed.map(({ page }) => page).filter((page) => page.startsWith('docs/') && page !== 'docs/adr');
  assert.deepEqual(inDocs.toSorted(), pages.toSorted());
  assert.equal(new Set(listed.map(({ name }) => name.toLowerCase())).size, listed.length);
});

test('the pages of the site link only to pages and files that it has', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-stage-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync(process.execPath, [path.join(root, 'site', 'stage.mjs'), root, folder]);
  const pages = globSync('**/*.md', { cwd: folder, exclude: ['public/**'] });
  assert.ok(pages.length > 60);
  const lost = pages.flatMap((page) => {
    const text = readFileSync(path.join(folder, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
    return [...text.matchAll(/\]\((\/[^)#\s]*)/g)]
      .map(([, target = '']) => target)
      .filter(
        (target) =>
          ![`${target}.md`, `${target}/index.md`, `public${target}`].some((each) =>
            existsSync(path.join(folder, each)),
          ),
      )
      .map((target) => `${page}: ${target}`);
  });
  assert.deepEqual(lost, []);
  for (const built of ['openapi.json', 'api.html']) assert.ok(existsSync(path.join(folder, 'public', built)), built);
});
