import type { ListName } from '../canonical/fields.ts';
import type { Json } from '../terms.ts';
import { difference } from './difference.ts';
import { matchItems } from './match-items.ts';
import {
  groupOf,
  type Lists,
  listNames,
  type Manner,
  type Moment,
  type SaidItem,
  type Says,
  type Source,
  type Values,
} from './says.ts';
import { identityOf, momentOf, type Timed, type View, type ViewItem } from './view.ts';

/**
 * Values of one path from one source that do not count, with the time at which they were stated: held until somebody decides, or refused.
 * A released one is heard again as of its time, so that newer statements win.
 */
export interface Aside {
  readonly hold: string;
  readonly isRefused?: true;
  /** The list did not show the booking. A row that shows it is judged afresh, also if it says the same. */
  readonly isAbsence?: true;
  readonly source: Source;
  /** Canonical, such as total_amount or guests.email; empty for everything that the statement said. */
  readonly path: string;
  readonly moment: Moment;
  readonly manner: Manner;
  readonly says: Says;
}

/** What becomes of a view if the values of a path are set aside. */
export type Split =
  /** The statement does not mention the path. */
  | { readonly kind: 'unsaid' }
  /** It says what the source said before. */
  | { readonly kind: 'same' }
  | { readonly kind: 'differs'; readonly kept: View | undefined; readonly said: Pick<Aside, 'says' | 'manner'> };

/** Separates the values of a path in `after` that the statement of `moment` changed: `kept` has those of `before` instead. */
export function split(before: View | undefined, after: View, path: string, moment: Moment): Split {
  const [first, field] = path.split(/\.(.*)/s);
  if (!isListName(first)) return splitFields(before, after, path, moment);
  return field === undefined ? splitList(before, after, first) : splitItems(before, after, first, field, moment);
}

const isListName = (name: string | undefined): name is ListName => listNames.some((one) => one === name);

/** Days of arrival and departure, and an amount with its currency, are one value. */
const oneValue: readonly (readonly string[])[] = [
  ['check_in', 'check_out'],
  ['start_date', 'end_date'],
  ['total_amount', 'currency'],
];

export const togetherWith = (field: string): readonly string[] =>
  oneValue.find((all) => all.includes(field)) ?? [field];

function splitFields(before: View | undefined, after: View, path: string, moment: Moment): Split {
  const parted = part(before, after, path, moment, after.moment, before?.moment);
  if (parted === 'unsaid' || parted === 'same') return { kind: parted };
  const says = { values: parted.said, lists: {} };
  return {
    kind: 'differs',
    kept: { ...after, ...parted.kept },
    said: { says, manner: { silence: 'keep', lists: 'merge' } },
  };
}

/** The same for the fields of one object. */
function part(
  before: Timed | undefined,
  after: Timed,
  path: string,
  moment: Moment,
  afterAt: Moment,
  beforeAt: Moment = afterAt,
): 'unsaid' | 'same' | { readonly kept: Timed; readonly said: Values } {
  const fields = togetherWith(path);
  const isStated = (field: string) => {
    const at = momentOf(after, field, afterAt);
    return after.values[field] !== undefined && at[0] === moment[0] && at[1] === moment[1];
  };
  const stated = fields.filter(isStated);
  if (stated.length === 0) return 'unsaid';
  const names = stated.flatMap(groupOf);
  if (names.every((name) => isEqual(before?.values[name] ?? null, after.values[name] ?? null))) return 'same';
  const said: { [field: string]: Json } = {};
  const values: { [field: string]: Json } = { ...after.values };
  const at: { [field: string]: Moment } = { ...after.at };
  for (const field of stated) {
    for (const name of groupOf(field)) {
      const [own, known] = [after.values[name], before?.values[name]];
      if (own !== undefined) said[name] = own;
      delete values[name];
      if (known !== undefined) values[name] = known;
    }
    delete at[field];
    if (before?.values[field] !== undefined) at[field] = momentOf(before, field, beforeAt);
  }
  const { at: _, ...rest } = after;
  return { kept: { ...rest, values, ...(Object.keys(at).length > 0 && { at }) }, said };
}

function splitList(before: View | undefined, after: View, name: ListName): Split {
  const [known, own] = [before?.lists[name], after.lists[name]];
  if (own === undefined || own === known) return { kind: 'unsaid' };
  const plain = (items: readonly ViewItem[]) => items.map(({ values }) => values) as unknown as Json;
  if (known !== undefined && isEqual(plain(known.items), plain(own.items))) return { kind: 'same' };
  const { [name]: _, ...others } = after.lists;
  const lists = known === undefined ? others : { ...others, [name]: known };
  const says = { values: {}, lists: { [name]: own.items.map(asSaid) } };
  return { kind: 'differs', kept: { ...after, lists }, said: { says, manner: { silence: 'keep', lists: 'replace' } } };
}

const asSaid = ({ values, key, as, isOwn }: ViewItem): SaidItem => ({
  values,
  ...(key !== undefined && { key }),
  ...(as !== undefined && { as }),
  ...(isOwn && { isOwn }),
});

/** Elements that the source did not have before are new: they pass. */
function splitItems(before: View | undefined, after: View, name: ListName, field: string, moment: Moment): Split {
  const [known, own] = [before?.lists[name], after.lists[name]];
  if (own === undefined) return { kind: 'unsaid' };
  const places = matchItems(name, known?.items.map(identityOf) ?? [], own.items.map(identityOf), true);
  let isSame = false;
  const said: SaidItem[] = [];
  const items = own.items.map((item, index) => {
    const place = places[index];
    const earlier = place === undefined ? undefined : known?.items[place];
    if (before !== undefined && earlier === undefined) return item;
    const [afterAt, beforeAt] = [item.since ?? own.at ?? after.moment, earlier?.since ?? known?.at ?? before?.moment];
    const parted = part(earlier, item, field, moment, afterAt, beforeAt);
    if (parted === 'unsaid') return item;
    isSame = true;
    if (parted === 'same') return item;
    said.push({ ...asSaid({ ...item, values: parted.said }), as: (parted.kept as ViewItem).values });
    const consent = field === 'marketing_consent' && { run: earlier?.run, isOwn: earlier?.isOwn };
    return { ...(parted.kept as ViewItem), ...consent };
  });
  if (said.length === 0) {
    // Other elements instead of those before, such as the guests of another booking: then the list is what changed.
    const isReplaced = known !== undefined && known.items.length > 0 && places.includes(undefined);
    return isReplaced ? splitList(before, after, name) : { kind: isSame ? 'same' : 'unsaid' };
  }
  const lists: Lists<View['lists'][ListName]> = { ...after.lists, [name]: { ...own, items } };
  const says = { values: {}, lists: { [name]: said } };
  return {
    kind: 'differs',
    kept: { ...after, lists } as View,
    said: { says, manner: { silence: 'keep', lists: 'merge' } },
  };
}

const isEqual = (a: unknown, b: unknown): boolean => difference(a as Json, b as Json).length === 0;

export function saysSame(a: Says, b: Says): boolean {
  const lists = (says: Says) => listNames.map((name) => says.lists[name]?.map(({ values }) => values) ?? null);
  return isEqual(a.values, b.values) && isEqual(lists(a), lists(b));
}
