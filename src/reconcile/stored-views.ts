import type { ListName } from '../canonical/fields.ts';
import type { Reservation } from '../canonical/reservation.ts';
import type { Json } from '../terms.ts';
import type { Aside } from './aside.ts';
import type { Consent, ConsentRun } from './consent.ts';
import { type Merged, merge, type Views } from './merge.ts';
import { type ItemIds, isNewer, listNames, type Moment, type Says, type Source, saysOf, type Values } from './says.ts';
import type { View, ViewItem, ViewList } from './view.ts';

/**
 * The views of a record as they are stored beside it. Most reservations have one source, and its view equals the record. Then only the
 * source, the time and the empty fields are stored; for a pulled row without empty fields, nothing.
 */
export type StoredViews = { readonly [Name in Source]?: View | SoleView | undefined } & {
  /** Of a guest's profile, which has no views. */
  readonly consent?: Consent | undefined;
  /** Values that do not count. */
  readonly aside?: readonly Aside[] | undefined;
};

export interface SoleView {
  readonly moment: Moment;
  /** Fields stated to be empty, such as channel or guests.0.phone. */
  readonly none?: readonly string[] | undefined;
  readonly ids?: ItemIds | undefined;
  /** Of guests whose consent the source repeated, by position. */
  readonly runs?: readonly (ConsentRun | null)[] | undefined;
}

/**
 * What to store for these views; undefined where nothing needs to be stored. `isRuled`: a business rule changed the record, so no view
 * equals the record.
 */
export function storedViews(views: Views, isRuled: boolean, aside: readonly Aside[] = []): StoredViews | undefined {
  const sole = isRuled ? undefined : soleIn(views);
  const stored = sole === undefined ? views : soleView(...sole);
  if (aside.length === 0) return stored;
  return { ...(stored ?? { pull: { moment: sole?.[1].moment as Moment } }), aside };
}

/** The only source and its view, if all of it was stated at one time: the record, unless rules change it, contains every value. */
export function soleIn(views: Views): readonly [Source, View] | undefined {
  const [only, ...others] = Object.entries(views).filter(([, view]) => view !== undefined) as [Source, View][];
  return only === undefined || others.length > 0 || !isPlain(only[1]) ? undefined : only;
}

function runsIn({ lists }: View): readonly (ConsentRun | null)[] | undefined {
  const guests = lists.guests?.items ?? [];
  return guests.some(({ run }) => run !== undefined) ? guests.map(({ run }) => run ?? null) : undefined;
}

function idsIn({ lists }: View): ItemIds | undefined {
  const ids = listNames.flatMap((name) => {
    const items = lists[name]?.items ?? [];
    return items.some(({ key }) => key !== undefined) ? [[name, items.map(({ key }) => key ?? null)] as const] : [];
  });
  return ids.length === 0 ? undefined : Object.fromEntries(ids);
}

/** What to store for a view that equals the record. */
function soleView(source: Source, view: View): StoredViews | undefined {
  const [none, ids, runs] = [emptiesOf(view), idsIn(view), runsIn(view)];
  if (source === 'pull' && none.length === 0 && ids === undefined && runs === undefined) return undefined;
  const { moment } = view;
  return { [source]: { moment, ...(none.length > 0 && { none }), ...(ids && { ids }), ...(runs && { runs }) } };
}

/** Everything in the view was stated at one time, and the canonical values contain all of it. */
function isPlain({ at, moment, lists }: View): boolean {
  if (at !== undefined) return false;
  return listNames.every((name) => {
    const list = lists[name];
    if (list === undefined) return true;
    const isOfOneTime = list.at !== undefined && !isNewer(moment, list.at);
    return isOfOneTime && list.items.every((item) => !item.at && !item.as && !item.since && !item.isOwn);
  });
}

export function readViews(stored: StoredViews | undefined, record: Reservation, moment: Moment): Views {
  if (stored === undefined) return { pull: viewOfRecord(record, { moment }) };
  const views: { [Name in Source]?: View } = {};
  for (const [source, view] of Object.entries(stored) as [Source | 'aside' | 'consent', View | SoleView][]) {
    if (source === 'aside' || source === 'consent') continue;
    views[source] = 'values' in view ? view : viewOfRecord(record, view);
  }
  return views;
}

/** The consent of each guest of a stored reservation, by position. Rules may have changed its value. */
export function consentsIn(
  record: Reservation,
  views: StoredViews | undefined,
  moment: Moment,
): readonly (Consent | undefined)[] {
  if (!record.guests.some(({ marketing_consent }) => marketing_consent !== undefined)) return [];
  const { consents }: Merged = merge(readViews(views, record, moment));
  return record.guests.map(({ marketing_consent: value }, index) => {
    const stated = consents[index];
    if (value === undefined || stated === undefined) return undefined;
    return stated.value === value ? stated : { value, source: stated.source, at: stated.at };
  });
}

/**
 * The views of a record whose brand moves to another system. What the old one stated stays as one view, as if the partner had been asked for the
 * reservation: fields that the new system does not mention keep their values.
 */
export function asEarlierSystem(stored: StoredViews | undefined, record: Reservation, moment: Moment): StoredViews {
  const { aside: _, ...views } = stored ?? {};
  const isWholeRecord = Object.values(views).every((view) => !('values' in (view ?? {})));
  if (isWholeRecord) return { single: { moment } };
  const { draft } = merge(readViews(stored, record, moment));
  return { single: viewOfRecord(draft as unknown as Reservation, { moment }) };
}

function viewOfRecord(record: Reservation, { moment, none = [], ids, runs }: SoleView): View {
  const statement = saysOf(record, undefined, undefined, ids);
  const lists: { [Name in ListName]?: ViewList } = {};
  for (const name of listNames) {
    const stated: readonly ViewItem[] = statement.lists[name] ?? [];
    const items =
      name === 'guests' && runs ? stated.map((item, i) => ({ ...item, run: runs[i] ?? undefined })) : stated;
    if (items.length > 0 || none.includes(name)) lists[name] = { at: moment, items };
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
  return { moment, values, lists };
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

/** Everything that is stored of what the sources said, counting or not, apart from the record itself. */
export function saidIn({ aside = [], consent: _, ...views }: StoredViews = {}): Says[] {
  const own = (Object.values(views) as (View | SoleView)[]).flatMap((view): Says[] => {
    if (!('values' in view)) return [];
    const lists = listNames.map((name) => [name, view.lists[name]?.items] as const);
    return [{ values: view.values, lists: Object.fromEntries(lists.filter(([, items]) => items !== undefined)) }];
  });
  return [...own, ...aside.map(({ says }) => says)];
}
