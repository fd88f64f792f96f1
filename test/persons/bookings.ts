import type { Guest } from '../../src/core/canonical/reservation.ts';
import { fullNameKey } from '../../src/core/persons/names.ts';
import type { Dice } from '../simulation/random.ts';
import {
  clearWay,
  type Household,
  type Mention,
  mistyped,
  type Person,
  type Population,
  type Way,
  written,
} from './population.ts';

/** A booking of a household: whom the partner names, with what it knows this time. */
export interface Booking {
  readonly id: string;
  readonly mentions: readonly Mention[];
}

/** How often a partner knows a field, and how often it is typed in wrongly. */
const usual = {
  email: 0.7,
  phone: 0.55,
  date_of_birth: 0.25,
  document: 0.15,
  /** Members of the partner's own programme have an id. */
  member: 0.25,
  alias: 0.15,
  typingMistake: 0.05,
  changedSurname: 0.01,
} as const;

const usualWays: readonly Way[] = [
  ...Array.from({ length: 70 }, () => 'exact' as const),
  ...Array.from({ length: 10 }, () => 'upper' as const),
  ...Array.from({ length: 8 }, () => 'plain' as const),
  ...Array.from({ length: 3 }, () => 'swapped' as const),
  ...Array.from({ length: 3 }, () => 'title' as const),
  ...Array.from({ length: 2 }, () => 'form' as const),
  ...Array.from({ length: 2 }, () => 'second_name' as const),
  ...Array.from({ length: 2 }, () => 'initial' as const),
];

/** Several bookings of each household, in the order of time. */
export function bookingsOf(population: Population, kinds: readonly Household[]): Booking[] {
  const { dice } = population;
  const bookings: { readonly booking: Booking; readonly at: number }[] = [];
  for (const kind of kinds) {
    const people = population.household(kind);
    const habits = new Map(people.map((person) => [person, habitsOf(dice)]));
    const first = bookings.length;
    for (let count = dice.whole(2, 5); count > 0; count--) {
      const [lead = people[0] as Person, ...others] = people.toSorted(() => dice.next() - 0.5);
      const together = kind === 'agency' || kind === 'group' ? [] : others.filter(() => dice.happens(0.5));
      const id = `b${bookings.length + 1}`;
      const isAlias = dice.happens(usual.alias);
      const mentions = [lead, ...together].map((person) =>
        mentionOf(
          person,
          people,
          habits.get(person) as Habits,
          isAlias ? `${id}@guest.booking.example` : undefined,
          dice,
        ),
      );
      bookings.push({ booking: { id, mentions }, at: dice.next() });
    }
    // Later bookings of a household have the later habits.
    const times = bookings.slice(first).map(({ at }) => at);
    for (const [index, at] of times.toSorted((a, b) => a - b).entries()) {
      bookings[first + index] = { booking: (bookings[first + index] as { booking: Booking }).booking, at };
    }
  }
  return bookings.toSorted((a, b) => a.at - b.at).map(({ booking }) => booking);
}

interface Habits {
  readonly isMember: boolean;
  /** The name after this many mentions. */
  readonly married: { readonly after: number; readonly name: string } | undefined;
  mentions: number;
}

const habitsOf = (dice: Dice): Habits => ({
  isMember: dice.happens(usual.member),
  married: dice.happens(usual.changedSurname)
    ? { after: dice.whole(1, 2), name: dice.pick(['Sandoval', 'Whitfield', 'Lagerkvist']) }
    : undefined,
  mentions: 0,
});

function mentionOf(
  person: Person,
  others: readonly Person[],
  habits: Habits,
  alias: string | undefined,
  dice: Dice,
): Mention {
  habits.mentions += 1;
  const isMarried = habits.married !== undefined && habits.mentions > habits.married.after;
  const whole: Guest = { ...person.guest, ...(isMarried && { last_name: habits.married?.name ?? '' }) };
  const { guest_id, email, phone, date_of_birth, document_type, document_number, marketing_consent, extra } = whole;
  const mistake = dice.happens(usual.typingMistake)
    ? dice.pick(['first', 'last', 'last', 'first', 'email', 'phone', 'birth'] as const)
    : undefined;
  const wrong = (field: typeof mistake, value: string) => (mistake === field ? mistakenIn(value, dice) : value);
  const way = mistake === 'first' ? 'first_typo' : mistake === 'last' ? 'typo' : dice.pick(usualWays);
  const statesBirth = person.statesBirth || dice.happens(usual.date_of_birth);
  const guest: Guest = {
    ...written(whole, clearWay(way, person, others), dice),
    ...(habits.isMember && guest_id && { guest_id }),
    ...(alias
      ? { email: alias, email_proxy: true as const }
      : email && dice.happens(usual.email) && { email: wrong('email', email) }),
    ...(phone && dice.happens(usual.phone) && { phone: wrong('phone', phone) }),
    ...(date_of_birth &&
      statesBirth && { date_of_birth: person.statesBirth ? date_of_birth : wrong('birth', date_of_birth) }),
    ...(document_number && dice.happens(usual.document) && { document_type, document_number }),
    ...(marketing_consent !== undefined && dice.happens(0.3) && { marketing_consent }),
    ...(dice.happens(0.3) && { extra }),
  };
  return { person, guest };
}

/** Another digit, or another letter of an address. */
function mistakenIn(value: string, dice: Dice): string {
  if (value.includes('@')) return mistyped(value.split('@')[0] ?? '', dice).concat('.x@', value.split('@')[1] ?? '');
  const digit = String(dice.whole(1, 9));
  return `${value.slice(0, -1)}${value.endsWith(digit) ? (Number(digit) % 9) + 1 : digit}`;
}

/** What can show that two mentions are one person's: an id, an address that nobody else has, or the name with the birth date. */
function linksOf({ person, guest }: Mention): string[] {
  const { guest_id, email, email_proxy: isAlias, phone, date_of_birth: born } = guest;
  const name = fullNameKey(guest);
  return [
    ...(guest_id ? [`id ${guest_id}`] : []),
    ...[isAlias ? undefined : email, phone].flatMap((one) => (one && !person.shared.has(one) ? [`at ${one}`] : [])),
    ...(born && name ? [`born ${born} ${name}`] : []),
  ];
}

/** How many separate persons these mentions of one person look like, for somebody who follows every link. */
export function groupsOf(mentions: readonly Mention[]): number {
  const groups: Set<string>[] = [];
  for (const mention of mentions) {
    const links = new Set(linksOf(mention));
    const near = groups.filter((group) => !group.isDisjointFrom(links));
    for (const group of near) {
      groups.splice(groups.indexOf(group), 1);
      for (const link of group) links.add(link);
    }
    groups.push(links);
  }
  return groups.length;
}
