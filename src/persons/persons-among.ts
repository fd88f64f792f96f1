import { isRepeated } from './repeated.ts';
import { type Mention, samePerson } from './same-person.ts';
import { sharedAmong } from './shared.ts';

/** A mention and the list in which it stands, such as the id of its reservation. */
export interface Listed {
  readonly guest: Mention;
  readonly list: string;
}

/**
 * Groups mentions by person. Two elements of one list are two persons, unless one is repeated, and different persons are never in one group, not even through a third
 * mention that could be either. The result does not depend on the order of the mentions.
 */
export function personsAmong<Of extends Listed>(mentions: readonly Of[]): Of[][] {
  const isShared = sharedAmong(mentions.map(({ guest }) => guest));
  const decide = (a: Of, b: Of) => samePerson(a.guest, b.guest, { isShared }).is;
  const ordered = mentions.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  const groups: Of[][] = ordered.map((one) => [one]);
  const mayJoin = (some: readonly Of[], others: readonly Of[]) =>
    some.every((a) =>
      others.every((b) => (a.list !== b.list || isRepeated(a.guest, b.guest)) && decide(a, b) !== 'different'),
    );
  for (let isJoined = true; isJoined; ) {
    isJoined = false;
    for (const [i, some] of groups.entries()) {
      const others = groups
        .slice(i + 1)
        .filter((group) => group.some((b) => some.some((a) => decide(a, b) === 'same')));
      const other = others.find((group) => mayJoin(some, group));
      if (other === undefined) continue;
      some.push(...other);
      groups.splice(groups.indexOf(other), 1);
      isJoined = true;
      break;
    }
  }
  return groups;
}

const textOf = ({ guest, list }: Listed): string => JSON.stringify([list, guest]);
