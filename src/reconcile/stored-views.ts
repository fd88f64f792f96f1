import type { ListName } from '../canonical/fields.ts';
import type { Reservation } from '../canonical/reservation.ts';
import type { Json } from '../terms.ts';
import type { Consent, ConsentRun } from './consent-run.ts';
import { merge, type Views } from './merge.ts';
import { type ItemIds, isNewer, listNames, type Moment, type Source, type Values } from './statement.ts';
import { statementOf } from './statement-of.ts';
import type { View, ViewItem, ViewList } from './view.ts';

/**
 * The views of a record as they are stored beside it. Most reservations have one source, and its view equals the record. Then only the
 * source, the time and the empty fields are stored; for a pulled row without empty fields, nothing.
 */
export type StoredViews = { readonly [Name in Source]?: View | SoleView | undefined } & {
  /** Of a guest's profile, which has no views. */
  readonly consent?: Consent | undefined;
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
export function storedViews(views: Views, isRuled: boolean): StoredViews | undefined {
  const [only, ...others] = Object.entries(views).filter(([, view]) => view !== undefined) as [Source, View][];
  if (only === undefined || others.length > 0 || isRuled || !isPlain(only[1])) return views;
  const [source, view] = only;
  return soleView(source, view.moment, emptiesOf(view), idsIn(view), runsIn(view));
}

function runsIn({ lists }: View): readonly (ConsentRun | null)[] | undefined {
  const guests = lists.guests?.items ?? [];
  return guests.some(({ run }) => run !== undefined) ? guests.map(({ run }) => run ?? null) : undefined;
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
  moment: Moment,
  none: readonly string[],
  ids: ItemIds | undefined,
  runs?: SoleView['runs'],
): StoredViews | undefined {
  if (source === 'pull' && none.length === 0 && ids === undefined && runs === undefined) return undefined;
  return { [source]: { moment, ...(none.length > 0 && { none }), ...(ids && { ids }), ...(runs && { runs }) } };
}

/** Everything in the view was stated at one time, and the canonical values contain all of it. */
function isPlain({ at, moment, lists }: View): boolean {
  if (at !== undefined) return false;
  return listNames.every((name) => {
    const list = lists[name];
    if (list === undefined) return true;
    const isOfOneTime = list.at !== undefined && !isNewer(moment, list.at);
    return isOfOneTime && list.items.every((item) => !item.at && !item.as && !item.since);
  });
}

export function readViews(stored: StoredViews | undefined, record: Reservation, moment: Moment): Views {
  if (stored === undefined) return { pull: viewOfRecord(record, { moment }) };
  const views: { [Name in Source]?: View } = {};
  for (const [source, view] of Object.entries(stored) as [Source, View | SoleView][]) {
    views[source] = 'values' in view ? view : viewOfRecord(record, view);
  }
  return views;
}

/**
 * The views of a record whose brand moves to another system. What the old one stated stays as one view, as if the partner had been asked for the
 * reservation: fields that the new system does not mention keep their values.
 */
export function asEarlierSystem(stored: StoredViews | undefined, record: Reservation, moment: Moment): StoredViews {
  const isWholeRecord = Object.values(stored ?? {}).every((view) => !('values' in (view ?? {})));
  if (isWholeRecord) return { single: { moment } };
  const { draft } = merge(readViews(stored, record, moment));
  return { single: viewOfRecord(draft as unknown as Reservation, { moment }) };
}

/** Whether this source is the only one, and its view equals the record. */
export function isSole(stored: StoredViews | undefined, source: Source): boolean {
  if (stored === undefined) return source === 'pull';
  const [only, ...others] = Object.entries(stored);
  return others.length === 0 && only?.[0] === source && !('values' in (only[1] ?? {}));
}

function viewOfRecord(record: Reservation, { moment, none = [], ids, runs }: SoleView): View {
  const statement = statementOf(record, undefined, undefined, ids);
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
