import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFiles } from '../../src/core/documents/check.ts';
import type { Mistake } from '../../src/core/documents/mistake.ts';
import type { SourceFile } from '../../src/core/documents/parse.ts';

const connector = `connector: acme-pms
pull:
  request: { path: /api/reservations, query: { from: "{window.from}", to: "{window.to}", status: "{sync.status}" } }
  window: { step: 1d }
values: { status: { cancelled: [CXL] } }
`;

function brand(name: string, syncs: string, more = ''): SourceFile {
  const text = `integration: ${name}
connector: acme-pms
brand_id: LIS01
timezone: Europe/Lisbon
pull:
  base_url: https://pms.example
  auth: { type: none }
  syncs: { ${syncs} }
${more}`;
  return { kind: 'integration', file: `integrations/${name}.yaml`, text };
}

function checked(...integrations: SourceFile[]): { mistakes: readonly Mistake[]; warnings: readonly Mistake[] } {
  const files: SourceFile[] = [
    { kind: 'connector', file: 'connectors/acme-pms.yaml', text: connector },
    ...integrations,
  ];
  const result = checkFiles(files);
  return { mistakes: result.kind === 'invalid' ? result.mistakes : [], warnings: result.warnings };
}

const stay = (status?: string) =>
  `stay: { every: 15m, range: [-2d, 0d]${status === undefined ? '' : `, status: ${status}`} }`;
const later = 'post_stay: { every: 60m, range: [-3d, -1d], status: OUT }';

test('a brand without push whose syncs all filter out cancellations is warned about', () => {
  const { warnings, mistakes } = checked(brand('lisbon', `${stay('[CONF, IN]')}, ${later}`));
  assert.deepEqual(mistakes, []);
  assert.deepEqual(
    warnings.map(({ file, path, severity }) => [file, path, severity]),
    [['integrations/lisbon.yaml', 'pull.syncs.stay.status', 'warning']],
  );
  assert.match(warnings[0]?.message ?? '', /none asks for cancelled/);
});

test('no warning if one sync has no filter, asks for cancelled in any spelling, or if events arrive too', () => {
  for (const syncs of [`${stay()}, ${later}`, `${stay('CXL')}, ${later}`, `${stay('[CONF, canceled]')}, ${later}`]) {
    assert.deepEqual(checked(brand('lisbon', syncs)).warnings, [], syncs);
  }
  assert.deepEqual(checked(brand('lisbon', `${stay('CONF')}, ${later}`, 'push: { enabled: true }\n')).warnings, []);
});

test('a connector may do without a list; a sync of it is then a mistake', () => {
  const without = (syncs: string) => {
    const text = 'connector: acme-pms\npull: { single: { path: "/r/{id}" } }\n';
    const result = checkFiles([{ kind: 'connector', file: 'connectors/acme-pms.yaml', text }, brand('lisbon', syncs)]);
    return result.kind === 'invalid' ? result.mistakes.map(({ path, message }) => `${path}: ${message}`) : [];
  };
  assert.deepEqual(without(''), []);
  assert.deepEqual(without(stay()), [
    'pull.syncs.stay: the connector describes no list to poll: add pull.request to it, or remove the sync',
  ]);
});

test('two integrations that read the same property are a mistake, whatever the spelling of the address', () => {
  const other = brand('porto', stay());
  const same = { ...other, text: other.text.replace('https://pms.example', 'https://PMS.example/') };
  const { mistakes } = checked(brand('lisbon', stay()), same);
  assert.deepEqual(
    mistakes.map(({ file, path }) => [file, path]),
    [['integrations/porto.yaml', 'brand_id']],
  );
  assert.match(mistakes[0]?.message ?? '', /lisbon already reads brand_id LIS01/);
});

test('a second brand of one account is a mistake if nothing tells the two apart', () => {
  const second = (from: string, to: string, more = '') => {
    const other = brand('porto', stay(), more);
    return { ...other, text: other.text.replace('LIS01', 'OPO01').replace(from, to) };
  };
  const { mistakes } = checked(brand('lisbon', stay()), second('', ''));
  assert.deepEqual(
    mistakes.map(({ file, line, path }) => [file, line, path]),
    [['integrations/porto.yaml', 3, 'brand_id']],
  );
  assert.match(mistakes[0]?.message ?? '', /the same reservations as lisbon: .*sends no \{brand_id\}/);
  const apart = [
    second('pms.example', 'porto.example'),
    second('type: none', `type: bearer, token: "\${env:PORTO}"`),
    second('  syncs', '  query: { hotel: OPO01 }\n  syncs'),
    second('', '', 'transforms: [{ when: \'extra.hotel != "OPO01"\', drop: true }]\n'),
  ];
  for (const one of apart) assert.deepEqual(checked(brand('lisbon', stay()), one).mistakes, [], one.text);
  const connectors = [
    connector.replace('status: "{sync', 'hotel: "{brand_id}", status: "{sync'),
    connector.replace('  window:', '  property: hotel.code\n  window:'),
  ];
  for (const text of connectors) {
    const files: SourceFile[] = [{ kind: 'connector', file: 'c.yaml', text }, brand('lisbon', stay()), second('', '')];
    assert.equal(checkFiles(files).kind, 'ok', text);
  }
});

test('a range that means many requests at every poll is reported with the number', () => {
  const { warnings } = checked(brand('lisbon', 'pre_stay: { every: 30m, range: [+1d, +60d] }'));
  assert.deepEqual(
    warnings.map(({ path }) => path),
    ['pull.syncs.pre_stay.range'],
  );
  assert.match(warnings[0]?.message ?? '', /60 requests at every poll \(120 per hour\).*raise window.step/);
});

test('a sync needs a range only if its request sends the days', () => {
  const lacks = (pull: string, sync = 'stay: { every: 15m }') =>
    withConnector(pull, brand('lisbon', sync)).map(({ path, message }) => `${path}: ${message}`);
  const byDays = '{ path: /list, query: { from: "{window.from}", to: "{window.to}" } }';
  const missing = 'pull.syncs.stay.range: range is missing: the connector’s request asks for days ({window.…})';
  assert.deepEqual(lacks(`  request: ${byDays}\n`), [missing]);
  assert.deepEqual(lacks(`  request: ${byDays}\n  window: none\n`), [missing]);
  assert.deepEqual(lacks(`  request: { path: /feed }\n  requests: { stay: ${byDays} }\n  window: none\n`), [missing]);
  assert.deepEqual(lacks('  request: { path: /feed }\n  window: none\n'), []);
  assert.deepEqual(lacks('  request: { path: /feed, query: { since: "{since}" } }\n'), []);
  const onlyOnce = lacks(`  request: ${byDays}\n`, 'stay: { every: 15m, range: [0d] }');
  assert.deepEqual(onlyOnce, ['pull.syncs.stay.range: must be two offsets in days, such as [+1d, +7d]']);
});

function withConnector(pull: string, integration: SourceFile): readonly Mistake[] {
  const text = `connector: acme-pms\npull:\n${pull}`;
  const result = checkFiles([{ kind: 'connector', file: 'connectors/acme-pms.yaml', text }, integration]);
  return result.kind === 'invalid' ? result.mistakes : [];
}

const withBody = (body: string): SourceFile => {
  const plain = brand('lisbon', stay());
  return { ...plain, text: plain.text.replace('{ type: none }', `{ type: custom, body: ${body} }`) };
};

test('credentials in a body that a GET does not have, or that the connector uses, are mistakes', () => {
  const get = '  request: { path: /list, query: { from: "{window.from}", to: "{window.to}" } }\n';
  assert.match(withConnector(get, withBody('{ key: k }'))[0]?.message ?? '', /request is a GET/);
  const plain = brand('lisbon', stay());
  const own = { ...plain, text: plain.text.replace('{ type: none }', '{ type: none }\n  body: { account: A1 }') };
  assert.deepEqual(
    withConnector(get, own).map(({ path }) => path),
    ['pull.body'],
  );
  const post = '  request: { method: POST, path: /list, body: { a: { from: "{window.from}", to: "{window.to}" } } }\n';
  assert.deepEqual(withConnector(post, withBody('{ a: { key: k } }')), []);
  const [taken] = withConnector(post, withBody('{ a: { from: k } }'));
  assert.deepEqual([taken?.path, taken?.message.includes('already has a.from')], ['pull.auth.body.a.from', true]);
});

test('a placeholder in the integration is sent as written, and reported', () => {
  const { warnings } = checked(withBody('{ key: k, hotel: "{brand_id}" }'));
  assert.deepEqual(
    warnings.map(({ path }) => path),
    ['pull.auth.body.hotel'],
  );
  assert.match(warnings[0]?.message ?? '', /sent as written.*Write the value \(LIS01\)/);
});

test('a request sends both ends of the window, in any notation, unless the list has none', () => {
  const ends = (pull: string) =>
    withConnector(pull, brand('lisbon', stay())).map(({ message }) => message.slice(0, 21));
  assert.deepEqual(ends('  request: { path: /list }\n').length, 2);
  assert.deepEqual(ends('  request: { path: /list }\n  window: none\n'), []);
  assert.deepEqual(ends('  request: { path: /list, query: { since: "{since:epoch_s}" } }\n'), []);
  const notation = (from: string) => `  request: { path: "/l/{window.from:${from}}/{window.to:DD.MM.YYYY}" }\n`;
  assert.deepEqual(ends(notation('DD.MM.YYYY')), []);
  assert.deepEqual(ends(notation('days')), ['days is not a notatio']);
  for (const end of ['after', 'after:DD.MM.YYYY', 'days', 'to_utc:YYYY-MM-DD HH:mm'])
    assert.deepEqual(ends(`  request: { path: "/l/{window.from_utc}/{window.${end}}" }\n`), [], end);
});

test('a stream that misses what its connector needs is a mistake with the next step', () => {
  const described = `connector: acme-pms
pull: { single: { path: "/stays/{id}" } }
stream:
  path: /live
  init: { apiKey: "{key.sha256}" }
  subscription: "subscription($hotel: String!, $after: String) { changed(hotel: $hotel, after: $after) { seq hotel } }"
  variables: { hotel: "{chain}", after: "{offset}" }
  event: changed
  offset: seq
push: { event_id: seq, envelope: { brand: hotel, data: $item }, thin: { id: id } }
`;
  const found = (text: string, more: string, syncs = '') => {
    const result = checkFiles([
      { kind: 'connector', file: 'connectors/acme-pms.yaml', text },
      brand('lisbon', syncs, more),
    ]);
    const of = (all: readonly Mistake[]) => all.map(({ path, message }) => `${path}: ${message}`);
    return [result.kind === 'invalid' ? of(result.mistakes) : [], of(result.warnings)];
  };
  const whole = 'stream: { key: app-key, chain: ACME }\n';
  assert.deepEqual(found(described, whole), [[], []]);
  const needs = (name: string, setting: string) =>
    `stream: the connector acme-pms sends {${name}} to its stream: set stream.${setting}`;
  assert.deepEqual(found(described, 'stream: { key: app-key }\n'), [[needs('chain', 'chain')], []]);
  assert.deepEqual(found(described, 'stream: {}\n'), [[needs('key.sha256', 'key'), needs('chain', 'chain')], []]);
  assert.deepEqual(found(described, ''), [
    [
      'connector: the events of acme-pms come by its stream, and nothing else brings reservations: add a stream section with its key and chain',
    ],
    [],
  ]);
  assert.deepEqual(found(described, 'push: { enabled: true }\n'), [[], []]);
  const withList = described.replace('pull: {', 'pull: { request: { path: /all }, window: none,');
  assert.deepEqual(found(withList, '', stay()), [
    [],
    ['connector: acme-pms has a stream, which this brand does not read: add a stream section to get its events'],
  ]);
  const [mistakes] = found(described.replace('brand: hotel, ', ''), whole);
  assert.deepEqual(mistakes, [
    'stream: a stream needs `brand` in push.envelope, such as brand: hotel.code: each event must name its property',
  ]);
});
