import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { CheckResult } from '../../src/core/documents/check.ts';
import { loadWorkspace } from '../../src/core/documents/load.ts';
import { connector, destination, folderWith, integration } from './workspace-folder.ts';

const guide = (name: string) => readFileSync(new URL(`../../docs/guides/brands/${name}`, import.meta.url), 'utf8');
const around = { 'connectors/acme-pms.yaml': connector, 'destinations/archive.yaml': destination };

const load = (t: TestContext, files: Record<string, string>) => loadWorkspace(folderWith(t, { ...around, ...files }));

const linesOf = (mistakes: readonly { file: string; line: number; column: number; path: string; message: string }[]) =>
  mistakes.map(({ file, line, column, path, message }) => `${file}:${line}:${column} ${path}: ${message}`);

function integrationsOf(result: CheckResult) {
  assert.ok(result.kind === 'ok', result.kind === 'ok' ? '' : linesOf(result.mistakes).join('\n'));
  return result.documents.integrations;
}

const list = `group: acme
defaults:
  connector: acme-pms
  timezone: Europe/Lisbon
  pull:
    base_url: https://pms.example
    auth: { type: bearer }
    syncs: { stay: { every: 15m, range: [-6d, 0d] } }
  deliver: [archive]
brands:
  - { integration: lisbon-grand, brand_id: LIS01, pull.auth.token: "\${secret:lisbon}" }
  - integration: madrid-sol
    brand_id: MAD01
    timezone: Europe/Madrid
    pull: { auth: { token: "\${secret:madrid}" }, syncs: { stay: { every: 60m } } }
    deliver: []
`;

test('the guide’s file and table are three integrations of one group', async (t) => {
  const brands = integrationsOf(
    await load(t, { 'integrations/acme.yaml': guide('acme.yaml'), 'integrations/acme.csv': guide('acme.csv') }),
  );
  assert.deepEqual([...brands.keys()], ['lisbon-grand', 'porto-ribeira', 'madrid-sol']);
  const bodies = [...brands.values()].map(({ body }) => body);
  assert.deepEqual(
    bodies.map(({ group, brand_id, timezone, country, rooms_available }) => [
      group,
      brand_id,
      timezone,
      country,
      rooms_available,
    ]),
    [
      ['acme', 'LIS01', 'Europe/Lisbon', 'PT', 120],
      ['acme', 'OPO01', 'Europe/Lisbon', 'PT', 64],
      ['acme', 'MAD01', 'Europe/Madrid', 'ES', undefined],
    ],
  );
  assert.deepEqual(bodies[2]?.pull?.auth, { type: 'bearer', token: `\${secret:madrid-sol}` });
  assert.equal(bodies[2]?.pull?.syncs.stay?.every, '15m');
});

test('a brand of a list is the same document as its own file', async (t) => {
  const listed = integrationsOf(await load(t, { 'integrations/acme.yaml': list })).get('lisbon-grand');
  const text = integration.replace('LISBON_TOKEN', 'x').replace('env:x', 'secret:lisbon');
  const own = integrationsOf(await load(t, { 'integrations/lisbon-grand.yaml': `${text}group: acme\n` })).get(
    'lisbon-grand',
  );
  assert.equal(listed?.hash, own?.hash);
  const again = integrationsOf(await load(t, { 'integrations/other-name.yaml': listed?.source ?? '' }));
  assert.equal(again.get('lisbon-grand')?.hash, own?.hash, 'its text stands alone');
});

test('a row replaces what it names of the defaults, and keeps the rest', async (t) => {
  const madrid = integrationsOf(await load(t, { 'integrations/acme.yaml': list })).get('madrid-sol')?.body;
  assert.deepEqual([madrid?.timezone, madrid?.deliver], ['Europe/Madrid', []]);
  assert.deepEqual(madrid?.pull?.syncs.stay, { every: '60m', range: ['-6d', '0d'] });
});

const wrong: [string, Record<string, string>, string[]][] = [
  [
    'a mistake in the defaults is one mistake',
    { 'acme.yaml': list.replace('every: 15m', 'every: 10m').replace(', syncs: { stay: { every: 60m } }', '') },
    ['integrations/acme.yaml:8:29 defaults.pull.syncs.stay.every: must be from 15m to 60m; did you mean 15m?'],
  ],
  [
    'mistakes in rows, in paths and in mappings',
    {
      'acme.yaml': list
        .replace('pull.auth.token', 'pull.auth.tokn')
        .replace('timezone: Europe/Madrid', 'timezone: Europe/Madird'),
    },
    [
      'integrations/acme.yaml:11:51 brands[0]["pull.auth.tokn"]: unknown key tokn; did you mean token?',
      'integrations/acme.yaml:14:15 brands[1].timezone: is not an IANA time zone (such as Europe/Lisbon); did you mean Europe/Madrid?',
    ],
  ],
  [
    'a required key that neither has',
    { 'acme.yaml': list.replace('    brand_id: MAD01\n', '') },
    [
      'integrations/acme.yaml:12:5 brands[1]: brand_id is missing: the brand or property as the partner names it: {brand_id} in requests, brand_id in events',
    ],
  ],
  [
    'two rows with one name',
    { 'acme.yaml': list.replace('integration: madrid-sol', 'integration: lisbon-grand') },
    [
      'integrations/acme.yaml:12:18 brands[1].integration: integrations/acme.yaml already has the integration lisbon-grand',
    ],
  ],
  [
    'a table that is missing',
    { 'acme.yaml': guide('acme.yaml') },
    ['integrations/acme.yaml:14:9 brands: the folder has no readable file acme.csv'],
  ],
  [
    'mistakes in a table',
    {
      'acme.yaml': guide('acme.yaml'),
      'acme.csv': guide('acme.csv').replace('Europe/Madrid', 'Europe/Madird').replace(',64', ',many'),
    },
    [
      'integrations/acme.csv:3:60 rooms_available: must be a number of rooms, or numbers of rooms by first night, such as { 2026-01-01: 120 }',
      'integrations/acme.csv:4:18 timezone: is not an IANA time zone (such as Europe/Lisbon); did you mean Europe/Madrid?',
    ],
  ],
  [
    'a cell too many',
    { 'acme.yaml': guide('acme.yaml'), 'acme.csv': `${guide('acme.csv')}a,b,c,d,e,f,g\n` },
    ['integrations/acme.csv:5:13 : the line has more cells than the first line'],
  ],
  [
    'an unknown key beside the brands',
    { 'acme.yaml': `${list}deliver: [archive]\n` },
    ['integrations/acme.yaml:17:1 deliver: unknown key deliver; known here: group, defaults, brands'],
  ],
];

for (const [about, files, expected] of wrong) {
  test(`placed: ${about}`, async (t) => {
    const inFolder = Object.fromEntries(Object.entries(files).map(([name, text]) => [`integrations/${name}`, text]));
    const result = await load(t, inFolder);
    assert.ok(result.kind === 'invalid');
    assert.deepEqual(linesOf(result.mistakes), expected);
  });
}

test('a brand’s own file replaces its row, with a warning', async (t) => {
  const own = integration.replace('LIS01', 'LIS99');
  const result = await load(t, { 'integrations/acme.yaml': list, 'integrations/lisbon-grand.yaml': own });
  assert.equal(integrationsOf(result).get('lisbon-grand')?.body.brand_id, 'LIS99');
  assert.deepEqual(linesOf(result.warnings), [
    'integrations/acme.yaml:11:20 brands[0].integration: has no effect: lisbon-grand has its own file integrations/lisbon-grand.yaml. Remove the row or the file',
  ]);
});

test('a table of a spreadsheet: quotes, semicolons, a mark at its start, empty lines', async (t) => {
  const csv =
    '\uFEFFintegration;brand_id;timezone;pull.auth.token;deliver\r\n\r\nlisbon;"L;""1""";Europe/Lisbon;env;archive\r\n;;;;\r\n'.replace(
      'env',
      `\${secret:a}`,
    );
  const brands = integrationsOf(
    await load(t, { 'integrations/acme.yaml': guide('acme.yaml'), 'integrations/acme.csv': csv }),
  );
  assert.deepEqual([brands.size, brands.get('lisbon')?.body.brand_id], [1, 'L;"1"']);
});
