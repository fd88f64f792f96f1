import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FileOffered, type LastApplied, takeUp } from '../../src/documents/take-up.ts';

const file = (
  hash: string,
  state: 'in force' | 'past' | 'never',
  { textHash = `text of ${hash}`, isNewText = state === 'never' } = {},
): FileOffered => ({
  key: 'integration grand',
  hash,
  textHash,
  inForce: state === 'in force',
  wasInForce: state !== 'never',
  isNewText,
});
const decide = (one: FileOffered | undefined, lastApplied: LastApplied | undefined) => {
  const { apply, remove, behind } = takeUp(one ? [one] : [], ['integration grand'], lastApplied);
  return [...apply.map(() => 'apply'), ...remove.map(() => 'remove'), ...behind.map(() => 'behind')].join();
};
const gave = (hash: string, text = `text of ${hash}`): LastApplied => ({
  'integration grand': hash,
  'text integration grand': text,
});
const comment = { textHash: 'a with a comment', isNewText: true };

const rules: [what: string, file: FileOffered | undefined, lastApplied: LastApplied | undefined, then: string][] = [
  ['what is in force already needs nothing', file('a', 'in force'), gave('a'), ''],
  ['an edited file is put in force', file('b', 'never'), gave('a'), 'apply'],
  ['a file that nobody touched does not put back what was replaced elsewhere', file('a', 'past'), gave('a'), 'behind'],
  ['one that was set back here is an edit', file('a', 'past'), gave('b'), 'apply'],
  ['a deleted file that returns with an old text is an edit here', file('a', 'past'), {}, 'apply'],
  ['a workspace of which nothing is known brings what is new', file('b', 'never'), undefined, 'apply'],
  ['and does not put back what was replaced', file('a', 'past'), undefined, 'behind'],
  ['a database that never saw it takes it, whatever it gave elsewhere', file('a', 'never'), gave('a'), 'apply'],
  ['a file that was taken away here goes out of force', undefined, gave('a'), 'remove'],
  ['what never was a file here stays', undefined, {}, ''],
  ['and where nothing is known, everything stays', undefined, undefined, ''],
  ['a comment that was added here is put in force', file('a', 'in force', comment), gave('a'), 'apply'],
  ['also by a workspace of which nothing is known', file('a', 'in force', comment), undefined, 'apply'],
  ['an older comment is not', file('a', 'in force', { textHash: 'older' }), undefined, ''],
  ['nor one that nobody touched', file('a', 'in force', { textHash: 'older' }), gave('a', 'older'), ''],
  ['new defaults do not make an old file new', file('a2', 'past', { textHash: 'text of a' }), gave('a'), 'behind'],
  ['one that was set back here is still an edit', file('a2', 'past'), gave('b'), 'apply'],
];
for (const [what, one, lastApplied, then] of rules) test(what, () => assert.equal(decide(one, lastApplied), then));
