import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { closest, edits } from '../../src/core/canonical/closest.ts';
import { parseDocument } from '../../src/core/documents/check.ts';
import { schemas } from '../../src/core/documents/kinds.ts';
import { childSchema, keysOf, schemaAt } from '../../src/core/documents/schema-walk.ts';

/** One slip of the finger: a letter too many, one missing, a wrong one, or two swapped. */
const slip = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'replace', 'swap'),
  at: fc.nat(),
  letter: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz_'),
});

function misspell(word: string, { kind, at, letter }: { kind: string; at: number; letter: string }): string {
  const i = at % word.length;
  if (kind === 'insert') return word.slice(0, i) + letter + word.slice(i);
  if (kind === 'delete') return word.slice(0, i) + word.slice(i + 1);
  if (kind === 'replace') return word.slice(0, i) + letter + word.slice(i + 1);
  const j = Math.min(i, word.length - 2);
  return word.slice(0, j) + word.charAt(j + 1) + word.charAt(j) + word.slice(j + 2);
}

const whole = {
  integration: 'lisbon-grand',
  connector: 'acme-pms',
  brand_id: 'LIS01',
  timezone: 'Europe/Lisbon',
  country: 'PT',
  paused: false,
  pull: {
    base_url: 'https://pms.example',
    auth: {
      type: 'hmac',
      secret: 's',
      algorithm: 'sha256',
      encoding: 'hex',
      sign: '{timestamp}',
      headers: { A: '{signature}{timestamp}' },
    },
    syncs: {
      pre_stay: { every: '30m', range: ['+1d', '+7d'], status: 'confirmed' },
      stay: { every: '30m', range: ['0d', '0d'] },
    },
    rate: { requests: 1, per: '1s', burst: 2 },
    timeouts: { connect: '1s', idle: '1s', total: '1s' },
  },
  push: { enabled: true, rate: { requests: 1 } },
  stream: { key: 'k', chain: 'c' },
  transforms: [{ when: 'true', set: { source: '"x"' }, note: 'n' }],
  deliver: ['archive'],
};

/** The path of every key that the schema knows by name; those of `headers` and `set` are free. */
function* keyPaths(value: unknown, path: (string | number)[] = []): Generator<(string | number)[]> {
  if (typeof value !== 'object' || value === null) return;
  const here = schemaAt(schemas.integration, path, whole);
  for (const [key, child] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key;
    const isFree = here !== undefined && keysOf(here).length === 0 && childSchema(here, key) !== undefined;
    if (typeof step === 'string' && !isFree && !path.includes('headers') && !path.includes('set'))
      yield [...path, step];
    yield* keyPaths(child, [...path, step]);
  }
}

const paths = [...keyPaths(whole)];

test('the document of the property is sound', () => {
  assert.equal(parseDocument(stringify(whole), 'a.yaml', 'integration').kind, 'ok');
  assert(paths.length > 35, `${paths.length} keys`);
});

test('a misspelled key, anywhere in a document, is suggested back at its place and is the only mistake', () => {
  fc.assert(
    fc.property(fc.constantFrom(...paths), slip, (path, how) => {
      const key = String(path.at(-1));
      const wrong = misspell(key, how);
      const parent = path.slice(0, -1);
      const document = structuredClone(whole);
      const object = parent.reduce<unknown>(
        (value, step) => (value as Record<string | number, unknown>)[step],
        document,
      ) as Record<string, unknown>;
      const siblings = Object.keys(object);
      // With a misspelled `type`, the set of known keys cannot be determined.
      fc.pre(key !== 'type' && wrong !== key && wrong !== '' && !siblings.includes(wrong));
      object[wrong] = object[key];
      delete object[key];
      const text = stringify(document);
      const result = parseDocument(text, 'a.yaml', 'integration');
      assert(result.kind === 'invalid');
      const [mistake, ...more] = result.mistakes;
      assert.deepEqual(more, []);
      // If another key is as near, either may have been meant.
      if (mistake?.suggestion !== key)
        assert(edits(wrong, mistake?.suggestion ?? '') <= edits(wrong, key), `${wrong}: ${mistake?.message}`);
      const line = text.split('\n')[(mistake?.line ?? 0) - 1] ?? '';
      // YAML puts a word such as null into quotes.
      assert(
        line
          .slice((mistake?.column ?? 0) - 1)
          .replace(/^"/, '')
          .startsWith(wrong),
        line,
      );
    }),
    { numRuns: 200 },
  );
});

test('there is no suggestion for a word that is far from all keys', () => {
  assert.equal(closest('colour', ['timezone', 'country', 'deliver']), undefined);
  assert.equal(closest('x'.repeat(10_000), ['timezone']), undefined);
});

test('another way of writing a word is nearer than another word', () => {
  assert.equal(closest('rootPath', ['root_paths', 'root_path']), 'root_path');
  assert.equal(closest('PRE-STAY', ['post_stay', 'pre_stay']), 'pre_stay');
});

test('edits count as slips of the finger do', () => {
  assert.deepEqual(
    [edits('form', 'from'), edits('a', ''), edits('kitten', 'sitting'), edits('same', 'same')],
    [1, 1, 3, 0],
  );
});
