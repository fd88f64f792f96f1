import type { ListName } from '../canonical/fields.ts';
import { type Account, type Claim, countedAt, type Element, type ElementList, type Timed } from './claim.ts';
import { mentioned } from './consent.ts';
import {
  type Content,
  type ContentItem,
  fieldsSaid,
  groupOf,
  isNewer,
  isRawOnly,
  listNames,
  never,
  type Time,
  unreadable,
  type Values,
} from './content.ts';
import { type ItemIdentity, matchItems } from './match-items.ts';

/** The account that claims make, oldest first. `reduced` takes out what does not count of a claim. */
export function fold(
  claims: readonly Claim[],
  lagMs = 0,
  reduced: (claim: Claim, known: Account | undefined) => Claim | undefined = (claim) => claim,
): Account | undefined {
  return claims.reduce<Account | undefined>((known, claim) => {
    if (claim.base !== undefined) return claim.base;
    const counted = reduced(claim, known);
    return counted === undefined ? known : apply(known, counted, countedAt(claim, lagMs));
  }, undefined);
}

/** The account after a claim that is newer than all of it. A cleared field counts as a value. */
function apply(known: Account | undefined, claim: Claim, time: Time): Account {
  const { content, scope } = claim;
  const own = timedOf(content);
  const unread = content.unread === undefined || content.unread.length === 0 ? undefined : new Set(content.unread);
  const keeps = (prefix: string) => (field: string) =>
    scope.fields === 'partial' || unread?.has(prefix + field) === true;
  const timed = known === undefined ? own : withOlder(own, time, known, known.time, keeps(''));
  const lists: { [Name in ListName]?: ElementList } = {};
  for (const name of listNames) {
    const list = listAfter(name, known?.lists[name], claim, time, keeps);
    if (list !== undefined) lists[name] = list;
  }
  return { ...timed, time, lists };
}

/** Values that the connector fills in for missing keys apply only where nothing was ever said. */
function timedOf({ values, assumed }: Content): Timed {
  const filledIn = Object.entries(assumed ?? {}).filter(([field]) => !(field in values));
  if (filledIn.length === 0) return { values };
  return {
    values: { ...values, ...Object.fromEntries(filledIn) },
    at: Object.fromEntries(filledIn.map(([field]) => [field, never])),
  };
}

export const timeOf = ({ at, values }: Timed, field: string, otherwise: Time): Time =>
  isRawOnly(values, field) ? unreadable : (at?.[field] ?? otherwise);

/** Whether a message's silence about a field keeps the older value. A value that could not be read is not silence. */
type Keeps = (field: string) => boolean;

/** The newer values, with fields that only the older message had: kept with their time, or cleared as of the newer message. */
function withOlder(newer: Timed, newerAt: Time, older: Timed, olderAt: Time, keeps: Keeps): Timed {
  const stated = fieldsSaid(newer.values);
  const values: { [field: string]: Values[string] } = { ...newer.values };
  const at: { [field: string]: Time } = { ...newer.at };
  for (const field of fieldsSaid(older.values)) {
    const olderMoment = timeOf(older, field, olderAt);
    if (!keeps(field) && !isRawOnly(newer.values, field)) {
      if (!stated.has(field)) values[field] = null;
      continue;
    }
    if (stated.has(field) && !isNewer(olderMoment, timeOf(newer, field, newerAt))) continue;
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

function listAfter(
  name: ListName,
  known: ElementList | undefined,
  { content, scope, isPerson, at: statedAt }: Claim,
  time: Time,
  keeps: (prefix: string) => Keeps,
): ElementList | undefined {
  const own = content.lists[name];
  const prior = known?.items ?? [];
  const isWhole = scope.lists === 'full' && !isPerson;
  if (own === undefined) {
    if (known === undefined || keeps('')(name) || !isWhole) return known;
    return { at: time, items: prior.map((item) => leaving(item, known.at, time)) };
  }
  const places = placesIn(name, prior, own);
  const joined = own.map((item, index) => {
    const before = prior[places[index] ?? -1];
    const keepsOwn = keeps(`${name}.${index}.`);
    const after = restated(before, before && (before.since ?? known?.at ?? never), item, time, statedAt, keepsOwn);
    if (isWhole) return after;
    if (!isPerson) return { ...after, since: time };
    // A person is mentioned: whether the booking has the element is what its lists say.
    return { ...after, since: time, ...((before === undefined || before.gone) && { gone: before?.gone ?? never }) };
  });
  const taken = new Map(places.flatMap((place, index) => (place === undefined ? [] : [[place, index] as const])));
  if (isWhole) {
    const left = prior.flatMap((item, place) => (taken.has(place) ? [] : [leaving(item, known?.at, time)]));
    return { at: time, items: left.length === 0 ? joined : [...joined, ...left] };
  }
  const items = prior.map((item, place) => joined[taken.get(place) ?? -1] ?? item);
  for (const [index, item] of joined.entries()) if (places[index] === undefined) items.push(item);
  return { ...(known?.at && { at: known.at }), items };
}

/** What was said about an element that the list lacks now stays as old as it was. */
const leaving = (item: Element, listAt: Time | undefined, time: Time): Element =>
  item.gone === undefined ? { ...item, since: item.since ?? listAt ?? time, gone: time } : item;

/** An element after one more statement about it. */
function restated(
  before: Element | undefined,
  beforeAt: Time | undefined,
  item: ContentItem,
  time: Time,
  statedAt: Time,
  keeps: Keeps,
): Element {
  const timed = before === undefined ? item : withOlder(item, time, before, beforeAt ?? never, keeps);
  const mentions = mentioned(before?.mentions, item, timed.values, time, statedAt);
  const key = item.key ?? before?.key;
  const as = item.as ?? before?.as;
  return {
    values: timed.values,
    ...(timed.at && { at: timed.at }),
    ...(mentions && { mentions }),
    ...(key !== undefined && { key }),
    ...(as !== undefined && { as }),
  };
}

/** For each of a source's new elements its place among those it named before; those that are gone are found by what identifies them. */
function placesIn(
  name: ListName,
  prior: readonly Element[],
  items: readonly ContentItem[],
): readonly (number | undefined)[] {
  const here = prior.flatMap(({ gone }, place) => (gone === undefined ? [place] : []));
  const at = (places: readonly number[]) => places.map((place) => identityOf(prior[place] as Element));
  const places = matchItems(name, at(here), items.map(identityOf), true).map((place) => here[place ?? -1]);
  if (here.length === prior.length) return places;
  const away = prior.flatMap(({ gone }, place) => (gone === undefined ? [] : [place]));
  const open = places.flatMap((place, index) => (place === undefined ? [index] : []));
  const back = matchItems(
    name,
    at(away),
    open.map((index) => identityOf(items[index] as ContentItem)),
    true,
    [...at(here), ...items.map(identityOf)],
  );
  for (const [n, place] of back.entries()) if (place !== undefined) places[open[n] as number] = away[place];
  return places;
}

export function identityOf({ values, key, as }: ContentItem): ItemIdentity {
  return { key, looks: [as === undefined ? [values] : [values, as]] };
}
