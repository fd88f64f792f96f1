import { checkAccidents } from './accidents.ts';
import { checkAccount } from './account.ts';
import { checkErasures } from './erasures.ts';
import type { History, Violation } from './history.ts';
import { checkNewest } from './newest.ts';
import { checkPersons } from './persons.ts';
import { checkWrites } from './writes.ts';

/**
 * Decides whether a run kept its promises. Pure; its time grows linearly with the history.
 *
 *   accepted = delivered + superseded + unchanged + dropped + dead + pending      account.ts
 *   versions 1..n in order per record and destination; one key, one body          writes.ts
 *   the final state is the newest statement by (effective time, sequence)         newest.ts
 *   nothing after an erasure                                                      erasures.ts
 *   no value that no partner said                                                 newest.ts, writes.ts
 *   no accident of a partner reaches a record or a destination                   accidents.ts
 *   nobody has a field or a consent that was not stated about them                persons.ts
 */
export function checkHistory(history: History): Violation[] {
  return [
    ...checkAccount(history),
    ...checkWrites(history),
    ...checkNewest(history),
    ...checkErasures(history),
    ...checkPersons(history),
    ...checkAccidents(history),
  ];
}
