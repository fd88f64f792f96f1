import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InnboundError } from '../../src/errors.ts';
import {
  type DatabaseFacts,
  type Diagnosis,
  judgeAlerts,
  judgeClock,
  judgeDatabase,
  judgeDisk,
  judgeHost,
  judgeMigrations,
  judgeNodes,
  judgePublicUrl,
} from '../../src/operator/watch/diagnosis.ts';

const sound: DatabaseFacts = {
  version: 180_004,
  encoding: 'UTF8',
  isReadOnly: false,
  isSuperuser: false,
  mayCreateSchema: true,
  mayUseSchema: true,
  fsync: 'on',
  synchronousCommit: 'on',
  fullPageWrites: 'on',
  maxConnections: 100,
  usedConnections: 10,
  bytes: 12_000_000,
  nodes: 1,
};
const database = (facts: Partial<DatabaseFacts>) => [...judgeDatabase({ ...sound, ...facts })];
const bad = (found: readonly Diagnosis[]) =>
  found.filter(({ state }) => state !== 'ok').map(({ check, state }) => `${state} ${check}`);

const node = { node: 'a:1', version: '1.0.0', clockAheadMs: 3, stalled: [] };
const host = { origin: 'https://pms.example', usedBy: ['integration grand'], certificateDays: 90 };

/** One case for each thing that doctor can find. */
const cases: readonly (readonly [string, readonly Diagnosis[], readonly string[]])[] = [
  ['a sound database', database({}), []],
  ['an old PostgreSQL', database({ version: 140_011 }), ['problem database.version']],
  ['PostgreSQL 15', database({ version: 150_000 }), []],
  ['another encoding', database({ encoding: 'SQL_ASCII' }), ['problem database.encoding']],
  ['a standby', database({ isReadOnly: true }), ['problem database.writable']],
  ['a foreign schema', database({ mayUseSchema: false }), ['problem database.rights']],
  ['no right to begin', database({ mayUseSchema: undefined, mayCreateSchema: false }), ['problem database.rights']],
  ['before the first start', database({ mayUseSchema: undefined }), []],
  ['a superuser', database({ isSuperuser: true }), ['warning database.rights']],
  ['no further schema needed', database({ mayCreateSchema: false }), []],
  ['fsync off', database({ fsync: 'off' }), ['problem database.durability']],
  ['asynchronous commits', database({ synchronousCommit: 'off' }), ['problem database.durability']],
  ['torn pages', database({ fullPageWrites: 'off' }), ['problem database.durability']],
  ['too few connections', database({ maxConnections: 40, nodes: 2 }), ['problem database.connections']],
  ['no room for a node', database({ usedConnections: 80 }), ['warning database.connections']],
  ['an empty database', [judgeMigrations(undefined)], []],
  [
    'a newer version',
    [judgeMigrations({ pending: 0, refused: new InnboundError('store.newer_schema', '') })],
    ['problem database.migrations'],
  ],
  ['waiting migrations', [judgeMigrations({ pending: 2, refused: undefined })], ['warning database.migrations']],
  ['a migrated database', [judgeMigrations({ pending: 0, refused: undefined })], []],
  ['a clock behind', [judgeClock(-6_000)], ['problem clock']],
  ['a clock ahead', [judgeClock(6_000)], ['problem clock']],
  ['a good clock', [judgeClock(-400)], []],
  ['a full disk', [judgeDisk('/w', 5e8)], ['problem disk']],
  ['a small disk', [judgeDisk('/w', 3e9)], ['warning disk']],
  ['a large disk', [judgeDisk('/w', 9e9)], []],
  ['no nodes', judgeNodes([], '1.0.0'), []],
  ['equal nodes', judgeNodes([node, { ...node, node: 'b:1' }], '1.0.0'), []],
  ['an older node', judgeNodes([node, { ...node, version: '0.9.0' }], '1.0.0'), ['warning nodes.versions']],
  ['a node with no version', judgeNodes([{ ...node, version: null }], '1.0.0'), ['warning nodes.versions']],
  ['a node with a wrong clock', judgeNodes([{ ...node, clockAheadMs: 9_000 }], '1.0.0'), ['problem nodes.clock_skew']],
  ['a stalled node', judgeNodes([{ ...node, stalled: ['runs'] }], '1.0.0'), ['problem nodes.node_stalled']],
  ['a host that answers', [judgeHost(host)], []],
  ['no such name', [judgeHost({ ...host, failure: { kind: 'dns', message: 'x' } })], ['problem dns']],
  ['a private address', [judgeHost({ ...host, failure: { kind: 'private', message: 'x' } })], ['problem dns']],
  ['a closed port', [judgeHost({ ...host, failure: { kind: 'unreachable', message: 'x' } })], ['problem network']],
  ['an unknown authority', [judgeHost({ ...host, failure: { kind: 'tls', message: 'x' } })], ['problem tls']],
  ['a certificate that ends', [judgeHost({ ...host, certificateDays: 5 })], ['warning tls']],
  ['plain http', [judgeHost({ origin: 'http://pms.example', usedBy: [] })], ['warning tls']],
  ['no public address', [judgePublicUrl(undefined, [])], ['warning public_url']],
  ['a public address without TLS', [judgePublicUrl('http://x.example', ['10.0.0.1'])], ['warning public_url']],
  ['an untrusted proxy', [judgePublicUrl('https://x.example', [])], ['warning public_url']],
  ['a trusted proxy', [judgePublicUrl('https://x.example', ['10.0.0.1'])], []],
];

for (const [name, found, expected] of cases) {
  test(`doctor: ${name}`, () => {
    assert.deepEqual(bad(found), expected);
    for (const one of found) assert.equal(one.next === undefined, one.state === 'ok', `${one.check} says what to do`);
  });
}

test('doctor names three of many documents that use a host', () => {
  const usedBy = Array.from({ length: 10 }, (_, i) => `integration b${i}`);
  assert.match(judgeHost({ ...host, usedBy }).message, /integration b2 and 7 more/);
});

test('doctor: an alert names its brand; what it examines itself is not said again', () => {
  const alert = (kind: string, integration: string) => ({ kind, integration, severity: 'critical', message: 'No.' });
  const found = judgeAlerts([alert('run_failed', 'grand'), alert('role_missing', ''), alert('disk_full', '')]);
  assert.deepEqual(
    found.map(({ check, message }) => [check, message]),
    [['alerts.run_failed', 'grand: No.']],
  );
});
