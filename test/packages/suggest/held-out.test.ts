import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanOf, scoreSystems } from './score-systems.ts';

/**
 * Invented responses in the styles of the field. `learnt` was used to improve the suggestion, `held-out` and `first-sight` were not.
 * The first 24 of `learnt` were written before anybody looked at how the suggestion works, in two halves; the next eight with them, for a
 * third score, and six later. Means (and lowest) of systems that were not learnt from at that time:
 *   first half    0.70 (0.00) at first
 *   second half   0.73 (0.00) at first, 0.90 (0.59) after learning from the first half
 *   third eight   0.78 (0.42) at first, 0.82 (0.00) after learning from both halves: one system was not read at all
 *   held-out      0.94 (0.77) after learning from all of these; nothing was learnt from it
 *   fourth six    0.50 (0.20) at first: two languages without a vocabulary, codes of a mainframe, rooms in lists with other names
 *   fifth eight   0.68 (0.11) at first: rows of cells and one booking as an object were not read, a booker with the only addresses, centavos
 *   sixth four    0.59 (0.00) at first: an answer of SOAP was too deep, flags of O and N, ids under other names, -$200.00
 *   seventh six   0.83 (0.69) at first: words of Italian and Spanish, odd words for a bill
 *   eighth six    0.87 (0.73) at first: states in a table beside the list, full names as a first name, new words of rentals
 *   ninth six     0.90 (0.67) at first: rooms under a label, a cancellation that only the state of the message has
 *   tenth five    0.95 (0.86) at first: Mexican words, the type of a room in its own object
 *   eleventh four 0.88 (0.74) at first: Norwegian words, a tax taken as the amount of a line, abbreviated states
 *   twelfth four  0.64 (0.00) at first: one was not read, because an id of the guest hid that of the booking; cents as a word, phrases as states
 *   thirteenth four 0.94 (0.89) at first: chosen for their structure; a board taken as a confirmation number
 * From the fifth on they were written between changes, by somebody who knew the vocabulary: other people's systems score lower. The next two
 * eights have the shapes of public API descriptions, and were written before their author had read how the suggestion works:
 *   fourteenth eight 0.92 (0.65) at first: relations as [id, name], a net total, counts by type, nights taken as the id
 *   fifteenth eight  0.82 (0.60) at first, 0.85 (0.69) after learning from the fourteenth: Czech, Japanese, headings as people write them
 *   sixteenth eight  0.82 (0.24) at first, by somebody who knew it: Hungarian, rows taken as parts of one booking, children by their age
 *   seventeenth twelve 0.82 (0.02) at first, from public descriptions, before their author had read how the suggestion works: an id without
 *                    a value in the sample lost a whole system; persons named twice, contacts beside the guests, the last night as the end
 *   eighteenth two   0.58 (0.47) at first: rooms under other names, people one level below, states as numbers
 *   nineteenth ten   0.86 (0.43) at first, of real systems, before their author had read how the suggestion works: names without a mark between
 *                    their words, records each in an object of its own, translated names, nightly prices without a total
 *   twentieth eight  0.84 (0.52) at first, of real systems, by another author: one row per night, rooms two levels deep, people of a hotel's rooms
 * Then what the misses had in common was mended in the structure instead of the words: rows of one reservation are read like whole records, a
 * list inside a list is held by the records around both, every record has an id, firms and the hotel's own people are no guests. Sets of ten
 * real systems that few people know, each by an author who had not read how the suggestion works, with the code before and after it:
 *   twenty-first     0.80 (0.00) before, 0.90 (0.54) after: items as rooms, days of the booking, an id of a conversation
 *   twenty-second    0.75 (0.00) before, 0.82 (0.00) after: one was not read, because its id was one level deeper
 *   twenty-third     0.70 (0.00) before, 0.78 (0.46) after: long numbers of payments as totals, rooms that name their guest
 *   twenty-fourth    0.61 (0.00) before, 0.70 (0.17) after: a list of lists, keys that are numbers beside one that is not, bookings in
 *                    reservations; 0.90 (0.74) since these are read
 *   twenty-fifth     0.70 (0.00) before, 0.82 (0.00) after: one was not read, because it calls the arrival the begin date; 0.96 (0.82) since
 *   twenty-sixth     0.84 (0.00) before, 0.85 (0.00) after: one was not read, because its days have no leading zero; 0.93 (0.72) since
 * `first-sight` has the last set and five of the three sets before it; from these nothing else was learnt.
 */
const least = {
  learnt: { mean: 0.98, lowest: 0.83 },
  'held-out': { mean: 0.95, lowest: 0.9 },
  'first-sight': { mean: 0.85, lowest: 0.55 },
} as const;

const scoredOf = (name: keyof typeof least) => scoreSystems(new URL(`${name}/`, import.meta.url));
const scores = { learnt: scoredOf('learnt'), 'held-out': scoredOf('held-out'), 'first-sight': scoredOf('first-sight') };

for (const [name, { mean, lowest }] of Object.entries(least)) {
  const scored = scores[name as keyof typeof least];
  for (const { file, about, score, misses } of scored) {
    test(`${name}, ${file}: ${about}`, (t) => {
      t.diagnostic(`${(score * 100).toFixed(1)} % of the expected fields`);
      assert.ok(score >= lowest, misses.join('\n'));
    });
  }
  test(`${name}: the mean`, (t) => {
    t.diagnostic(meanOf(scored).toFixed(3));
    assert.ok(meanOf(scored) >= mean, scored.map(({ file, score }) => `${file} ${score.toFixed(3)}`).join('\n'));
  });
}

test('systems that one rule makes readable are read whole', () => {
  const names = [
    'rows-of-cells',
    'spanish-single',
    'booker-and-party',
    'soap-prefixes',
    'indian-stays',
    'dotnet-wrapped',
    'empty-reference',
    'end-is-the-last-night',
    'rooms-named-after-guests',
    'rooms-by-line-id',
    'codes-with-descriptions',
    'brazilian-channel-xml',
    'status-at-the-property',
    'venue-reservations',
    'channel-manager-codes',
    'lodging-and-folio',
    'rented-units',
  ];
  const scored = scores.learnt.filter(({ file }) => names.includes(file.slice(0, -5)));
  assert.equal(scored.length, names.length);
  for (const { misses } of scored) assert.deepEqual(misses, []);
});
