import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Scope, Source } from '../../src/core/reconcile/content.ts';
import { merge } from '../../src/core/reconcile/merge.ts';
import type { Json } from '../../src/terms.ts';
import { accountsAfter, type Told } from './told.ts';

/** Every order in which up to five statements of two or three sources may arrive, with the lists and scopes that partners have. */

function* orders<Of>(all: readonly Of[]): Generator<readonly Of[]> {
  if (all.length < 2) yield all;
  for (const [n, first] of all.entries()) for (const rest of orders(all.toSpliced(n, 1))) yield [first, ...rest];
}

const end = (all: readonly Told[]) => {
  const { draft, consents } = merge(accountsAfter(all));
  return sorted({ draft, consents: JSON.parse(JSON.stringify(consents.map((one) => one ?? null))) } as Json);
};

const sorted = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one as Json)]),
  );
};

const whole: Scope = { fields: 'full', lists: 'full' };
const scopes: readonly Scope[] = [
  whole,
  { fields: 'partial', lists: 'full' },
  { fields: 'partial', lists: 'partial' },
  { fields: 'full', lists: 'partial' },
];

const optional = <Of>(arbitrary: fc.Arbitrary<Of>) => fc.option(arbitrary, { nil: undefined });
const defined = (object: object) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as { [field: string]: Json };

const room = fc.record({
  key: optional(fc.constantFrom('1', '2')),
  type: optional(fc.constantFrom('DBL', 'SUI')),
  start: optional(fc.constantFrom('2027-05-01', '2027-05-02')),
  board: optional(fc.constantFrom('BB', null)),
  adults: optional(fc.constantFrom(1, 2)),
});
const guest = fc.record({
  first_name: fc.constantFrom('Ana', 'Bo', 'Cy'),
  last_name: fc.constant('Reis'),
  email: optional(fc.constantFrom('a@mail.example', 'b@mail.example', null)),
  marketing_consent: optional(fc.constantFrom(true, false, null)),
});
const charge = fc.record({
  key: optional(fc.constantFrom('1', '2')),
  code: optional(fc.constantFrom('FB', 'SPA')),
  amount: optional(fc.constantFrom('1', '2')),
});

const told = (source: Source, scope: Scope) =>
  fc
    .record({
      channel: optional(fc.constantFrom('BDC', 'WEB', null)),
      rooms: optional(fc.array(room, { maxLength: 2 })),
      guests: optional(fc.uniqueArray(guest, { maxLength: 2, selector: ({ first_name }) => first_name })),
      charges: optional(fc.array(charge, { maxLength: 2 })),
      unread: fc.boolean(),
      isPerson: fc.boolean(),
    })
    .map(({ channel, rooms, guests, charges, unread, isPerson }): Omit<Told, 'at'> => {
      const item = ({
        key,
        type,
        start,
        ...values
      }: {
        key?: string | undefined;
        type?: string | undefined;
        start?: string | undefined;
      }) => ({
        values: defined({ room_type: type, start_date: start, ...values }),
        ...(key && { key }),
      });
      if (isPerson && source === 'push' && guests?.length) {
        const own = guests.map((values) => ({
          values: defined(values),
          as: { first_name: values.first_name } as never,
          isOwn: true as const,
        }));
        return {
          source,
          scope: { fields: 'partial', lists: 'partial' },
          isPerson: true,
          content: { values: {}, lists: { guests: own } },
        };
      }
      return {
        source,
        scope,
        content: {
          values: defined({ id: 'R1', ...(!unread && { channel }) }),
          ...(unread && { unread: ['channel'] }),
          lists: {
            ...(rooms && { rooms: rooms.map(item) }),
            ...(guests && { guests: guests.map((values) => ({ values: defined(values) })) }),
            ...(charges && { charges: charges.map(item) }),
          },
        },
      };
    });

const story = fc
  .constantFrom(...scopes)
  .chain((push) =>
    fc.array(fc.oneof(told('pull', whole), told('push', push), told('single', { fields: 'partial', lists: 'full' })), {
      minLength: 2,
      maxLength: 5,
    }),
  )
  .map((all) => all.map((one, n): Told => ({ ...one, at: [n + 1, n + 1] })));

test('property: every order of arrival, doubled or not, ends in the same record, consent and order of elements', () => {
  fc.assert(
    fc.property(story, fc.boolean(), (statements, isDoubled) => {
      const expected = end(statements);
      for (const order of orders(statements))
        assert.deepEqual(end(isDoubled ? [...order, ...order.toReversed()] : order), expected);
    }),
    { numRuns: 250, endOnFailure: true },
  );
});

const consent = (source: Source, at: number, marketing_consent: boolean): Told => ({
  source,
  at: [at, at],
  scope: { fields: 'partial', lists: 'full' },
  content: {
    values: { id: 'R1' },
    lists: { guests: [{ values: { first_name: 'Ana', last_name: 'Reis', marketing_consent } }] },
  },
});

test('a no between two yes of another source stands in every order of arrival', () => {
  const all = [
    consent('push', 1000, true),
    consent('push', 3000, false),
    consent('push', 4000, true),
    consent('push', 5000, true),
    consent('pull', 4500, false),
  ];
  for (const order of orders(all))
    assert.equal(merge(accountsAfter(order)).consents[0]?.value, false, order.map(({ at }) => at[0]).join());
});
