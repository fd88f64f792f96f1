import { foldSpelling, readStatus } from '../canonical/status.ts';
import type { Json, JsonObject } from '../terms.ts';
import { plain } from './kinds.ts';
import { type Leaf, present } from './leaves.ts';
import { type Match, valuesOf } from './match.ts';
import { guessBoard, guessDocument, guessStatus } from './vocabulary.ts';

/** The value maps that a sample's spellings call for, and the spellings that nobody understood. */
export function spellingsOf(
  status: Match | undefined,
  boards: readonly Match[],
  documents: readonly Match[],
): { readonly values: JsonObject; readonly unknown: readonly string[] } {
  const values: JsonObject = {};
  const unknown: string[] = [];
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
      else if (name === 'status') unknown.push(spelling);
    }
    if (Object.keys(map).length > 0) values[name] = map;
  };
  add(
    'status',
    distinct(status === undefined ? [] : [status]),
    guessStatus,
    (spelling) => readStatus(spelling) !== undefined,
  );
  add('board', distinct(boards), guessBoard, (spelling) => guessBoard(spelling) === spelling);
  // Two letters are as likely a code that the partner wants to see again.
  add(
    'document_type',
    distinct(documents),
    guessDocument,
    (spelling) => spelling.length <= 3 || guessDocument(spelling) === spelling,
  );
  return { values, unknown };
}

function distinct(matches: readonly Match[]): string[] {
  return [
    ...new Set(
      matches.flatMap((match) => valuesOf(match).flatMap((value) => (value === undefined ? [] : [plain(value)]))),
    ),
  ];
}

/** A no-show told beside the status: a reason, or a flag. */
export function noShowBeside(status: Match, leaves: readonly Leaf[]): Json | undefined {
  const told = present(status.leaf).some((value) => guessStatus(plain(value)) === 'no_show');
  if (told) return undefined;
  for (const leaf of leaves) {
    if (leaf === status.leaf || leaf.kind !== 'value' || leaf.depth > 1) continue;
    const flag = leaf.own.join(' ').endsWith('no show') && present(leaf).includes(true);
    const reason = present(leaf).find((value) => typeof value === 'string' && foldSpelling(value) === 'noshow');
    if (flag) return { const: 'no_show', when: { [leaf.path]: true } };
    if (reason !== undefined) return { const: 'no_show', when: { [leaf.path]: reason } };
  }
  return undefined;
}
