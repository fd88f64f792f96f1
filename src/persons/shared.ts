import { type Kind, kindOf, listedNames } from './names.ts';
import { isRepeated } from './repeated.ts';
import { type Between, type Mention, samePerson } from './same-person.ts';

/** More persons at one address are not compared: it is shared long before. */
const mostCompared = 50;

/**
 * Which addresses, numbers and full names (`listedNames`) different persons have, among these mentions. Such an address identifies nobody
 * by itself: a travel agent types in the same one for every guest, and a family has one phone. Father and son may have one name. Two mentions
 * of one of `lists` are two persons, unless one is repeated. A company at the address of a person means that somebody without a name
 * may be either.
 */
export function sharedAmong(
  mentions: Iterable<Mention>,
  between: Between = {},
  lists: readonly ReadonlySet<Mention>[] = [],
): (address: string, kind?: Kind) => boolean {
  const having = new Map<string, Mention[]>();
  for (const mention of mentions) {
    for (const address of [...addressesOf(mention), ...listedNames(mention)]) {
      const others = having.get(address);
      if (others === undefined) having.set(address, [mention]);
      else if (others.length < mostCompared) others.push(mention);
    }
  }
  const shared = new Map<string, boolean>();
  return (address, kind) => {
    const key = `${kind} ${address}`;
    let isShared = shared.get(key);
    if (isShared === undefined) {
      const ofKind = having.get(address)?.filter((one) => kind === undefined || (kindOf(one) ?? kind) === kind);
      isShared = hasDifferent(ofKind ?? [], between, lists);
      shared.set(key, isShared);
    }
    return isShared;
  };
}

/** Two last names that no compatible name explains are two persons too: Weber, Ana and Weber, Rui. */
const hasDifferent = (mentions: readonly Mention[], between: Between, lists: readonly ReadonlySet<Mention>[]) =>
  mentions.some((one, i) =>
    mentions.slice(i + 1).some((other) => {
      const { is, because } = samePerson(one, other, between);
      const areListed =
        one !== other && lists.some((list) => list.has(one) && list.has(other)) && !isRepeated(one, other);
      return is === 'different' || because === 'other_last_name' || areListed;
    }),
  );

export const hasAddress = (mention: Mention, address: string): boolean => addressesOf(mention).includes(address);

const addressesOf = ({ email, phone }: Mention): string[] =>
  [email, phone].filter((address) => address !== undefined && address !== '') as string[];
