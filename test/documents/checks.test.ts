import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFiles, type DocumentCheck } from '../../src/documents/check.ts';
import type { SourceFile } from '../../src/documents/parse.ts';
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

test('checks see the documents that meet their schema, and their findings come beside the other mistakes', () => {
  const broken = files.map((file) =>
    file.kind === 'destination' ? { ...file, text: 'destination: archive\n' } : file,
  );
  const seen: string[] = [];
  const result = checkFiles(broken, [
    (documents) => {
      seen.push(...documents.connectors.keys(), ...documents.integrations.keys(), ...documents.destinations.keys());
      return [
        { document: { kind: 'connector', name: 'acme-pms' }, path: 'connector', message: 'found', suggestion: 'acme' },
      ];
    },
  ]);
  assert.deepEqual(seen, ['acme-pms', 'lisbon-grand']);
  assert(result.kind === 'invalid');
  assert.deepEqual(
    result.mistakes.map(({ message, suggestion }) => [message, suggestion]),
    [
      ['found; did you mean acme?', 'acme'],
      ['type is missing: one of files, http, postgres, webhook', undefined],
    ],
  );
});
