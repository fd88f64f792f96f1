import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { parseFile } from '../../src/core/documents/parse.ts';
import { openOffload } from '../../src/kit/offload.ts';
import type { TextTasks } from '../../src/operator/operations/text-tasks.ts';

/** Any viewer may have a document checked, so what checking costs is bounded whatever the text. */

const many = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('');
const connector = 'connector: acme\n';

const hostile: Readonly<Record<string, string>> = {
  'distinct keys': connector + many(60_000, (i) => `k${i}: 1\n`),
  'distinct keys of 145 KiB': connector + many(16_000, (i) => `k${i}: 1\n`),
  'distinct keys where any key is allowed': `${connector}pull:\n  request:\n    query:\n${many(9_000, (i) => `      k${i}: v\n`)}`,
  'duplicate keys': connector + many(10_000, () => 'name: 1\n'),
  'misspelled keys in a long list': `integration: acme\ntransforms:\n${many(8_000, () => '  - wenn: a\n')}`,
  'aliases of aliases': `a0: &a0 [x, x]\n${many(30, (i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]\n`)}`,
  'many aliases': `a: &a x\n${many(10_000, (i) => `k${i}: *a\n`)}`,
  'open brackets': `a: ${'['.repeat(300_000)}`,
  'open braces': `a: ${'{a: '.repeat(100_000)}`,
  'nested lists': many(500, (i) => `${' '.repeat(i * 2)}-\n`),
  tabs: many(50_000, () => '\tx: 1\n'),
  'unclosed quotes': many(50_000, () => 'a: "b\n'),
  'broken flow': `a: [${many(50_000, () => '}')}`,
  'references that are wrong': connector + many(5_000, (i) => `k${i}: "\${nev:A}"\n`),
  'a folded text with escapes': `${connector}name: "${'\\u0041\\\n  '.repeat(50_000)}\${nev:A}"\n`,
  'documents in one file': many(100_000, () => '---\n'),
  tags: many(30_000, (i) => `k${i}: !!str x\n`),
  'keys that are collections': many(10_000, (i) => `? [${i}]\n: 1\n`),
  'one long line': `${connector}name: ${'x'.repeat(1024 * 1024 - 40)}`,
};

// A check that hangs is ended there; in the thread of the test nothing could end it. The texts take up to one second.
const script = new URL('../../src/operator/operations/text-worker.ts', import.meta.url);
const worker = openOffload({ script, deadlineMs: 60_000, perHolder: 1, memoryMb: 512 });
after(() => worker.close());

for (const [name, text] of Object.entries(hostile)) {
  test(`${name}: checked at a bounded cost`, async () => {
    const kind = text.startsWith('integration') ? 'integration' : 'connector';
    const ended = await worker.run('check', { sources: [{ kind, file: 'a.yaml', text }] });
    assert.ok(ended.kind === 'done', JSON.stringify(ended));
    const checked = ended.value as ReturnType<TextTasks['check']>;
    assert.ok(checked.kind === 'invalid');
    assert.ok(checked.mistakes.length <= 101, `${checked.mistakes.length} mistakes are more than a person reads`);
  });
}

test('a document over the limits says so', () => {
  const long = parseFile({ kind: 'connector', file: 'a.yaml', text: `# ${'x'.repeat(1024 * 1024)}` });
  assert.match(long.mistakes[0]?.message ?? '', /exceeds the limit of 1 MiB/);
  const dense = parseFile({ kind: 'connector', file: 'a.yaml', text: hostile['distinct keys'] ?? '' });
  assert.match(dense.mistakes[0]?.message ?? '', /has more than 50,000 keys and values/);
});

test('a duplicate key names both lines', () => {
  const { mistakes } = parseFile({
    kind: 'connector',
    file: 'a.yaml',
    text: 'connector: acme\npull:\n  base_url: https://a.example\n  base_url: https://b.example\n',
  });
  assert.deepEqual(
    mistakes.map(({ line, column, path, message }) => ({ line, column, path, message })),
    [
      {
        line: 4,
        column: 3,
        path: 'pull.base_url',
        message: 'the key base_url is already set on line 3; remove one of the two',
      },
    ],
  );
});

test('texts of people are parsed without the quadratic check for unique keys', () => {
  const root = new URL('../../src/', import.meta.url);
  const parsing = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      /import \{[^}]*\bparse\w*\b[^}]*\} from 'yaml'/.test(readFileSync(new URL(file, root), 'utf8')),
  );
  // The presets are our own files.
  const ours = 'core/deliver/destinations/http/preset.ts';
  assert.deepEqual(parsing.toSorted(), [
    ours,
    'core/documents/yaml-text.ts',
    'operator/operations/add-brands.ts',
    'operator/operations/edit-documents.ts',
    'operator/operations/import-description.ts',
    'operator/operations/move-brand.ts',
    'operator/operations/onboarding-pull.ts',
  ]);
  for (const file of parsing.filter((one) => one !== ours)) {
    assert.match(readFileSync(new URL(file, root), 'utf8'), /uniqueKeys: false/, file);
  }
});
