import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFiles } from '../../src/core/documents/check.ts';
import type { DocumentCheck } from '../../src/core/documents/mistake.ts';
import type { SourceFile } from '../../src/core/documents/parse.ts';
import { connector, destination, integration } from './workspace-folder.ts';

const withRules = `${integration}transforms:
  - when: 'channel = "BDC"'
    set: { source: "\\"OTA\\" + 1" }
  - when: >-
      channel == "BDC" &&
      surce == "web"
    drop: true
  - when: |
      channel == "BDC" &&
        surce == "web"
    drop: true
  - when: channel ==
      "it''s"
    drop: true
  - when: 'it''s wrong'
    drop: true
`;

const files: readonly SourceFile[] = [
  { kind: 'connector', file: 'connectors/acme-pms.yaml', text: connector },
  { kind: 'integration', file: 'integrations/lisbon-grand.yaml', text: withRules },
  { kind: 'destination', file: 'destinations/archive.yaml', text: destination },
];

function placesOf(check: DocumentCheck): string[] {
  const result = checkFiles(files, [check]);
  assert(result.kind === 'invalid');
  return result.mistakes.map(({ file, line, column, message }) => {
    const text = files.find((source) => source.file === file)?.text.split('\n')[line - 1] ?? '';
    return `${message} at ${text.slice(column - 1)}`;
  });
}

test('a problem that a check finds inside a text is shown at its character', () => {
  const at = (path: string, needle: string) => ({ path, needle });
  const wanted = [
    at('transforms[0].when', '= "BDC"'),
    at('transforms[0].set.source', '+ 1'),
    at('transforms[1].when', 'surce'),
    at('transforms[2].when', 'surce'),
    at('transforms[3].when', '"it'),
    at('transforms[4].when', 'wrong'),
  ];
  const places = placesOf(({ integrations }) => {
    const document = integrations.get('lisbon-grand');
    assert(document);
    return wanted.map(({ path, needle }, i) => {
      const rule = document.body.transforms[Number(path.charAt(11))];
      const text = path.endsWith('when') ? rule?.when : rule?.set?.source;
      return { document, path, message: String(i), offset: text?.indexOf(needle) ?? -1 };
    });
  });
  assert.deepEqual(places, [
    `0 at = "BDC"'`,
    '1 at + 1" }',
    '2 at surce == "web"',
    '3 at surce == "web"',
    `4 at "it''s"`,
    `5 at wrong'`,
  ]);
});

test('a problem at a path that was not written is shown at the key it is missing from', () => {
  assert.deepEqual(
    placesOf(() => [
      { document: { kind: 'connector', name: 'acme-pms' }, path: 'pull.request.headers.X-A', message: 'a' },
      { document: { kind: 'connector', name: 'acme-pms' }, path: ['pull', 'request', 'query', 'dateTo'], message: 'b' },
      { document: { kind: 'destination', name: 'archive' }, path: '', message: 'c' },
    ]),
    ['a at request:', 'b at "{window.to}" }', 'c at destination: archive'],
  );
});

test('the mistakes of a document do not hide what a check finds in the rest of it', () => {
  const broken = files.map((file) =>
    file.kind === 'integration'
      ? { ...file, text: file.text.replace('15m', '5m').replace('brand_id', 'brandid') }
      : file,
  );
  const seen: unknown[] = [];
  const result = checkFiles(broken, [
    ({ integrations }) => {
      const document = integrations.get('lisbon-grand');
      assert(document);
      seen.push(document.body.brand_id, document.body.pull?.syncs);
      return [
        { document, path: 'transforms[0].when', message: 'does not compile', offset: 8, suggestion: '==' },
        { document, path: 'brand_id', message: 'too short' },
        { document, path: 'pull.syncs', message: 'nothing to do' },
      ];
    },
  ]);
  assert.deepEqual(seen, ['LIS01', {}]);
  assert(result.kind === 'invalid');
  assert.deepEqual(
    result.mistakes.map(({ line, path, message }) => `${line} ${path}: ${message}`),
    [
      '3 brandid: unknown key brandid; did you mean brand_id?',
      '3 brandid: too short',
      '9 pull.syncs.stay.every: must be from 15m to 60m; did you mean 15m?',
      '12 transforms[0].when: does not compile; did you mean ==?',
    ],
  );
});

test('a document without any valid part is not passed to checks', () => {
  const broken = files.map((file) =>
    file.kind === 'destination' ? { ...file, text: 'destination: archive\n' } : file,
  );
  const seen: string[] = [];
  checkFiles(broken, [
    ({ connectors, integrations, destinations }) => {
      seen.push(...connectors.keys(), ...integrations.keys(), ...destinations.keys());
      return [];
    },
  ]);
  assert.deepEqual(seen, ['acme-pms', 'lisbon-grand']);
});
