import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/**
 * A plain object answers to `constructor`, `toString` and `__proto__`. A table that is looked up by text from outside must be a Map,
 * have no prototype, or be checked with Object.hasOwn first. Tables whose keys are a union of literals are safe: the compiler
 * refuses other text.
 */

const root = fileURLToPath(new URL('../src/', import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));

const table =
  /^(?:export )?const (\w+): (?:Readonly<)?(?:Record<string,|\{ (?:readonly )?\[\w+: string\]:)[^=]*=(?!\s*Object\.create\(null\))/gm;

/** `name[…]` with anything but a literal between the brackets. */
const lookups = (name: string, text: string): string[] =>
  [...text.matchAll(new RegExp(`(?<![\\w.])${name}(?:\\?\\.)?\\[(?!['"\`\\d])[^\\]]+\\]`, 'g'))].map((found) =>
    text.slice(text.lastIndexOf('\n', found.index) + 1, text.indexOf('\n', found.index)).trim(),
  );

test('no table that is a plain object is looked up by text of unknown origin', () => {
  const broken: string[] = [];
  for (const { file, text } of files) {
    for (const [declared, name = ''] of text.matchAll(table)) {
      const readers = declared.startsWith('export')
        ? files.filter(
            (other) => new RegExp(`import[^;]*\\b${name}\\b[^;]*from`).test(other.text) || other.file === file,
          )
        : [{ file, text }];
      for (const reader of readers) {
        for (const line of lookups(name, reader.text)) {
          if (!line.includes(`Object.hasOwn(${name},`)) broken.push(`${reader.file}: ${line}`);
        }
      }
    }
  }
  assert.deepEqual(broken, []);
});
