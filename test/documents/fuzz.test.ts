import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkFiles } from '../../src/core/documents/check.ts';
import { templateFiles } from '../../src/core/documents/template.ts';

const template = (await templateFiles()).filter(({ path }) => path.endsWith('.yaml'));
const kindOf = (path: string) =>
  path.startsWith('connectors')
    ? 'connector'
    : path.startsWith('integrations')
      ? 'integration'
      : path.startsWith('destinations')
        ? 'destination'
        : 'workspace';

/** Pieces that mean something in YAML, in references or in JavaScript. */
const piece = fc.constantFrom(
  ':',
  '\n',
  '  ',
  '- ',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '#',
  '&a ',
  '*a',
  '!!x ',
  '|',
  '>',
  '${',
  `$${'{env:A}'}`,
  'null',
  '1e999',
  '__proto__: 1\n',
  '? ',
  '\t',
  '\u0000',
  '😀',
  '~',
  '<<: ',
  '\\',
);
const damage = fc.record({
  at: fc.nat(),
  cut: fc.nat(12),
  put: fc.oneof(piece, fc.string({ maxLength: 5 }), fc.constant('')),
});

test('whatever is done to a file, it is loaded or its mistakes have places inside it', () => {
  fc.assert(
    fc.property(fc.constantFrom(...template), fc.array(damage, { minLength: 1, maxLength: 4 }), (victim, damages) => {
      const text = damages.reduce((text, { at, cut, put }) => {
        const i = at % (text.length + 1);
        return text.slice(0, i) + put + text.slice(i + cut);
      }, victim.text);
      const result = checkFiles(
        template.map((file) => ({
          kind: kindOf(file.path),
          file: file.path,
          text: file.path === victim.path ? text : file.text,
        })),
        [
          ({ integrations }) =>
            [...integrations.values()].map((document) => ({
              document,
              path: 'transforms[0].when',
              message: 'seen',
              offset: 7,
            })),
        ],
      );
      assert(result.kind === 'invalid');
      for (const { file, line, column, message } of result.mistakes) {
        const lines = (file === victim.path ? text : (template.find(({ path }) => path === file)?.text ?? '')).split(
          '\n',
        );
        assert(line >= 1 && line <= lines.length, `${file}:${line} ${message}`);
        assert(column >= 1 && column <= (lines[line - 1]?.length ?? 0) + 1, `${file}:${line}:${column} ${message}`);
        assert(message.length > 0);
      }
    }),
    { numRuns: 300 },
  );
});
