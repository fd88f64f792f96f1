import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/terms.ts';

/** Random stories: what a partner, its guests and a marketing platform say about two bookings and two persons. */

export interface Told {
  readonly kind: 'list' | 'single' | 'reservation.updated' | 'guest.updated' | 'guest.feedback';
  /** In the order in which things happened. */
  readonly place: number;
  /** Of bookings, or of one guest. */
  readonly rows: readonly JsonObject[];
  /** Nearly all bookings of the partner changed like this: what it changes is held. */
  readonly isAccident: boolean;
}

interface Story {
  readonly told: readonly Told[];
  /** The places in their order of arrival; some come twice. */
  readonly arrivals: readonly number[];
  /** Those in time that a partner or platform can send. */
  readonly inTime: readonly number[];
}

const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined, freq: 3 });
const defined = (row: { readonly [field: string]: Json | undefined }): JsonObject =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as JsonObject;

const phone = { phone: maybe(fc.constantFrom('p-1', 'p-2')) };
const details = {
  home: maybe(fc.constantFrom('DE', 'FR')),
  nationality: maybe(fc.constantFrom('PT', 'ES')),
  ...phone,
  document_type: maybe(fc.constantFrom('ID', null)),
};
const guestOf = (who: string): JsonObject => ({ guest_id: `g-${who}`, email: `g-${who}@mail.example` });
const named = (who: string): JsonObject => ({ ...guestOf(who), first_name: who, last_name: 'Reis' });
const consent = fc.record({ says: fc.boolean(), states: fc.boolean() });

const status = fc.constantFrom('confirmed', 'confirmed', 'cancelled');
const values = {
  channel: maybe(fc.constantFrom('WEB', 'TEL')),
  agent: maybe(fc.constantFrom('BDC', 'EXP')),
  total_amount: maybe(fc.constantFrom(100, 200)),
};

interface Guest {
  readonly one: { readonly [field: string]: Json | undefined };
  readonly of: string;
  readonly consent?: boolean;
}

/** Judged stories are about one booking and its guest, and about few fields, so that the same value often comes again. */
const ofStory = (isJudged: boolean) =>
  isJudged
    ? { ids: fc.constant('b-1'), who: fc.constant('ana'), details: phone, values: { channel: values.channel } }
    : { ids: fc.constantFrom('b-1', 'b-2'), who: fc.constantFrom('ana', 'bob'), details, values };

/** A list states everybody's consent or nobody's. */
function row({ isJudged, listsConsent, kind }: { isJudged: boolean; listsConsent: boolean; kind: Told['kind'] }) {
  const { ids, who, details, values } = ofStory(isJudged);
  const one = fc.record({ of: who, more: fc.record(details), consent });
  const several = fc.uniqueArray(one, { minLength: 1, maxLength: isJudged ? 1 : 2, selector: ({ of }) => of });
  const guests = several.map((all) =>
    all.map(({ of, more, consent: { says, states } }): Guest => {
      const isStated = kind === 'list' ? listsConsent : states;
      return { one: more, of, ...(isStated && { consent: says }) };
    }),
  );
  return fc
    .record({
      id: ids,
      status,
      ...values,
      guests: kind === 'list' ? guests : maybe(guests),
      isThin: kind === 'reservation.updated' ? fc.boolean() : fc.constant(false),
    })
    .map(({ guests, isThin, status, id, ...one }) =>
      defined({
        id,
        ...(!isThin && { ...stay(isJudged), status }),
        currency: 'EUR',
        ...one,
        guests: guests?.map(({ one, of, consent }) => defined({ ...named(of), ...one, marketing_consent: consent })),
      }),
    );
}

/** Stays that began long ago are not among the bookings by whose number the guard judges single events. */
const stay = (isJudged: boolean): JsonObject => {
  const begun = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
  return { check_in: isJudged ? begun : '2099-12-01', check_out: '2099-12-04' };
};

function told(place: number, about: { isJudged: boolean; listsConsent: boolean }): fc.Arbitrary<Told> {
  const { who, details } = ofStory(about.isJudged);
  const rowsOf = (kind: 'list' | 'single' | 'reservation.updated') =>
    fc
      .uniqueArray(row({ ...about, kind }), {
        minLength: 1,
        maxLength: kind === 'list' ? 2 : 1,
        selector: ({ id }) => String(id),
      })
      .map((rows) => ({ kind, rows }));
  const ownEvent = fc.tuple(who, fc.record(details), consent).map(([of, one, { says, states }]) => ({
    kind: 'guest.updated' as const,
    rows: [defined({ ...guestOf(of), ...one, ...(states && !about.isJudged && { marketing_consent: says }) })],
  }));
  const feedback = who.map((of) => ({
    kind: 'guest.feedback' as const,
    rows: [{ destination: 'crm', email: `g-${of}@mail.example`, says: 'unsubscribed' }],
  }));
  const all = [
    rowsOf('list'),
    rowsOf('single'),
    rowsOf('reservation.updated'),
    rowsOf('reservation.updated'),
    ownEvent,
  ];
  return fc
    .tuple(fc.oneof(...all, ...(about.isJudged ? [] : [feedback])), about.isJudged ? fc.boolean() : fc.constant(false))
    .map(([one, isAccident]) => ({ ...one, place, isAccident: isAccident && one.kind !== 'guest.updated' }));
}

const story = (isJudged: boolean): fc.Arbitrary<Story> =>
  fc.tuple(fc.integer({ min: 2, max: 7 }), fc.boolean()).chain(([length, listsConsent]) =>
    fc
      .record({
        told: fc.tuple(...Array.from({ length }, (_, place) => told(place, { isJudged, listsConsent }))),
        late: fc.array(fc.nat(9), { minLength: length, maxLength: length }),
        again: fc.array(maybe(fc.nat(9)), { minLength: length, maxLength: length }),
      })
      .map(({ told, late, again }) => {
        const turns = [...late, ...again].flatMap((turn, n) =>
          turn === undefined ? [] : [{ turn, place: n % length }],
        );
        const arrivals = turns.toSorted((a, b) => a.turn - b.turn).map(({ place }) => place);
        return { told, arrivals: causal(told, arrivals), inTime: causal(told, [...told.keys()]) };
      }),
  );

/** A platform can only report a person whom it was sent: its report comes after the person's own event, or a booking that brings the person. */
function causal(told: readonly Told[], arrivals: readonly number[]): readonly number[] {
  const known = new Set<unknown>();
  let waiting: readonly number[] = [];
  return arrivals.flatMap((place) => {
    const { kind, rows } = told[place] as Told;
    if (kind === 'guest.feedback' && !known.has(rows[0]?.email)) {
      waiting = [...waiting, place];
      return [];
    }
    for (const { id, email, status, guests = [] } of rows) {
      if (kind === 'guest.updated') known.add(email);
      if (status === undefined || known.has(id)) continue;
      for (const one of [{ email: id }, ...(guests as JsonObject[])]) known.add(one.email);
    }
    const isKnown = (one: number) => known.has(told[one]?.rows[0]?.email);
    const next = waiting.filter(isKnown);
    waiting = waiting.filter((one) => !isKnown(one));
    return [place, ...next];
  });
}

/** Stories that are told beside each other: what an operator does concerns all of them. */
export interface Block {
  readonly stories: readonly Story[];
  readonly reprocessedAfter: readonly number[];
  /** The turn after which the mapping is corrected; 0: it was never wrong. */
  readonly mendedAfter: number;
  /** The turn after which the person bob of the first story is erased. */
  readonly erasedAfter: number | undefined;
  readonly decisions: readonly { readonly after: number; readonly is: 'released' | 'refused' }[];
}

const turn = fc.nat(7);

export const blocks = (isJudged: boolean, most: number): fc.Arbitrary<Block> =>
  fc.record({
    stories: fc.array(story(isJudged), { minLength: 1, maxLength: most, size: 'max' }),
    reprocessedAfter: fc.uniqueArray(turn, { maxLength: 2 }),
    mendedAfter: isJudged ? fc.constant(0) : turn,
    erasedAfter: isJudged ? fc.constant(undefined) : maybe(turn),
    decisions: isJudged
      ? fc.array(fc.record({ after: turn, is: fc.constantFrom('released', 'refused') }), { minLength: 1, maxLength: 3 })
      : fc.constant([]),
  });
