import type { ListName } from '../canonical/fields.ts';
import type { EpochMs, Json } from '../terms.ts';
import { type ConsentRun, consentSince, isOwnAfter, runOf } from './consent.ts';
import { difference } from './difference.ts';
import { type ItemIdentity, matchItems } from './match-items.ts';
import {
  fieldsSaid,
  groupOf,
  isNewer,
  isRawOnly,
  type Lists,
  listNames,
  type Manner,
  type Moment,
  never,
  type Says,
  unreadable,
  type Values,
} from './says.ts';

/** Values of one source; `at` has the times of fields that were stated at another time than the rest. */
export interface Timed {
  readonly values: Values;
  readonly at?: { readonly [field: string]: Moment } | undefined;
}

export interface ViewItem extends Timed {
  /** Since when a guest's consent has been stated as it is now, if the source repeated it. */
  readonly run?: ConsentRun | undefined;
  readonly isOwn?: true | undefined;
  readonly key?: string | undefined;
  readonly as?: Values | undefined;
  /** When the element was last mentioned, for lists that contain only some elements. */
  readonly since?: Moment | undefined;
}

export interface ViewList {
  /** When the source last sent a complete list; absent if it only ever sent some elements. */
  readonly at?: Moment | undefined;
  readonly items: readonly ViewItem[];
}

/** Everything that one source states about a reservation: its newest value of each field. */
export interface View extends Timed {
  /** The time of its newest message. */
  readonly moment: Moment;
  readonly lists: Lists<ViewList>;
}

/**
 * A source's view after one more statement. The result does not depend on the order or repetition of statements: each field keeps its
 * newest value, and a cleared field counts as a value.
 */
export function accept(known: View | undefined, says: Says, moment: Moment, manner: Manner): View {
  const stated = viewOf(says, moment, manner);
  if (known === undefined) return stated;
  const [newer, older] = isNewer(known.moment, moment) ? [known, stated] : [stated, known];
  const keeps = keptIn(manner, newer === stated ? says.unread : undefined);
  const timed = withOlder(newer, newer.moment, older, older.moment, keeps(''));
  const lists: { [Name in ListName]?: ViewList } = {};
  for (const name of listNames) {
    const merged = mergeLists(name, newer, older, manner, keeps);
    if (merged !== undefined) lists[name] = merged;
  }
  return { ...timed, moment: newer.moment, lists };
}

/**
 * A list that repeats its row says nothing new, and may be a copy from before an event: the row counts as of `lagMs` before it was
 * requested. So it overturns an event only after it was repeated for that long. A consent that is repeated stays as old as it was.
 */
export function repeated(view: View, requestedAt: EpochMs, lagMs: number): View {
  const moment: Moment = [requestedAt - lagMs, 0];
  if (!isNewer(moment, view.moment)) return view;
  const lists = Object.fromEntries(
    listNames.flatMap((name) => {
      const list = view.lists[name];
      if (list?.at === undefined) return list === undefined ? [] : [[name, list]];
      const { at } = list;
      const items = list.items.map((item) => {
        const isConsent = (item.values.marketing_consent ?? null) !== null;
        return isConsent ? { ...item, run: { ...item.run, since: consentSince(item, at) } } : item;
      });
      return [[name, { at: moment, items }]];
    }),
  );
  return { ...view, moment, lists };
}

function viewOf({ values, assumed, lists }: Says, moment: Moment, manner: Manner): View {
  const filledIn = Object.entries(assumed ?? {}).filter(([field]) => !(field in values));
  const neverStated = Object.fromEntries(filledIn.map(([field]) => [field, never]));
  const named: { [Name in ListName]?: ViewList } = {};
  for (const name of listNames) {
    const items = lists[name];
    if (items === undefined) continue;
    named[name] =
      manner.lists === 'replace' ? { at: moment, items } : { items: items.map((item) => ({ ...item, since: moment })) };
  }
  return {
    moment,
    values: filledIn.length === 0 ? values : { ...values, ...Object.fromEntries(filledIn) },
    ...(filledIn.length > 0 && { at: neverStated }),
    lists: named,
  };
}

export const momentOf = ({ at, values }: Timed, field: string, otherwise: Moment): Moment =>
  isRawOnly(values, field) ? unreadable : (at?.[field] ?? otherwise);

/** Whether the newer message's silence about a field keeps the older value. A value that could not be read is not silence. */
type Keeps = (field: string) => boolean;

const keptIn =
  ({ silence }: Manner, unread: Says['unread']) =>
  (prefix: string): Keeps =>
  (field) =>
    silence === 'keep' || unread?.includes(prefix + field) === true;

/** The newer values, with fields that only the older message had: kept with their time, or cleared as of the newer message. */
function withOlder(newer: Timed, newerAt: Moment, older: Timed, olderAt: Moment, keeps: Keeps): Timed {
  const stated = fieldsSaid(newer.values);
  const values: { [field: string]: Values[string] } = { ...newer.values };
  const at: { [field: string]: Moment } = { ...newer.at };
  for (const field of fieldsSaid(older.values)) {
    const olderMoment = momentOf(older, field, olderAt);
    if (!keeps(field) && !isRawOnly(newer.values, field)) {
      if (!stated.has(field)) values[field] = null;
      continue;
    }
    if (stated.has(field) && !isNewer(olderMoment, momentOf(newer, field, newerAt))) continue;
    for (const one of groupOf(field)) delete values[one];
    delete at[field];
    for (const one of groupOf(field)) {
      const value = older.values[one];
      if (value !== undefined) values[one] = value;
    }
    if (isNewer(olderMoment, newerAt) || isNewer(newerAt, olderMoment)) at[field] = olderMoment;
  }
  return Object.keys(at).length === 0 ? { values } : { values, at };
}

function mergeLists(
  name: ListName,
  newer: View,
  older: View,
  { lists }: Manner,
  keeps: (prefix: string) => Keeps,
): ViewList | undefined {
  const [one, other] = [newer.lists[name], older.lists[name]];
  if (other === undefined) return one;
  if (one === undefined) return keeps('')(name) || lists === 'merge' ? other : { at: newer.moment, items: [] };
  // The newer of two complete lists; if none is complete, the list that mentioned its elements first.
  const isNewest = one.at !== undefined && (other.at === undefined || !isNewer(other.at, one.at));
  const [front, back] = isNewest ? [one, other] : [other, one];
  const [frontAt, backAt] = [front.at ?? never, back.at ?? never];
  const places = matchItems(name, front.items.map(identityOf), back.items.map(identityOf), true);
  const items = [...front.items];
  for (const [index, item] of back.items.entries()) {
    const place = places[index];
    const same = place === undefined ? undefined : items[place];
    if (place !== undefined && same !== undefined) {
      items[place] = joined(same, frontAt, item, backAt, keeps(`${name}.${place}.`));
    } else if (item.since !== undefined && (front.at === undefined || isNewer(item.since, front.at))) {
      items.push(item);
    } else if (front.at === undefined) {
      items.push({ ...item, since: item.since ?? backAt });
    }
  }
  return { ...(front.at !== undefined && { at: front.at }), items };
}

/** Whether two views of a source state the same, whenever it stated it. */
export function statesSame(a: View, b: View): boolean {
  const timeless = ({ values, lists }: View) => {
    const items = listNames.map((name) => lists[name]?.items.map(({ values, key, as }) => ({ values, key, as })));
    return { values, items } as unknown as Json;
  };
  return difference(timeless(a), timeless(b)).length === 0;
}

/** An element's fields are as old as its list, or as its last mention. */
function joined(a: ViewItem, aAt: Moment, b: ViewItem, bAt: Moment, keeps: Keeps): ViewItem {
  const [aMark, bMark] = [a.since ?? aAt, b.since ?? bAt];
  const [newer, newerAt, older, olderAt] = isNewer(bMark, aMark) ? [b, bMark, a, aMark] : [a, aMark, b, bMark];
  const timed = withOlder(newer, newerAt, older, olderAt, keeps);
  const run = runOf(newer, newerAt, older, olderAt);
  const isOwn = isOwnAfter(newer, newerAt, older, olderAt);
  const key = newer.key ?? older.key;
  const as = newer.as ?? older.as;
  // Without `since` the element is as old as its list; newer fields have their own time in `at`.
  const since = a.since === undefined && b.since === undefined ? undefined : newerAt;
  return {
    ...timed,
    ...(run !== undefined && { run }),
    ...(isOwn && { isOwn }),
    ...(key !== undefined && { key }),
    ...(as !== undefined && { as }),
    ...(since !== undefined && { since }),
  };
}

export function identityOf({ values, key, as }: ViewItem): ItemIdentity {
  return { key, looks: [as === undefined ? [values] : [values, as]] };
}
