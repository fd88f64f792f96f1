import { foldSpelling, readStatus } from '../../../src/core/canonical/values.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import type { Sections } from './document.ts';
import { type Leaf, plain } from './leaf.ts';
import { type Match, valuesOf } from './match.ts';
import type { Section } from './section.ts';
import { guessBoard, guessConsent, guessDocument, guessStatus } from './vocabulary.ts';

/** The value maps for the spellings in the sample, and the coded statuses for a person to look up. */
export function spellingsOf(
  reservation: ReadonlyMap<string, Match>,
  { rooms, guests }: Sections,
): { readonly values: JsonObject; readonly unknown: readonly string[] } {
  const values: JsonObject = {};
  const status = reservation.get('status');
  const spelt = (sections: readonly Section[], field: string) =>
    distinct(sections.flatMap(({ matches }) => matches.get(field) ?? []));
  const add = (
    name: string,
    spellings: readonly string[],
    guess: (spelling: string) => string | undefined,
    known: (spelling: string) => boolean,
  ) => {
    const map: { [canonical: string]: string[] } = {};
    for (const spelling of spellings) {
      if (known(spelling)) continue;
      const canonical = guess(spelling);
      if (canonical !== undefined) map[canonical] = [...(map[canonical] ?? []), spelling];
    }
    if (Object.keys(map).length > 0) values[name] = map;
  };
  add(
    'status',
    distinct(status === undefined ? [] : [status]),
    guessStatus,
    (spelling) => readStatus(spelling) !== undefined,
  );
  add('board', spelt(rooms, 'board'), guessBoard, (spelling) => guessBoard(spelling) === spelling);
  // document_type holds the partner's own words: only those of another language are translated, and codes are kept.
  add(
    'document_type',
    spelt(guests, 'document_type'),
    guessDocument,
    (spelling) => spelling.length <= 3 || englishDocument.test(spelling),
  );
  add('marketing_consent', spelt(guests, 'marketing_consent'), guessConsent, () => false);
  return { values, unknown: status === undefined ? [] : codedStatuses(status) };
}

const englishDocument = /^(?:passport|driv(?:er|ing)|identity|id[ _-]?card|national[ _-]?id|visa|residence)/i;

/** Codes without words, with their count. Only the partner can say what they mean: a cancelled booking looks like any other. */
export function codedStatuses(status: Match): string[] {
  const values = valuesOf(status).flatMap((value) => (value === undefined ? [] : [plain(value)]));
  return distinct([status])
    .filter((spelling) => guessStatus(spelling) === undefined)
    .map((spelling) => {
      const count = values.filter((value) => value === spelling).length;
      return `${spelling} (${count} ${count === 1 ? 'record' : 'records'})`;
    });
}

function distinct(matches: readonly Match[]): string[] {
  return [
    ...new Set(
      matches.flatMap((match) => valuesOf(match).flatMap((value) => (value === undefined ? [] : [plain(value)]))),
    ),
  ];
}

/** A no-show as the text of another field than the status, such as a reason; a cancellation or a step of the stay that only another status states. */
export function statedElsewhere(status: Match, leaves: readonly Leaf[]): Json[] {
  const meanings = valuesOf(status).map((value) => guessStatus(plain(value ?? null)));
  const others = leaves.filter((leaf) => leaf !== status.leaf && leaf.kind === 'value' && leaf.depth <= 1);
  return (['no_show', 'cancelled', 'checked_out', 'checked_in'] as const).flatMap((meaning) => {
    const [stated] = others.flatMap((leaf) => {
      const isStatus = [...leaf.own, ...leaf.around].some((word) => word === 'status' || word === 'state');
      const value = leaf.values.find(
        (one, at) =>
          typeof one === 'string' &&
          guessStatus(one) === meaning &&
          meanings[at] !== meaning &&
          (isStatus || foldSpelling(one) === 'noshow') &&
          (!meaning.startsWith('checked') || (meanings[at] === 'confirmed' && /check|house/i.test(one))),
      );
      return value === undefined ? [] : [{ const: meaning, when: { [leaf.path]: value } }];
    });
    return stated ?? [];
  });
}
