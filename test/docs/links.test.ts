import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => path.join('docs', file));
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...docs];
const linksOf = (page: string): string[] =>
  [...readFileSync(path.join(root, page), 'utf8').matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)]
    .map((match) => match[1] ?? match[2] ?? '')
    .filter((target) => !/^(https?:|mailto:|#)/.test(target))
    .map((target) => path.join(path.dirname(page), target.replace(/#.*$/, '')));

test('every link and picture of the documentation is there', () => {
  const lost = pages.flatMap((page) =>
    linksOf(page)
      .filter((target) => !existsSync(path.join(root, target)))
      .map((target) => `${page}: ${target}`),
  );
  assert.deepEqual(lost, []);
});

/** As GitHub makes them from headings; the site's differ only for apostrophes, which no linked heading has. */
const anchorsOf = (page: string): string[] =>
  Array.from(readFileSync(path.join(root, page), 'utf8').matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('every heading that a page links to is there', () => {
  const lost = pages.flatMap((page) =>
    [...readFileSync(path.join(root, page), 'utf8').matchAll(/\]\(([^)\s:#]*)#([^)\s]+)\)/g)]
      .map(([, file = '', anchor = '']) => ({
        file: file === '' ? page : path.join(path.dirname(page), file),
        anchor,
      }))
      .filter(({ file, anchor }) => file.endsWith('.md') && !anchorsOf(file).includes(anchor))
      .map(({ file, anchor }) => `${page}: ${file}#${anchor}`),
  );
  assert.deepEqual(lost, []);
});

test('every picture and every guide is shown somewhere', () => {
  const shown = new Set(pages.flatMap(linksOf));
  const files = ['docs/images', 'docs/guides'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(folder, entry.name)),
  );
  assert.deepEqual(
    files.filter((file) => !shown.has(file)),
    [],
  );
});

test('every file of the code that a page names is there', () => {
  const files = globSync(['{src,test,scripts,packages,console,ops,connectors}/**/*.{ts,sql,yaml}', '*.ts'], {
    cwd: root,
  }).map((file) => `/${file}`);
  const named = [...pages, 'packages/suggest/README.md'].flatMap((page) =>
    [...readFileSync(path.join(root, page), 'utf8').matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|sql))`/g)].map(
      ([, file = '']) => ({ page, file }),
    ),
  );
  assert.ok(named.length > 60, String(named.length));
  assert.deepEqual(
    named.filter(({ file }) => !/NAME|NN/.test(file) && !files.some((one) => one.endsWith(`/${file}`))),
    [],
  );
});
