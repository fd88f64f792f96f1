import type { ListName } from '../canonical/fields.ts';
import { type ConsentRun, runOf } from './consent-run.ts';
import { type ItemIdentity, matchItems } from './match-items.ts';
import {
  fieldsSaid,
  groupOf,
  isNewer,
  type Lists,
  listNames,
  type Manner,
  type Mark,
  never,
  type Statement,
  type Values,
} from './statement.ts';

/** Values of one source; `at` has the times of fields that were stated at another time than the rest. */
export interface Timed {
  readonly values: Values;
  readonly at?: { readonly [field: string]: Mark } | undefined;
}

export interface ViewItem extends Timed {
  /** Since when a guest's consent has been stated as it is now, if the source repeated it. */
  readonly run?: ConsentRun | undefined;
  readonly key?: string | undefined;
  readonly as?: Values | undefined;
  /** When the element was last mentioned, for lists that contain only some elements. */
  readonly since?: Mark | undefined;
}

export interface ViewList {
  /** When the source last sent a complete list; absent if it only ever sent some elements. */
  readonly at?: Mark | undefined;
  readonly items: readonly ViewItem[];
}

/** Everything that one source states about a reservation: its newest value of each field. */
export interface View extends Timed {
  /** The time of its newest message. */
  readonly said: Mark;
  readonly lists: Lists<ViewList>;
}

/**
 * A source's view after one more message. The result does not depend on the order or repetition of messages: each field keeps its
 * newest value, and a cleared field counts as a value.
 */
export function accept(known: View | undefined, statement: Statement, said: Mark, manner: Manner): View {
  const message = viewOf(statement, said, manner);
  if (known === undefined) return message;
  const [newer, older] = isNewer(known.said, said) ? [known, message] : [message, known];
  const timed = withOlder(newer, newer.said, older, older.said, manner.silence);
  const lists: { [Name in ListName]?: ViewList } = {};
  for (const name of listNames) {
    const merged = mergeLists(name, newer, older, manner);
    if (merged !== undefined) lists[name] = merged;
  }
  return { ...timed, said: newer.said, lists };
}

function viewOf({ values, assumed, lists }: Statement, said: Mark, manner: Manner): View {
  const filledIn = Object.entries(assumed ?? {}).filter(([field]) => !(field in values));
  const neverStated = Object.fromEntries(filledIn.map(([field]) => [field, never]));
  const named: { [Name in ListName]?: ViewList } = {};
  for (const name of listNames) {
    const items = lists[name];
    if (items === undefined) continue;
    named[name] =
      manner.lists === 'replace' ? { at: said, items } : { items: items.map((item) => ({ ...item, since: said })) };
  }
  return {
    said,
    values: filledIn.length === 0 ? values : { ...values, ...Object.fromEntries(filledIn) },
    ...(filledIn.length > 0 && { at: neverStated }),
    lists: named,
  };
}

export const markOf = ({ at }: Timed, field: string, otherwise: Mark): Mark => at?.[field] ?? otherwise;

/** The newer values, with fields that only the older message had: kept with their time, or cleared as of the newer message. */
function withOlder(newer: Timed, newerAt: Mark, older: Timed, olderAt: Mark, silence: Manner['silence']): Timed {
  const said = fieldsSaid(newer.values);
  const values: { [field: string]: Values[string] } = { ...newer.values };
  const at: { [field: string]: Mark } = { ...newer.at };
  for (const field of fieldsSaid(older.values)) {
    const olderMark = markOf(older, field, olderAt);
    if (silence === 'clear') {
      if (!said.has(field)) values[field] = null;
      continue;
    }
    if (said.has(field) && !isNewer(olderMark, markOf(newer, field, newerAt))) continue;
    for (const one of groupOf(field)) delete values[one];
    delete at[field];
    for (const one of groupOf(field)) {
      const value = older.values[one];
      if (value !== undefined) values[one] = value;
    }
    if (isNewer(olderMark, newerAt) || isNewer(newerAt, olderMark)) at[field] = olderMark;
  }
  return Object.keys(at).length === 0 ? { values } : { values, at };
}

function mergeLists(name: ListName, newer: View, older: View, { silence, lists }: Manner): ViewList | undefined {
  const [one, other] = [newer.lists[name], older.lists[name]];
  if (other === undefined) return one;
  if (one === undefined) return silence === 'clear' && lists === 'replace' ? { at: newer.said, items: [] } : other;
  const [front, back] = inFront(one, other) ? [one, other] : [other, one];
  const [frontAt, backAt] = [front.at ?? never, back.at ?? never];
  const places = matchItems(name, front.items.map(identityOf), back.items.map(identityOf), true);
  const items = [...front.items];
  for (const [index, item] of back.items.entries()) {
    const place = places[index];
    const same = place === undefined ? undefined : items[place];
    if (place !== undefined && same !== undefined) {
      items[place] = joined(same, frontAt, item, backAt, silence);
    } else if (item.since !== undefined && (front.at === undefined || isNewer(item.since, front.at))) {
      items.push(item);
    } else if (front.at === undefined) {
      items.push({ ...item, since: item.since ?? backAt });
    }
  }
  return { ...(front.at !== undefined && { at: front.at }), items };
}

/** The newer of two complete lists; if none is complete, the list that mentioned its elements first. */
function inFront(newer: ViewList, older: ViewList): boolean {
  if (newer.at === undefined) return false;
  return older.at === undefined || !isNewer(older.at, newer.at);
}

/** An element's fields are as old as its list, or as its last mention. */
function joined(a: ViewItem, aAt: Mark, b: ViewItem, bAt: Mark, silence: Manner['silence']): ViewItem {
  const [aMark, bMark] = [a.since ?? aAt, b.since ?? bAt];
  const [newer, newerAt, older, olderAt] = isNewer(bMark, aMark) ? [b, bMark, a, aMark] : [a, aMark, b, bMark];
  const timed = withOlder(newer, newerAt, older, olderAt, silence);
  const run = runOf(newer, newerAt, older, olderAt);
  const key = newer.key ?? older.key;
  const as = newer.as ?? older.as;
  // Without `since` the element is as old as its list; newer fields have their own time in `at`.
  const since = a.since === undefined && b.since === undefined ? undefined : newerAt;
  return {
    ...timed,
    ...(run !== undefined && { run }),
    ...(key !== undefined && { key }),
    ...(as !== undefined && { as }),
    ...(since !== undefined && { since }),
  };
}

export function identityOf({ values, key, as }: ViewItem): ItemIdentity {
  return { key, looks: as === undefined ? [values] : [values, as] };
}
