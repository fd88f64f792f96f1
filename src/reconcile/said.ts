import type { ListName } from '../canonical/fields.ts';
import { withoutMentions } from '../canonical/mentions.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Json } from '../terms.ts';
import type { Consent } from './consent.ts';
import { matchItems } from './match-items.ts';
import { extraPrefix, type Views } from './merge.ts';
import {
  groupOf,
  type ItemIds,
  isNewer,
  leaderOf,
  listNames,
  type Mark,
  never,
  type SaidItem,
  type Source,
  type Statement,
  type Values,
} from './statement.ts';
import { faceOf, type View, type ViewItem, type ViewList } from './view.ts';

/**
 * The views of a record as they are stored beside it. Most reservations have one source, and its view equals the record. Then only the
 * source, the time and the empty fields are stored; for a pulled row without empty fields, nothing.
 */
export type StoredViews = { readonly [Name in Source]?: View | SoleView | undefined } & {
  /** Of a guest's profile, which has no views. */
  readonly consent?: Consent | undefined;
};

interface SoleView {
  readonly said: Mark;
  /** Fields stated to be empty, such as channel or guests.0.phone. */
  readonly none?: readonly string[] | undefined;
  readonly ids?: ItemIds | undefined;
}

/**
 * What to store for these views; undefined where nothing needs to be stored. `isRuled`: a business rule changed the record, so no view
 * equals the record.
 */
export function storedViews(views: Views, isRuled: boolean): StoredViews | undefined {
  const [only, ...others] = Object.entries(views).filter(([, view]) => view !== undefined) as [Source, View][];
  if (only === undefined || others.length > 0 || isRuled || !isPlain(only[1])) return views;
  const [source, view] = only;
  return soleView(source, view.said, emptiesOf(view), idsIn(view));
}

function idsIn({ lists }: View): ItemIds | undefined {
  const found = listNames.flatMap((name) => {
    const items = lists[name]?.items ?? [];
    return items.some(({ key }) => key !== undefined) ? [[name, items.map(({ key }) => key ?? null)] as const] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** What to store for a view that equals the record. */
export function soleView(
  source: Source,
  said: Mark,
  none: readonly string[],
  ids: ItemIds | undefined,
): StoredViews | undefined {
  if (source === 'pull' && none.length === 0 && ids === undefined) return undefined;
  return { [source]: { said, ...(none.length > 0 && { none }), ...(ids && { ids }) } };
}

/** Everything in the view was stated at one time, and the canonical values contain all of it. */
function isPlain({ at, said, lists }: View): boolean {
  if (at !== undefined) return false;
  return listNames.every((name) => {
    const list = lists[name];
    if (list === undefined) return true;
    const isOfOneTime = list.at !== undefined && !isNewer(said, list.at);
    return isOfOneTime && list.items.every((item) => !item.at && !item.as && !item.since);
  });
}

export function readViews(stored: StoredViews | undefined, record: Reservation, said: Mark): Views {
  if (stored === undefined) return { pull: viewOfRecord(record, { said }) };
  const views: { [Name in Source]?: View } = {};
  for (const [source, view] of Object.entries(stored) as [Source, View | SoleView][]) {
    views[source] = 'values' in view ? view : viewOfRecord(record, view);
  }
  return views;
}

/** Whether this source is the only one, and its view equals the record. */
export function isSole(stored: StoredViews | undefined, source: Source): boolean {
  if (stored === undefined) return source === 'pull';
  const [only, ...others] = Object.entries(stored);
  return others.length === 0 && only?.[0] === source && !('values' in (only[1] ?? {}));
}

/** What is stored for the only source. */
export function soleOf(stored: StoredViews | undefined, source: Source): SoleView | undefined {
  return stored?.[source] as SoleView | undefined;
}

/** By the partner's ids, both lists have the same elements in the same order. */
export function hasSameIds(a: ItemIds | undefined, b: ItemIds | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function viewOfRecord(record: Reservation, { said, none = [], ids }: SoleView): View {
  const statement = statementOf(record, undefined, undefined, ids);
  const lists: { [Name in ListName]?: ViewList } = {};
  for (const name of listNames) {
    const items = statement.lists[name] ?? [];
    if (items.length > 0 || none.includes(name)) lists[name] = { at: said, items };
  }
  const values: { [field: string]: Json } = { ...statement.values };
  for (const path of none) {
    const [list, index, ...field] = path.split('.');
    if (listNames.includes(list as ListName) && index !== undefined) {
      const item = lists[list as ListName]?.items[Number(index)];
      if (item !== undefined) (item.values as { [field: string]: Json })[field.join('.')] = null;
    } else if (!listNames.includes(path as ListName)) {
      values[path] = null;
    }
  }
  return { said, values, lists };
}

function emptiesOf({ values, lists }: View): string[] {
  const empty = (of: Values) => Object.keys(of).filter((field) => of[field] === null);
  const none = empty(values);
  for (const name of listNames) {
    const items = lists[name]?.items;
    if (items?.length === 0) none.push(name);
    for (const [index, item] of items?.entries() ?? [])
      none.push(...empty(item.values).map((field) => `${name}.${index}.${field}`));
  }
  return none;
}

type Fields = { readonly [field: string]: unknown };

/**
 * The fields that a message sent and that have no value after check and normalization; the same as `emptiesOf` of its statement.
 * Written for speed: it runs for every pulled row that was not recognised, to tell a missing field from an empty one.
 */
export function emptiesIn(record: Partial<Reservation>, draft: Fields): string[] {
  const found: string[] = [];
  collectEmpties(record as Fields, draft, '', found);
  for (const name of listNames) {
    const sent = draft[name] as readonly Fields[] | undefined;
    if (sent === undefined) continue;
    if (sent.length === 0) found.push(name);
    const items = (record[name] ?? []) as readonly Fields[];
    if (items.length !== sent.length) continue;
    for (let index = 0; index < items.length; index++) {
      collectEmpties(items[index] as Fields, sent[index] ?? {}, `${name}.${index}.`, found);
    }
  }
  return found;
}

function collectEmpties(record: Fields, draft: Fields, prefix: string, found: string[]): void {
  for (const field in draft) {
    if (draft[field] === undefined || record[field] !== undefined || field in noLists) continue;
    if (leaderOf(field) !== field || groupOf(field).some((one) => record[one] !== undefined)) continue;
    found.push(prefix + field);
  }
}

const noLists: { readonly [Name in ListName]: true } = { guests: true, rooms: true, charges: true };

/**
 * The statement of a message: its canonical values, and null for fields that it sent without a usable value. `draft` contains what was
 * sent; without a draft, the record itself is the statement.
 */
export function statementOf(
  record: Partial<Reservation>,
  draft?: Fields,
  assumed: ReadonlySet<string> = new Set(),
  ids: { readonly [Name in ListName]?: readonly (string | null | undefined)[] | undefined } = {},
): Statement {
  const lists: { [Name in ListName]?: readonly SaidItem[] } = {};
  const weak: { [field: string]: Json } = {};
  const values = valuesOf(record as Fields, draft, (field, value) => {
    if (!assumed.has(field)) return false;
    weak[field] = value;
    return true;
  });
  for (const name of listNames) {
    const sent = draft?.[name] as readonly Fields[] | undefined;
    const items = record[name] as readonly Fields[] | undefined;
    if (draft !== undefined && sent === undefined) continue;
    lists[name] = (items ?? []).map((item, index) => {
      // The check drops elements without any valid field; after that, positions in the record and in the message may differ.
      const isAligned = sent?.length === items?.length;
      const key = isAligned || draft === undefined ? (ids[name]?.[index] ?? undefined) : undefined;
      const values = valuesOf(item, isAligned ? sent?.[index] : undefined);
      const guesses = Object.keys(values).filter((field) => assumed.has(`${name}[${index}].${field}`));
      return {
        values,
        ...(key !== undefined && { key }),
        ...(guesses.length > 0 && { at: Object.fromEntries(guesses.map((field) => [field, never])) }),
      };
    });
  }
  return Object.keys(weak).length === 0 ? { values, lists } : { values, assumed: weak, lists };
}

/** The ids of a message's rooms and charges, where the elements of its record are those that were sent. */
export function usableIds(
  record: Partial<Reservation>,
  draft: Fields,
  ids: { readonly [Name in ListName]?: readonly (string | undefined)[] | undefined },
): ItemIds | undefined {
  const usable = listNames.flatMap((name) => {
    const [of, sent] = [ids[name], draft[name] as readonly unknown[] | undefined];
    return of !== undefined && sent?.length === record[name]?.length
      ? [[name, of.map((id) => id ?? null)] as const]
      : [];
  });
  return usable.length === 0 ? undefined : Object.fromEntries(usable);
}

function valuesOf(
  record: Fields,
  draft: Fields | undefined,
  sortOut?: (field: string, value: Json) => boolean,
): { [field: string]: Json } {
  const values: { [field: string]: Json } = {};
  /** Fields that the message does not leave empty, although they are not among its values. */
  const sortedOut = new Set<string>();
  const say = (field: string, value: Json) => {
    if (sortOut?.(field, value) === true) sortedOut.add(field);
    else values[field] = value;
  };
  for (const [field, value] of Object.entries(record)) {
    if (value === undefined || value === null || listNames.includes(field as ListName)) continue;
    if (field !== 'extra') say(field, value as Json);
    else for (const [name, one] of Object.entries(value as object)) say(extraPrefix + name, one as Json);
  }
  if (draft === undefined) return values;
  const said = new Set([...Object.keys(values), ...sortedOut].map(leaderOf));
  for (const [field, value] of Object.entries(draft)) {
    if (value === undefined || listNames.includes(field as ListName)) continue;
    if (field === 'extra') {
      for (const name of Object.keys((value ?? {}) as object))
        if (!said.has(extraPrefix + name)) values[extraPrefix + name] = null;
    } else if (leaderOf(field) === field && !said.has(field)) {
      values[field] = null;
    }
  }
  return values;
}

/**
 * The views without guests who must not be kept: those whom `isErased` names, and those who are the same person as one of them in
 * `record`, under whatever address another source knows them. Their places stay. `extra` goes where the record's had to go, and so do
 * texts that name one of the guests in `named`.
 */
export function viewsWithout(
  stored: StoredViews,
  record: Reservation,
  {
    isErased,
    named,
    keepsExtra,
  }: {
    readonly isErased: (guest: Guest) => boolean;
    readonly named: readonly Guest[];
    readonly keepsExtra: boolean;
  },
): StoredViews {
  const faces = record.guests.map((guest) => faceOf({ values: valuesOf(guest, undefined) }));
  const left: { [Name in Source]?: View | SoleView } = {};
  for (const [source, view] of Object.entries(stored) as [Source, View | SoleView][]) {
    if (!('values' in view)) {
      // The record shows which guests are left; fields that were stated to be empty for the others no longer matter.
      const none = view.none?.filter((path) => !path.startsWith('guests.'));
      left[source] = none === undefined ? view : { ...view, none };
      continue;
    }
    const { guests } = view.lists;
    const places = matchItems('guests', faces, guests?.items.map(faceOf) ?? []);
    const isGone = ({ values, as }: ViewItem, index: number): boolean => {
      const same = record.guests[places[index] ?? -1];
      return [values, as, same].some((one) => one !== undefined && isErased(one as Guest));
    };
    const items = guests?.items.map((item, index) => (isGone(item, index) ? { values: {} } : item));
    const lists: { [Name in ListName]?: ViewList } = {};
    for (const name of ['rooms', 'charges'] as const) {
      const list = view.lists[name];
      const texts = list?.items.map((item) => ({ ...item, values: withoutMentions(item.values, named) }));
      if (list !== undefined && texts !== undefined) lists[name] = { ...list, items: texts };
    }
    if (guests !== undefined && items !== undefined) lists.guests = { ...guests, items };
    const values = withoutMentions(view.values, named);
    left[source] = { ...view, values: keepsExtra ? values : withoutExtra(values), lists };
  }
  return left;
}

const withoutExtra = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([field]) => !field.startsWith(extraPrefix)));
