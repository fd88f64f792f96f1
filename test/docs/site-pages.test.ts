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

/** The paths of the readers in the sidebar of the site: links by reader. */
function readersOfSite(): { reader: string; isReference: boolean; links: string[] }[] {
  const config = readFileSync(new URL('../../site/.vitepress/config.mts', import.meta.url), 'utf8');
  return Array.from(
    config.matchAll(/text: '([^']+)',\s*(collapsed: true,\s*)?items: \[([\s\S]*?)\n?\s*\],?\s*\}/g),
    ([, reader = '', collapsed, items = '']) => ({
      reader,
      isReference: collapsed !== undefined,
      links: [...items.matchAll(/page\('[^']+', '([^']+)'\)/g)].map(([, link = '']) => link),
    }),
  );
}

/** The file of the repository behind a page of the site. */
function fileOf(link: string): string {
  const file = `${link.slice(1)}${link.endsWith('/') ? 'README' : ''}.md`;
  return link.startsWith('/project/') ? file.slice('project/'.length) : `docs/${file}`;
}

test('every reader of the site has a path of at most five pages, and each page is there', () => {
  const groups = readersOfSite();
  assert.deepEqual(
    groups.map(({ reader }) => reader),
    ['Integrator', 'Operator', 'Marketing and data', 'Data protection', 'Platform', 'Partner', 'Reference'],
  );
  for (const { reader, isReference, links } of groups) {
    assert.ok(links.length > 0 && (isReference || links.length <= 5), reader);
    // The decisions have a list instead of a page; stage.mjs writes it.
    for (const link of links.filter((each) => each !== '/adr/'))
      assert.ok(existsSync(new URL(`../../${fileOf(link)}`, import.meta.url)), link);
  }
});

test('the first page shows the same paths as the site', () => {
  const paths = readersOfSite()
    .filter(({ isReference }) => !isReference)
    .map(({ links }) => links.map(fileOf));
  const rows = readFileSync(new URL('../../docs/README.md', import.meta.url), 'utf8')
    .split('| you | read, in this order |\n|---|---|\n')[1]
    ?.split('\n\n')[0]
    ?.split('\n');
  const shown = rows?.map((row) =>
    [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => path.posix.join('docs', target)),
  );
  assert.deepEqual(shown, paths);
});

test('the pages of the site link only to pages and files that it has', (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-stage-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const root = fileURLToPath(new URL('../../', import.meta.url));
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
