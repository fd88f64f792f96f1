import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countReads } from '../support/count-reads.ts';
import { checkHistory } from './check.ts';
import type { Fate, History, Rule, Settled, Statement, Version, Write } from './history.ts';

/** Reservation a: two events, two versions, delivered in order. */
const event = (id: string, value: string, atMs: number, more: Partial<Statement> = {}): Statement => ({
  id,
  record: 'a',
  value,
  fromMs: atMs,
  toMs: atMs,
  isAccepted: true,
  isEvent: true,
  ...more,
});
const made = (statement: string, version: number): Fate => ({ statement, kind: 'version', version });
const stored = (version: number, value: string): Version => ({ record: 'a', version, value });
const settled = (version: number, kind: Settled['kind']): Settled => ({
  record: 'a',
  destination: 'crm',
  version,
  kind,
});
const write = (version: number, value: string, more: Partial<Write> = {}): Write => ({
  destination: 'crm',
  record: 'a',
  version,
  key: `key ${version}`,
  value,
  body: `{"value":"${value}"}`,
  startedAtMs: version,
  ...more,
});
const sound: History = {
  statements: [event('e1', 'one', 10), event('e2', 'two', 20)],
  fates: [made('e1', 1), made('e2', 2)],
  versions: [stored(1, 'one'), stored(2, 'two')],
  settled: [settled(1, 'delivered'), settled(2, 'delivered')],
  writes: [write(1, 'one'), write(1, 'one'), write(2, 'two')],
  runs: [{ id: 'run', fetched: 3, counted: 3 }],
  erasures: [],
  isQuiet: true,
};

const ana = { first_name: 'Ana', document_number: 'N1', marketing_consent: true };
const rui = { first_name: 'Rui', marketing_consent: false };
const mentions = [
  { record: 'a', person: 'ana', guest: ana },
  { record: 'a', person: 'rui', guest: rui },
];
const about = (guests: object[]): string => JSON.stringify({ guests });

const broken: readonly { readonly name: string; readonly rule: Rule; readonly change: Partial<History> }[] = [
  {
    name: 'a stored guest has a relative’s document',
    rule: 'nothing_of_another_person',
    change: { mentions, versions: [stored(1, 'one'), { ...stored(2, 'two'), text: about([{ ...ana, ...rui }]) }] },
  },
  {
    name: 'a delivered guest has a consent that was stated about somebody else',
    rule: 'nothing_of_another_person',
    change: {
      mentions,
      writes: [write(1, 'one'), write(2, 'two', { body: about([{ ...rui, marketing_consent: true }]) })],
    },
  },
  {
    name: 'a guest has a value that was stated in another booking',
    rule: 'nothing_of_another_person',
    change: {
      mentions: [...mentions, { record: 'b', person: 'ana', guest: { nationality: 'PT' } }],
      versions: [stored(1, 'one'), { ...stored(2, 'two'), text: about([{ ...ana, nationality: 'PT' }]) }],
    },
  },
  { name: 'an accepted event is lost', rule: 'accepted_is_accounted_for', change: { fates: [made('e1', 1)] } },
  {
    name: 'an event is counted twice',
    rule: 'accepted_is_accounted_for',
    change: { fates: [...sound.fates, { statement: 'e2', kind: 'unchanged' }] },
  },
  {
    name: 'an event became a version that is not stored',
    rule: 'accepted_is_accounted_for',
    change: { fates: [made('e1', 1), made('e2', 3)] },
  },
  {
    name: 'a version that no event made',
    rule: 'accepted_is_accounted_for',
    change: { fates: [made('e1', 1), { statement: 'e2', kind: 'unchanged' }] },
  },
  {
    name: 'two events made one version',
    rule: 'accepted_is_accounted_for',
    change: { statements: [...sound.statements, event('e3', 'two', 21)], fates: [...sound.fates, made('e3', 2)] },
  },
  {
    name: 'the payload of an event holds an erased guest',
    rule: 'nothing_after_erasure',
    change: { erasures: [{ atMs: 9, marks: ['ana@'] }], kept: [{ place: 'event e1', text: '{"email":"ana@"}' }] },
  },
  {
    name: 'an event is pending although all work is done',
    rule: 'accepted_is_accounted_for',
    change: { fates: [made('e1', 1), { statement: 'e2', kind: 'pending' }] },
  },
  {
    name: 'a version has no outcome at a destination',
    rule: 'accepted_is_accounted_for',
    change: { settled: [settled(1, 'delivered')] },
  },
  {
    name: 'a version is pending behind nothing',
    rule: 'accepted_is_accounted_for',
    change: { settled: [settled(1, 'delivered'), settled(2, 'pending')] },
  },
  {
    name: 'a version counts as delivered and never arrived',
    rule: 'accepted_is_accounted_for',
    change: { writes: [write(1, 'one')] },
  },
  {
    name: 'the counters of a run do not add up',
    rule: 'accepted_is_accounted_for',
    change: { runs: [{ id: 'run', fetched: 3, counted: 2 }] },
  },
  {
    name: 'a run counts a page twice',
    rule: 'accepted_is_accounted_for',
    change: { runs: [{ id: 'run', fetched: 6, counted: 6, listed: 3 }] },
  },
  {
    name: 'a listed record is not stored',
    rule: 'newest_statement_holds',
    change: { statements: [...sound.statements, event('row', 'one', 30, { record: 'b', isEvent: false })] },
  },
  {
    name: 'a gap in the stored versions',
    rule: 'versions_in_order',
    change: { versions: [stored(1, 'one'), stored(3, 'two')] },
  },
  {
    name: 'an older version arrives after a newer one',
    rule: 'versions_in_order',
    change: { writes: [write(1, 'one'), write(2, 'two'), write(1, 'one')] },
  },
  { name: 'a version is left out', rule: 'versions_in_order', change: { writes: [write(2, 'two')] } },
  {
    name: 'one key is used for two bodies',
    rule: 'one_key_one_body',
    change: { writes: [write(1, 'one'), write(2, 'two', { key: 'key 1' })] },
  },
  {
    name: 'a version is sent with two keys',
    rule: 'one_key_one_body',
    change: { writes: [write(1, 'one'), write(1, 'one', { key: 'other' }), write(2, 'two')] },
  },
  {
    name: 'the state is the last to arrive, not the newest',
    rule: 'newest_statement_holds',
    change: { statements: [event('e1', 'one', 30), event('e2', 'two', 20)] },
  },
  {
    name: 'of equal times the lower sequence wins',
    rule: 'newest_statement_holds',
    change: { statements: [event('e1', 'one', 20, { seq: 8 }), event('e2', 'two', 20, { seq: 7 })] },
  },
  {
    name: 'the newest statement counts as superseded',
    rule: 'newest_statement_holds',
    change: {
      statements: [...sound.statements, event('e3', 'two', 30)],
      fates: [...sound.fates, { statement: 'e3', kind: 'superseded' }],
    },
  },
  {
    name: 'a stored value that nobody said',
    rule: 'nothing_unsaid',
    change: { versions: [stored(1, 'one'), stored(2, 'three')] },
  },
  {
    name: 'a delivered value that is not stored',
    rule: 'nothing_unsaid',
    change: { writes: [write(1, 'one'), write(2, 'three')] },
  },
  {
    name: 'a call carries an erased guest',
    rule: 'nothing_after_erasure',
    change: { erasures: [{ atMs: 1, marks: ['two'] }] },
  },
  {
    name: 'a call that was late carries a guest whom the destination erased',
    rule: 'nothing_after_erasure',
    change: {
      erasures: [{ beganMs: 1, atMs: 99, marks: ['two'] }],
      writes: [write(1, 'one'), write(2, 'two', { isErasure: true, body: '' }), write(2, 'two', { startedAtMs: 3 })],
    },
  },
  {
    name: 'a body changes although no guest of it was erased',
    rule: 'one_key_one_body',
    change: {
      erasures: [{ beganMs: 1, atMs: 9, marks: ['nobody@'] }],
      writes: [write(1, 'one'), write(2, 'two'), write(2, 'two', { body: '{}' })],
    },
  },
  {
    name: 'the store still holds an erased guest',
    rule: 'nothing_after_erasure',
    change: {
      erasures: [{ atMs: 9, marks: ['ana@'] }],
      versions: [stored(1, 'one'), { ...stored(2, 'two'), text: 'ana@' }],
    },
  },
];

test('a sound history breaks no rule', () => {
  assert.deepEqual(checkHistory(sound), []);
});

for (const { name, rule, change } of broken) {
  test(`found: ${name}`, () => {
    const rules = new Set(checkHistory({ ...sound, ...change }).map((violation) => violation.rule));
    assert.ok(rules.has(rule), [...rules].join(', '));
  });
}

test('what cannot be known from outside is allowed either way', () => {
  const answerLost = event('e3', 'three', 30, { isAccepted: false });
  assert.deepEqual(checkHistory({ ...sound, statements: [...sound.statements, answerLost] }), []);
  const taken = {
    ...sound,
    statements: [...sound.statements, answerLost],
    fates: [...sound.fates, made('e3', 3)],
    versions: [...sound.versions, stored(3, 'three')],
    settled: [...sound.settled, settled(3, 'delivered')],
    writes: [...sound.writes, write(3, 'three')],
  };
  assert.deepEqual(checkHistory(taken), []);
  // A page that was requested at some moment around the second event.
  const page = event('row', 'one', 0, { fromMs: 15, toMs: 25, isEvent: false });
  assert.deepEqual(checkHistory({ ...sound, statements: [...sound.statements, page] }), []);
});

test('an erasure writes a new version, and versions that are sent again lack the guest', () => {
  const history = {
    ...sound,
    versions: [stored(1, 'one'), stored(2, 'two'), { ...stored(3, 'two'), isErasure: true }],
    settled: [...sound.settled, settled(3, 'delivered')],
    writes: [
      write(1, 'one', { body: 'ana@' }),
      write(1, 'one', { body: '', startedAtMs: 5 }),
      write(2, 'two'),
      write(3, 'two', { isErasure: true }),
    ],
    erasures: [{ beganMs: 4, atMs: 4, marks: ['ana@'] }],
  };
  assert.deepEqual(checkHistory(history), []);
});

test('versions behind a dead letter may be pending, and skipped ones are left out', () => {
  const held = { ...sound, settled: [settled(1, 'dead'), settled(2, 'pending')], writes: [] };
  assert.deepEqual(checkHistory(held), []);
  const skipped = { ...sound, settled: [settled(1, 'skipped'), settled(2, 'delivered')], writes: [write(2, 'two')] };
  assert.deepEqual(checkHistory(skipped), []);
  const guests = {
    ...sound,
    mentions,
    versions: [stored(1, 'one'), { ...stored(2, 'two'), text: about([rui, ana, {}]) }],
  };
  assert.deepEqual(checkHistory(guests), []);
});

test('a history of 40,000 events is checked in linear time', () => {
  const records = Array.from({ length: 10_000 }, (_, i) => `r${i}`);
  const each = <Of>(make: (record: string, n: number) => Of): Of[] =>
    records.flatMap((record) => [1, 2, 3, 4].map((n) => make(record, n)));
  const statements = countReads(each((record, n) => event(`${record} ${n}`, `${n}`, n, { record })));
  const fates = countReads(each((record, n) => made(`${record} ${n}`, n)));
  const versions = countReads(each((record, n) => ({ record, version: n, value: `${n}` })));
  const settled = countReads(
    each((record, n) => ({ record, destination: 'crm', version: n, kind: 'delivered' as const })),
  );
  const writes = countReads(
    each((record, n) => write(n, `${n}`, { record, key: `${record} ${n}`, body: `${record} ${n}` })),
  );
  const history: History = {
    ...sound,
    statements: statements.items,
    fates: fates.items,
    versions: versions.items,
    settled: settled.items,
    writes: writes.items,
  };
  assert.deepEqual(checkHistory(history), []);
  const reads = [statements, fates, versions, settled, writes].map((counted) => counted.readsPerItem());
  assert.ok(Math.max(...reads) < 100, `${reads} reads of each event`);
});
