import fc from 'fast-check';
import type { Json } from '../../src/terms.ts';

/**
 * A partner with one true state of one reservation that changes over time. It is seen through two views that show different fields:
 * its list, whenever it is polled, and an event for each change. Messages arrive late, twice and in any order.
 */
export interface Truth {
  readonly fields: Fields;
  readonly guests: readonly Fields[];
  readonly rooms: readonly Fields[];
  readonly charges: readonly Fields[];
}

export type Fields = { readonly [field: string]: Json };

export interface Message {
  readonly source: 'pull' | 'push';
  /** When the partner's data was in this state. */
  readonly at: number;
  readonly data: { readonly [field: string]: Json };
}

export interface Story {
  /** The states in the order in which they were true. */
  readonly states: readonly Truth[];
  /** In the order of arrival; the last one is a poll of the last state. */
  readonly messages: readonly Message[];
  readonly shown: { readonly [List in ListName | 'fields']: ReadonlySet<string> };
  /** How events show an empty field, and whether their silence clears. */
  readonly absent: 'keep' | 'clear';
}

export type ListName = 'guests' | 'rooms' | 'charges';
const listNames: readonly ListName[] = ['guests', 'rooms', 'charges'];

/** The identity of the elements of a list: every view shows it. */
const identity: { readonly [List in ListName]: readonly string[] } = {
  guests: ['first_name', 'last_name'],
  rooms: ['room_type', 'start_date', 'end_date'],
  charges: ['code'],
};

const optional = {
  fields: {
    channel: ['BDC', 'WEB'],
    source: ['OTA', 'direct'],
    currency: ['EUR', 'USD'],
    total_amount: ['120', '99.5'],
    booking_date: ['2026-01-02', '2026-01-09'],
    confirmation_number: ['C1', 'C2'],
  },
  guests: {
    email: ['ana@reis.example', 'a.reis@mail.example'],
    phone: ['+351912345678', '+351911111111'],
    nationality: ['PT', 'DK'],
    marketing_consent: [true, false],
    date_of_birth: ['1980-04-05', '1980-05-04'],
  },
  rooms: { board: ['HB', 'BB'], rate_code: ['R1', 'R2'], adults: [1, 2] },
  charges: { description: ['Dinner', 'Spa'], amount: ['10', '20.5'], quantity: [1, 2] },
} as const;

const elements: { readonly [List in ListName]: readonly Fields[] } = {
  guests: [
    { first_name: 'Ana', last_name: 'Reis' },
    { first_name: 'Bo', last_name: 'Lund' },
    { first_name: 'Cy', last_name: 'Abel' },
  ],
  rooms: [
    { room_type: 'DBL', start_date: '2026-05-01', end_date: '2026-05-02' },
    { room_type: 'SUI', start_date: '2026-05-02', end_date: '2026-05-04' },
  ],
  charges: [{ code: 'FB' }, { code: 'SPA' }],
};

/** Every guest has unique values: no two guests share an address. */
const own = (list: string, index: number, field: string, value: Json): Json =>
  list === 'guests' && field === 'email'
    ? `${index}.${String(value)}`
    : list === 'guests' && field === 'phone'
      ? `${String(value).slice(0, -1)}${index}`
      : value;

const fieldsOf = (list: keyof typeof optional, index: number): fc.Arbitrary<Fields> =>
  fc.record(
    Object.fromEntries(
      Object.entries(optional[list]).map(([field, values]) => [
        field,
        fc.option(fc.constantFrom(...(values as readonly Json[]).map((value) => own(list, index, field, value)))),
      ]),
    ),
  );

const listOf = (list: ListName): fc.Arbitrary<readonly Fields[]> =>
  fc
    .tuple(
      ...elements[list].map((element, index) => fc.tuple(fc.constant(element), fieldsOf(list, index), fc.boolean())),
    )
    .map((all) => all.filter(([, , isThere]) => isThere).map(([element, fields]) => ({ ...element, ...fields })));

const truth: fc.Arbitrary<Truth> = fc
  .record({
    status: fc.constantFrom('confirmed', 'checked_in', 'cancelled'),
    check_in: fc.constantFrom('2026-05-01', '2026-05-02'),
    fields: fieldsOf('fields', 0),
    guests: listOf('guests'),
    rooms: listOf('rooms'),
    charges: listOf('charges'),
  })
  .map(({ status, check_in, fields, ...lists }) => ({
    fields: { id: 'R1', check_in, check_out: '2026-05-04', status, ...fields },
    ...lists,
  }));

const must: ReadonlySet<string> = new Set(['id', 'check_in', 'check_out', 'status']);

type Shown = { readonly [List in ListName | 'fields']: ReadonlySet<string> };

const subset = (list: keyof typeof optional): fc.Arbitrary<ReadonlySet<string>> =>
  fc.subarray(Object.keys(optional[list])).map((some) => new Set(some));

interface View {
  readonly shown: Shown;
  readonly lists: ReadonlySet<string>;
  /** An empty field is sent as null, or not at all. */
  readonly omits: boolean;
}

const view = (omits: fc.Arbitrary<boolean>): fc.Arbitrary<View> =>
  fc.record({
    shown: fc.record({
      fields: subset('fields'),
      guests: subset('guests'),
      rooms: subset('rooms'),
      charges: subset('charges'),
    }),
    lists: fc.subarray([...listNames]).map((some) => new Set<string>(some)),
    omits,
  });

function show(state: Truth, { shown, lists, omits }: View): { [field: string]: Json } {
  const pick = (fields: Fields, of: ReadonlySet<string>, always: (field: string) => boolean) =>
    Object.fromEntries(
      Object.entries(fields).filter(([field, value]) => always(field) || (of.has(field) && (value !== null || !omits))),
    );
  const data: { [field: string]: Json } = pick(state.fields, shown.fields, (field) => must.has(field));
  for (const list of listNames) {
    if (!lists.has(list)) continue;
    data[list] = state[list].map((item) => pick(item, shown[list], (field) => identity[list].includes(field)));
  }
  return data;
}

export const story: fc.Arbitrary<Story> = fc
  .record({
    states: fc.array(truth, { minLength: 1, maxLength: 6 }),
    pull: view(fc.boolean()),
    push: view(fc.constant(false)),
    absent: fc.constantFrom('keep' as const, 'clear' as const),
    polls: fc.array(fc.nat(5), { maxLength: 5 }),
    twice: fc.array(fc.nat(30), { maxLength: 5 }),
    shuffle: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
  })
  .map(({ states, pull: pulled, push: pushed, absent, polls, twice, shuffle }) => {
    // A list whose elements no view shows is in no record; the pull view has all elements, because lists are polled completely.
    const pull = { ...pulled, lists: new Set<string>(listNames) };
    const push = { ...pushed, omits: absent === 'clear' };
    const events = states.map(
      (state, index): Message => ({ source: 'push', at: 10 * (index + 1), data: show(state, push) }),
    );
    const asked = polls.map((poll): Message => {
      const index = poll % states.length;
      return { source: 'pull', at: 10 * (index + 1) + 5, data: show(states[index] as Truth, pull) };
    });
    const once = [...events, ...asked];
    const sent = [...once, ...twice.map((index) => once[index % once.length] as Message)];
    const mixed = sent
      .map((message, index) => ({ message, place: shuffle[index] ?? 0 }))
      .sort((a, b) => a.place - b.place)
      .map(({ message }) => message);
    const last: Message = { source: 'pull', at: 1_000, data: show(states.at(-1) as Truth, pull) };
    const both = (list: ListName | 'fields') =>
      new Set([...pull.shown[list], ...(list === 'fields' || push.lists.has(list) ? push.shown[list] : [])]);
    return {
      states,
      messages: [...mixed, last],
      shown: { fields: both('fields'), guests: both('guests'), rooms: both('rooms'), charges: both('charges') },
      absent,
    };
  });

/** The fields of the true state that some view shows, without the empty ones; elements in the order of their identity. */
export function visible(state: Truth, shown: Story['shown']): { [field: string]: Json } {
  const pick = (fields: Fields, of: ReadonlySet<string>, always: readonly string[]) =>
    Object.fromEntries(
      Object.entries(fields).filter(([field, value]) => value !== null && (of.has(field) || always.includes(field))),
    );
  return {
    ...pick(state.fields, shown.fields, [...must]),
    ...Object.fromEntries(
      listNames.map((list) => [list, state[list].map((item) => pick(item, shown[list], identity[list]))]),
    ),
  };
}

/** Values in a record that were not true at any moment, by path. */
export function untrue(record: { readonly [field: string]: Json }, states: readonly Truth[]): string[] {
  const found: string[] = [];
  for (const [field, value] of Object.entries(record)) {
    if (listNames.includes(field as ListName)) continue;
    if (!states.some(({ fields }) => String(fields[field]) === String(value))) found.push(`${field}=${String(value)}`);
  }
  for (const list of listNames) {
    for (const item of (record[list] ?? []) as readonly Fields[]) {
      const isSame = (other: Fields) => identity[list].every((field) => other[field] === item[field]);
      const lives = states.flatMap((state) => state[list].filter(isSame));
      for (const [field, value] of Object.entries(item)) {
        if (!lives.some((life) => String(life[field]) === String(value)))
          found.push(`${list}.${field}=${String(value)}`);
      }
    }
  }
  return found;
}
