import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import type { Claims } from '../../src/core/reconcile/claim.ts';
import { type Content, contentOf, type Source } from '../../src/core/reconcile/content.ts';
import { merge } from '../../src/core/reconcile/merge.ts';
import { accountsAfter, accountsOf, withTold } from '../reconcile/told.ts';
import type { Dice } from '../simulation/random.ts';
import { clearWay, type Mention, type Person, Population, SaidAbout, type Way, ways, written } from './population.ts';

/** The guests of one booking in messages of three sources, written in every way, in every order of arrival. */

interface Message {
  readonly source: Source;
  readonly at: number;
  readonly mentions: readonly Mention[];
}

const sources = ['pull', 'single', 'push'] as const;
const optional = ['guest_id', 'email', 'phone', 'date_of_birth', 'nationality', 'marketing_consent', 'extra'] as const;

interface Partner {
  readonly hasIds: boolean;
  /** Any two mentions of a person are surely the same: by the id, or by the full name. Between others a third one may be a link. */
  readonly isSure: boolean;
}

/** A person in one message: a name in some way, and some of the other fields. */
function mention(person: Person, others: readonly Person[], { hasIds, isSure }: Partner, dice: Dice): Mention {
  const { guest, statesBirth } = person;
  const some = optional.filter((field) =>
    field === 'guest_id' ? hasIds && (isSure || dice.happens(0.5)) : dice.happens(0.5),
  );
  const fields = Object.fromEntries(
    some.flatMap((field) => (guest[field] === undefined ? [] : [[field, guest[field]]])),
  );
  const document = dice.happens(0.4) && {
    ...(guest.document_type && { document_type: guest.document_type }),
    ...(guest.document_number && { document_number: guest.document_number }),
  };
  const birth = statesBirth && { date_of_birth: guest.date_of_birth };
  const way: Way = dice.pick([
    ...ways.equal,
    ...ways.equal,
    ...(isSure && !hasIds ? [] : [...ways.compatible, 'first_typo' as const]),
  ]);
  return {
    person,
    guest: { ...written(guest, clearWay(way, person, others), dice), ...fields, ...document, ...birth },
  };
}

const haveOneName = (a: Guest, b: Guest): boolean => a.first_name === b.first_name && a.last_name === b.last_name;

/**
 * The people of a booking change from message to message. A source forgets a guest who left: if all is sure, nobody comes back, because
 * what was said before would count in one order of arrival and not in another.
 */
function storyOf(seed: number, isSure: boolean): Message[] {
  const population = new Population(seed);
  const { dice } = population;
  const first = population.household();
  // Nothing distinguishes two strangers of one name in one booking.
  const second = population.household().filter(({ guest }) => !first.some((one) => haveOneName(one.guest, guest)));
  const people = dice.happens(0.7) ? first : [...first, ...second];
  const hasIds = dice.happens(0.3);
  const left = new Set<string>();
  return Array.from({ length: 6 }, (_, at): Message => {
    const source = dice.pick(sources);
    const named = people
      .filter(({ label }) => dice.happens(0.6) && (!isSure || !left.has(`${source} ${label}`)))
      .toSorted(() => dice.next() - 0.5);
    for (const person of people) if (!named.includes(person)) left.add(`${source} ${person.label}`);
    const mentions = named.map((person) => mention(person, people, { hasIds, isSure }, dice));
    return { source, at: at + 1, mentions };
  });
}

function take(claims: Claims, { source, at, mentions }: Message): Claims {
  const content = contentOf({ guests: mentions.map(({ guest }) => guest) });
  const fields = source === 'pull' ? 'full' : 'partial';
  return withTold(claims, { source, at: [at, at], content, scope: { fields, lists: 'full' } });
}

const guestsOf = (claims: Claims) => (merge(accountsOf(claims)).draft.guests ?? []) as unknown as Guest[];

/** A story with some of its messages, so that a failure shrinks to the fewest. */
const story = ({ isSure }: { isSure: boolean }) =>
  fc
    .tuple(fc.integer(), fc.subarray([0, 1, 2, 3, 4, 5], { minLength: 1 }))
    .map(([seed, kept]) => kept.map((index) => storyOf(seed, isSure)[index] as Message));
const order = fc.array(fc.nat(), { minLength: 6, maxLength: 6 });
const shuffled = (messages: readonly Message[], places: readonly number[]): Message[] =>
  messages.toSorted((a, b) => (places[a.at - 1] ?? 0) - (places[b.at - 1] ?? 0));

test('property: a guest of the merged list has no field that was not stated about this person', () => {
  fc.assert(
    fc.property(story({ isSure: false }), order, (messages, places) => {
      const said = new SaidAbout();
      let claims: Claims = {};
      for (const [index, message] of shuffled(messages, places).entries()) {
        for (const one of message.mentions) said.add(one);
        claims = take(claims, message);
        const newest = shuffled(messages, places)
          .slice(0, index + 1)
          .reduce((last, one) => (one.at > last.at ? one : last));
        const guests = guestsOf(claims);
        assert.equal(guests.length, newest.mentions.length, 'two elements of one list are two persons');
        for (const [place, { person }] of newest.mentions.entries()) {
          assert.ok(
            said.whose(guests[place] as Guest).has(person.label),
            `${person.label} at ${place}: ${JSON.stringify(guests[place])}`,
          );
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

test('property: the merged list is the same for every order of arrival', () => {
  fc.assert(
    fc.property(story({ isSure: true }), order, (messages, places) => {
      const end = (all: readonly Message[]) => guestsOf(all.reduce(take, {} as Claims));
      assert.deepEqual(end(shuffled(messages, places)), end(messages));
    }),
    { numRuns: 1_000 },
  );
});

test('property: a person who is written differently stays the same person', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const population = new Population(seed);
      const { dice } = population;
      const people = population.household();
      const pulled = people.map(({ guest }) => guest);
      const pushed = people.map(({ guest, shared, statesBirth }) => {
        const { email = '', phone = '' } = guest;
        // What only this person has, beside a name that may be written in any way.
        const own = dice.pick([
          { guest_id: guest.guest_id },
          ...(email === '' || shared.has(email) ? [] : [{ email }]),
          ...(phone === '' || shared.has(phone) ? [] : [{ phone }]),
        ]);
        const [way, by] = dice.happens(0.5)
          ? [dice.pick(ways.equal), {}]
          : [dice.pick([...ways.compatible, 'none' as const]), own];
        return { ...written(guest, way, dice), ...by, ...(statesBirth && { date_of_birth: guest.date_of_birth }) };
      });
      const messages = [pulled, pushed.toReversed()].map((guests) => contentOf({ guests: guests as Guest[] }));
      const accounts = accountsAfter([
        { source: 'pull', content: messages[0] as Content, at: [1, 1], scope: { fields: 'full', lists: 'full' } },
        { source: 'push', content: messages[1] as Content, at: [2, 2], scope: { fields: 'partial', lists: 'full' } },
      ]);
      const merged = (merge(accounts).draft.guests ?? []) as unknown as Guest[];
      const where = JSON.stringify(pushed.toReversed());
      const loyalty = (guests: readonly Guest[]) => guests.map(({ extra }) => extra?.loyalty_number);
      assert.deepEqual(loyalty(merged), loyalty(pulled.toReversed()), where);
    }),
    { numRuns: 1_000 },
  );
});

test('a nameless mention between two relatives passes nothing from one to the other', () => {
  const joao = { first_name: 'João', last_name: 'Costa', document_number: 'N1', marketing_consent: true };
  const maria = { first_name: 'Maria', last_name: 'Costa', phone: '+351911111111' };
  const scope = { fields: 'partial', lists: 'full' } as const;
  const said = (source: Source, guest: Guest, at: number) =>
    ({ source, content: contentOf({ guests: [guest] }), at: [at, at], scope }) as const;
  const all = [said('pull', joao, 1), said('single', { phone: maria.phone }, 2), said('push', maria, 3)];
  assert.deepEqual(merge(accountsAfter(all)).draft.guests, [maria]);
});

/** The guests after a list and an event. */
const guestsAfter = (pulled: Guest[], pushed: Guest[]) => {
  const scope = { fields: 'partial', lists: 'full' } as const;
  const said = (source: Source, guests: Guest[], at: number) =>
    ({ source, content: contentOf({ guests }), at: [at, at], scope }) as const;
  return merge(accountsAfter([said('pull', pulled, 1), said('push', pushed, 2)])).draft.guests;
};

test('a name of two guests of a booking means neither of them', () => {
  const named = { first_name: 'João', last_name: 'Costa' };
  const both = [
    { ...named, date_of_birth: '1950-01-02', document_number: 'N1' },
    { ...named, date_of_birth: '1980-01-02', document_number: 'N2' },
  ];
  const younger = { ...named, date_of_birth: '1980-01-02' };
  assert.deepEqual(guestsAfter(both, [named]), [named]);
  assert.deepEqual(guestsAfter(both, [younger]), [both[1]]);
});

test('father and son of one name are told apart by Jr', () => {
  const father = { first_name: 'John', last_name: 'Smith', email: 'smith@home.example' };
  const son = { ...father, last_name: 'Smith Jr' };
  const pulled = [
    { ...father, document_number: 'A1', marketing_consent: true },
    { ...son, document_number: 'B2' },
  ];
  const after = (...guests: Guest[]) => guestsAfter(pulled, guests);
  assert.deepEqual(after(son, father), pulled.toReversed());
  assert.deepEqual(after(son), [pulled[1]]);
});

test('namesakes of one list who have one address are told apart by what is their own', () => {
  const named = { first_name: 'João', last_name: 'Melo', email: 'melo@home.example' };
  const older = { ...named, phone: '+351911111111', document_number: 'N1', marketing_consent: true };
  const younger = { ...named, phone: '+351922222222' };
  const after = (...guests: Guest[]) => guestsAfter([older, younger], guests);
  assert.deepEqual(after(younger), [younger]);
  assert.deepEqual(after(younger, { ...named, phone: older.phone }), [younger, older]);
  assert.deepEqual(after(named), [named], 'it may be either');
  assert.deepEqual(after(named, named), [older, younger], 'a list of as many, in which nothing says otherwise');
});
