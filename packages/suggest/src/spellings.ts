import type { Status } from '../../../src/canonical/status.ts';
import { foldSpelling, readStatus } from '../../../src/canonical/status.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import type { Sections } from './document.ts';
import { plain } from './kinds.ts';
import type { Leaf } from './leaf.ts';
import { type Match, valuesOf } from './match.ts';
import type { Section } from './section.ts';
import { statusesByTime } from './status-by-time.ts';
import { guessBoard, guessConsent, guessDocument, guessStatus } from './vocabulary.ts';

/** The value maps for the spellings in the sample, and the coded statuses for a person to check. */
export function spellingsOf(
  reservation: ReadonlyMap<string, Match>,
  { rooms, guests }: Sections,
  leaves: readonly Leaf[],
): { readonly values: JsonObject; readonly unknown: readonly string[] } {
  const values: JsonObject = {};
  const status = reservation.get('status');
  const spelt = (sections: readonly Section[], field: string) =>
    distinct(sections.flatMap(({ matches }) => matches.get(field) ?? []));
  const codes = status === undefined ? [] : codedStatuses(status, leaves, reservation);
  const add = (
    name: string,
    found: readonly string[],
    guess: (spelling: string) => string | undefined,
    known: (spelling: string) => boolean,
  ) => {
    const map: { [canonical: string]: string[] } = {};
    for (const spelling of found) {
      if (known(spelling)) continue;
      const canonical = guess(spelling);
      if (canonical !== undefined) map[canonical] = [...(map[canonical] ?? []), spelling];
    }
    if (Object.keys(map).length > 0) values[name] = map;
  };
  add(
    'status',
    distinct(status === undefined ? [] : [status]),
    (spelling) => guessStatus(spelling) ?? codes.find((code) => code.spelling === spelling)?.guess,
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
  return {
    values,
    unknown: codes.map(
      ({ spelling, count, guess }) => `${spelling} (${count} ${count === 1 ? 'record' : 'records'}, taken as ${guess})`,
    ),
  };
}

const englishDocument = /^(?:passport|driv(?:er|ing)|identity|id[ _-]?card|national[ _-]?id|visa|residence)/i;

interface CodedStatus {
  readonly spelling: string;
  readonly count: number;
  readonly guess: Status;
}

/**
 * Unknown codes with their count and the best guess: cancelled if exactly its records have a cancellation time, else by the times of
 * the stays, else confirmed for the most common one if no other spelling means confirmed.
 */
function codedStatuses(status: Match, leaves: readonly Leaf[], reservation: ReadonlyMap<string, Match>): CodedStatus[] {
  const values = valuesOf(status).map((value) => (value === undefined ? undefined : plain(value)));
  const counts = new Map<string, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  const codes = [...counts].filter(([spelling]) => guessStatus(spelling) === undefined);
  const isCancelled = (spelling: string) =>
    leaves.some(
      (leaf) =>
        leaf.kind === 'value' &&
        leaf.own.some((word) => /^cancel/.test(word)) &&
        values.every((value, index) => (value === spelling) === (leaf.values[index] !== undefined)),
    );
  const cancelled = codes.find(([spelling]) => isCancelled(spelling))?.[0];
  const byTime = statusesByTime(values, guessStatus, reservation);
  const isConfirmedKnown = [...counts.keys()].some((spelling) => guessStatus(spelling) === 'confirmed');
  const [common] = codes.filter(([spelling]) => spelling !== cancelled).sort(([, a], [, b]) => b - a);
  return codes.map(([spelling, count]) => ({
    spelling,
    count,
    guess:
      spelling === cancelled
        ? 'cancelled'
        : (byTime.get(spelling) ?? (spelling === common?.[0] && !isConfirmedKnown ? 'confirmed' : 'other')),
  }));
}

function distinct(matches: readonly Match[]): string[] {
  return [
    ...new Set(
      matches.flatMap((match) => valuesOf(match).flatMap((value) => (value === undefined ? [] : [plain(value)]))),
    ),
  ];
}

/** A code that only the partner can explain. */
export const hasUnknownStatus = (status: Match): boolean =>
  distinct([status]).some((spelling) => guessStatus(spelling) === undefined);

/** A no-show as the text of another field than the status, such as a reason; a cancellation or a step of the stay that only another status states. */
export function statedElsewhere(status: Match, leaves: readonly Leaf[]): Json[] {
  const meanings = valuesOf(status).map((value) => guessStatus(plain(value ?? null)));
  const others = leaves.filter((leaf) => leaf !== status.leaf && leaf.kind === 'value' && leaf.depth <= 1);
  return (['no_show', 'cancelled', 'checked_out', 'checked_in'] as const).flatMap((meaning) => {
    const [found] = others.flatMap((leaf) => {
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
    return found ?? [];
  });
}
