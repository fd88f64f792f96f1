import assert from 'node:assert/strict';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { readDocuments } from '../../src/runtime/workspace-documents.ts';

/** Blocks that begin with the name of a document, such as `# destinations/crm.yaml`: whoever copies one has a document that is accepted. */

const root = path.join(import.meta.dirname, '..', '..');
const named =
  /```yaml\n(# (?:[\w-]+\/)??((?:connectors|integrations|destinations)\/[\w-]+\.yaml|innbound\.yaml)\b.*\n[\s\S]*?)```/g;

const isWritten = (page: string) => !readFileSync(path.join(root, page), 'utf8').startsWith('<!-- Written');
const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: root }).filter(isWritten);
const blocks = pages.flatMap((page) =>
  [...readFileSync(path.join(root, page), 'utf8').matchAll(named)].map(([, text = '', file = '']) => ({
    page,
    file,
    text,
  })),
);

/** What a document of the page names: a connector and destinations of these names. */
function around(text: string): Record<string, string> {
  const files: Record<string, string> = {};
  const connector = /^connector: ([\w-]+)$/m.exec(text)?.[1];
  if (connector !== undefined && /^integration:/m.test(text))
    files[`connectors/${connector}.yaml`] =
      `connector: ${connector}\npull:\n  request: { path: /r, query: { from: "{window.from}", to: "{window.to}" } }\n  single: { path: "/r/{id}" }\n`;
  for (const [, names = ''] of text.matchAll(/^(?:deliver|preview): \[(.*?)\]/gm))
    for (const name of names.split(/, */).filter(Boolean))
      files[`destinations/${name}.yaml`] = `destination: ${name}\ntype: files\npath: ${name}\n`;
  for (const [, names = ''] of text.matchAll(/\bintegrations: \[(.*?)\]/g))
    for (const name of names.split(/, */))
      files[`integrations/${name}.yaml`] =
        `integration: ${name}\nconnector: named\nbrand_id: ${name}\ntimezone: UTC\npush: { enabled: true }\n`;
  if (/\bintegrations: \[/.test(text)) files['connectors/named.yaml'] = 'connector: named\n';
  return files;
}

test('the pages have such blocks', () => assert.ok(blocks.length > 25, String(blocks.length)));

test('every block says in its first line which document it is, or part of which one', () => {
  const silent = pages.flatMap((page) =>
    [...readFileSync(path.join(root, page), 'utf8').matchAll(/^ *```yaml\n( *[^ #].*)/gm)].map(
      ([, line = '']) => `${page}: ${line}`,
    ),
  );
  assert.deepEqual(silent, []);
});

for (const { page, file, text } of blocks) {
  test(`${page}: ${file} is accepted as it is`, async (t) => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'innbound-block-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    // The blocks of a page stand beside each other.
    const beside = Object.fromEntries(blocks.filter((one) => one.page === page).map((one) => [one.file, one.text]));
    for (const [name, content] of Object.entries({
      ...around(Object.values(beside).join('\n')),
      ...beside,
      [file]: text,
    })) {
      mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
      writeFileSync(path.join(dir, name), content);
    }
    const loaded = await readDocuments(dir);
    const mistakes = loaded.kind === 'invalid' ? loaded.mistakes : [];
    assert.deepEqual(
      mistakes.map((one) => `${one.file}:${one.line} ${one.path}: ${one.message}`),
      [],
    );
  });
}
