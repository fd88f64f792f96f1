import type { ListName } from '../canonical/fields.ts';
import { fold, identityOf, timeOf } from './account.ts';
import { type Account, type Accounts, type Claim, type Claims, countedAt } from './claim.ts';
import { contentsSame } from './claims.ts';
import {
  type Content,
  type ContentItem,
  groupOf,
  isEnded,
  isNewer,
  listNames,
  never,
  type Source,
  type Time,
  type Values,
} from './content.ts';
import { isEqual } from './difference.ts';
import { matchItems } from './match-items.ts';

/**
 * Values of one path that do not count: held until somebody decides, or refused. Claims stay as they were made; folding them leaves out what
 * is in quarantine. So a release is a fold without it, and newer claims win by their times.
 */
export interface Quarantined {
  readonly hold: string;
  /** `ended`: a newer value counts; the claims up to `until` go on not counting. */
  readonly state: 'held' | 'refused' | 'ended';
  /** Whose claims are held. A refused value does not count from any source. */
  readonly source: Source;
  /** Canonical, such as total_amount or guests.email; empty for everything that a claim says. */
  readonly path: string;
  /** The oldest claim that it concerns. */
  readonly at: Time;
  readonly until?: Time | undefined;
  /** The list did not show the booking. A row that shows it is judged afresh, also if it says the same. */
  readonly isAbsence?: true | undefined;
  readonly content: Content;
}

/** A value of the partner that must not count now. */
export interface HeldPath {
  readonly hold: string;
  /** Canonical, such as guests.email; empty for the whole statement. */
  readonly path: string;
}

/** What kept a claim from counting whole. */
export interface Blocked {
  readonly by: Quarantined;
  readonly claim: Claim;
}

export interface Folded {
  readonly accounts: Accounts;
  readonly blocked: readonly Blocked[];
}

/** The accounts that the claims make without what is in quarantine. */
export function foldAll(claims: Claims, quarantine: readonly Quarantined[], lagMs: number): Folded {
  const accounts: { [Name in Source]?: Account } = {};
  const blocked: Blocked[] = [];
  const add = (source: Source, log: readonly Claim[] = []) => {
    const own = quarantine.filter((one) => one.state === 'refused' || one.source === source);
    const reduced = (claim: Claim, known: Account | undefined) =>
      own.reduce<Claim | undefined>((left, by) => {
        const less = left && without(left, known, by, source);
        if (less !== left) blocked.push({ by, claim });
        return less;
      }, claim);
    const account = fold(log, lagOf(source, lagMs), own.length === 0 ? undefined : reduced);
    if (account !== undefined) accounts[source] = account;
  };
  const { guest, ...others } = claims;
  for (const [source, log] of Object.entries(others) as [Source, readonly Claim[]][]) add(source, log);
  const ended = endedAt(accounts);
  if (guest !== undefined) add('guest', sleeping(ofMembers(partedAt(guest, ended), others), ended));
  return { accounts, blocked };
}

/** Since when the booking is cancelled; undefined if it is not. */
function endedAt(accounts: Accounts): Time | undefined {
  const stated = Object.values(accounts).flatMap((account): { status: unknown; at: Time }[] =>
    account?.values.status === undefined
      ? []
      : [{ status: account.values.status, at: timeOf(account, 'status', account.time) }],
  );
  const newest = stated.reduce((best, one) => (isNewer(one.at, best.at) ? one : best), { status: null, at: never } as {
    status: unknown;
    at: Time;
  });
  return isEnded(newest.status) ? newest.at : undefined;
}

const partnersSources: readonly Source[] = ['pull', 'single', 'push'];

/**
 * A guest's event is about the bookings that the guest has by then: it does not count in one in which nobody had named the guest before, whichever
 * of the two arrives first. A withdrawal that the guest has not taken back counts anyhow.
 */
function ofMembers(log: readonly Claim[], others: Claims): readonly Claim[] {
  const named = partnersSources.flatMap((source) =>
    (others[source] ?? []).flatMap(({ at, content, base }) => [
      { at: base ? never : at, items: base?.lists.guests?.items ?? content.lists.guests ?? [] },
    ]),
  );
  const isOneOf = (items: readonly ContentItem[], item: ContentItem) =>
    matchItems('guests', items.map(identityOf), [identityOf(item)], false, [])[0] !== undefined;
  const known: ContentItem[] = [];
  return log.map((claim, place) => {
    // Said again until then, unless a late claim came in between.
    const isRepeated =
      claim.seen !== undefined && !log.slice(place + 1).some(({ at }) => isNewer(claim.seen ?? at, at));
    const saidAt = isRepeated ? (claim.seen ?? claim.at) : claim.at;
    const then = [...known, ...named.flatMap(({ at, items }) => (isNewer(at, saidAt) ? [] : items))];
    const agreed = log.slice(place + 1).flatMap(({ content }) => content.lists.guests?.filter(isAgreement) ?? []);
    const guests = claim.content.lists.guests?.map((item) => {
      if (!isOneOf(then, item)) return isOneOf(agreed, item) ? { ...item, values: {} } : onlyWithdrawal(item);
      known.push(item);
      return item;
    });
    return { ...claim, content: { values: {}, lists: { ...(guests && { guests }) } } };
  });
}

const isAgreement = ({ values }: ContentItem): boolean => values.marketing_consent === true;

const onlyWithdrawal = (item: ContentItem): ContentItem => ({
  ...item,
  values: item.values.marketing_consent === false ? { marketing_consent: false } : {},
});

/** What a guest repeats after the booking was cancelled is a statement of its own. */
const partedAt = (log: readonly Claim[], ended: Time | undefined): readonly Claim[] =>
  log.flatMap((claim) => {
    const { at, seen, ...said } = claim;
    const isParted = ended !== undefined && seen !== undefined && !isNewer(at, ended) && isNewer(seen, ended);
    return isParted
      ? [
          { ...said, at },
          { ...said, at: seen },
        ]
      : [claim];
  });

/** What a guest says does not change a cancelled booking; it counts when the booking is reinstated. A withdrawal counts at once. */
function sleeping(log: readonly Claim[], ended: Time | undefined): readonly Claim[] {
  if (ended === undefined) return log;
  return log.map((claim) => {
    if (!isNewer(claim.at, ended)) return claim;
    const guests = claim.content.lists.guests?.map(onlyWithdrawal);
    return { ...claim, content: { values: {}, lists: { ...(guests && { guests }) } } };
  });
}

/** Only lists are cached: an event that is sent again is a statement. */
export const lagOf = (source: Source, lagMs: number): number => (source === 'pull' ? lagMs : 0);

export const isListName = (name: string | undefined): name is ListName => listNames.some((one) => one === name);

/** Days of arrival and departure, and an amount with its currency, are one value. */
const oneValue: readonly (readonly string[])[] = [
  ['check_in', 'check_out'],
  ['start_date', 'end_date'],
  ['total_amount', 'currency'],
];

export const togetherWith = (field: string): readonly string[] =>
  oneValue.find((all) => all.includes(field)) ?? [field];

/** A claim that only says that the partner's list no longer shows the booking. */
const isAbsence = ({ scope }: Claim, source: Source): boolean => source === 'pull' && scope.fields === 'partial';

function concerns({ state, source: of, at, until, isAbsence: isOfAbsence }: Quarantined, claim: Claim, source: Source) {
  // A message of the same time is the same one, delivered again.
  if (isNewer(at, claim.at) || (until !== undefined && (claim.seen ?? claim.at)[0] > until[0])) return false;
  return (state === 'refused' || of === source) && (isOfAbsence !== true || isAbsence(claim, source));
}

/** The claim without these values, as if they could not be read; the same claim if it does not have them. */
function without(claim: Claim, known: Account | undefined, by: Quarantined, source: Source): Claim | undefined {
  if (!concerns(by, claim, source)) return claim;
  const { content } = claim;
  const [first, field] = by.path.split(/\.(.*)/s);
  if (by.path === '') return contentsSame(content, by.content) ? undefined : claim;
  if (!isListName(first)) {
    const values = valuesWithout(content.values, known?.values, by.content.values, by.path, claim);
    return values === undefined
      ? claim
      : { ...claim, content: { ...unreadable(content, fieldsOf(by.content.values)), values } };
  }
  const items = content.lists[first];
  const refused = by.content.lists[first] ?? [];
  if (field === undefined) {
    if (items === undefined && (claim.scope.fields === 'partial' || known?.lists[first] === undefined)) return claim;
    if (!isEqual(plain(items ?? []), plain(refused))) return claim;
    const { [first]: _, ...lists } = content.lists;
    return { ...claim, content: { ...unreadable(content, [first]), lists } };
  }
  if (items === undefined) return claim;
  const isOneSource = by.source === source;
  const places = matchItems(first, items.map(identityOf), refused.map(identityOf), isOneSource);
  const before = known?.lists[first]?.items ?? [];
  const knownPlaces = matchItems(first, before.map(identityOf), items.map(identityOf), true);
  let [own, unread] = [items, [] as string[]];
  for (const [n, place] of places.entries()) {
    const item = items[place ?? -1];
    if (place === undefined || item === undefined) continue;
    const was = before[knownPlaces[place] ?? -1]?.values;
    const values = valuesWithout(item.values, was, (refused[n] as ContentItem).values, field, claim);
    if (values === undefined) continue;
    own = own.with(place, { ...item, values });
    unread = [...unread, ...fieldsOf((refused[n] as ContentItem).values).map((one) => `${first}.${place}.${one}`)];
  }
  if (unread.length === 0) return claim;
  return { ...claim, content: { ...unreadable(content, unread), lists: { ...content.lists, [first]: own } } };
}

const unreadable = (content: Content, fields: readonly string[]): Content => ({
  ...content,
  unread: [...(content.unread ?? []), ...fields],
});

const plain = (items: readonly ContentItem[]) => items.map(({ values }) => values);

/** The fields of a quarantined value, without those that follow another one. */
const fieldsOf = (values: Values): string[] => Object.keys(values).filter((field) => groupOf(field).length >= 1);

/**
 * The values without these, if all of them that are stated are equal; a field that a complete message lacks is stated to be empty. A currency
 * without its amount repeats no amount.
 */
function valuesWithout(
  values: Values,
  known: Values | undefined,
  refused: Values,
  main: string,
  { scope }: Claim,
): Values | undefined {
  const clears = scope.fields === 'full';
  const isStated = (field: string) => values[field] !== undefined || (clears && known?.[field] !== undefined);
  const stated = Object.keys(refused).filter(isStated);
  if (stated.length === 0 || (main in refused && !stated.includes(main))) return undefined;
  if (!stated.every((field) => isEqual(values[field] ?? null, refused[field] ?? null))) return undefined;
  return Object.fromEntries(Object.entries(values).filter(([field]) => !(field in refused)));
}

/**
 * What to put into quarantine of a claim whose value of a path is held: what differs from `draft`, the booking as it counts without the
 * claim. Elements that the booking does not have are new: they pass.
 */
export function quarantinedOf(
  { hold, path }: HeldPath,
  claim: Claim,
  source: Source,
  known: Account | undefined,
  draft: Values | undefined,
): Quarantined | undefined {
  const as = {
    hold,
    state: 'held',
    source,
    path,
    at: claim.at,
    ...(isAbsence(claim, source) && { isAbsence: true as const }),
  } as const;
  const { content, scope } = claim;
  if (path === '' || draft === undefined) return { ...as, path: '', content };
  const [first, field] = path.split(/\.(.*)/s);
  if (!isListName(first)) {
    const clears = (one: string) => scope.fields === 'full' && known?.values[one] !== undefined;
    const stated = togetherWith(path).filter((one) => content.values[one] !== undefined || clears(one));
    if (stated.length === 0) return undefined;
    const values = statedIn(content.values, stated);
    if (stated.every((one) => isEqual(content.values[one] ?? null, draft[one] ?? null))) return undefined;
    return { ...as, content: { values, lists: {} } };
  }
  const items = content.lists[first];
  const before = (draft[first] ?? []) as unknown as readonly Values[];
  const ofList = (): Quarantined | undefined =>
    items === undefined && scope.fields === 'partial'
      ? undefined
      : { ...as, path: first, content: { values: {}, lists: { [first]: items ?? [] } } };
  if (field === undefined) return isEqual(plain(items ?? []), before) ? undefined : ofList();
  if (items === undefined) return undefined;
  const identities = before.map((values) => identityOf({ values }));
  const places = matchItems(first, identities, items.map(identityOf), false);
  const held = items.flatMap((item, index): ContentItem[] => {
    const was = before[places[index] ?? -1];
    if (was === undefined) return [];
    const stated = togetherWith(field).filter((one) => item.values[one] !== undefined || scope.fields === 'full');
    if (stated.every((one) => isEqual(item.values[one] ?? null, was[one] ?? null))) return [];
    const { key, as: alias } = item;
    return [
      { values: statedIn(item.values, stated), as: { ...(alias ?? {}), ...item.values, ...was }, ...(key && { key }) },
    ];
  });
  // Other elements instead of those before, such as the guests of another booking: then the list is what changed.
  if (held.length === 0) return before.length > 0 && places.includes(undefined) ? ofList() : undefined;
  return { ...as, content: { values: {}, lists: { [first]: held } } };
}

/** The stated fields with those that follow them; null for one that is cleared. */
const statedIn = (values: Values, stated: readonly string[]): Values =>
  Object.fromEntries(
    stated
      .flatMap(groupOf)
      .flatMap((one) => (values[one] === undefined && !stated.includes(one) ? [] : [[one, values[one] ?? null]])),
  );

/**
 * The quarantine after a fold: what no claim states any more is forgotten, unless it is refused; what a newer value has replaced has ended.
 * A list's silence replaces no value of an event.
 */
export function quarantineAfter(
  quarantine: readonly Quarantined[],
  { accounts, blocked }: Folded,
  lagMs: number,
): readonly Quarantined[] {
  return quarantine.flatMap((one): Quarantined[] => {
    if (one.state === 'refused') return [one];
    const last = blocked.findLast(({ by }) => by === one)?.claim;
    if (last === undefined) return [];
    if (one.state === 'ended' || !isReplaced(one, countedAt(last, lagOf(one.source, lagMs)), accounts)) return [one];
    return [{ ...one, state: 'ended', until: last.seen ?? last.at }];
  });
}

function isReplaced({ source: own, path, content }: Quarantined, blockedAt: Time, accounts: Accounts): boolean {
  const [first, field] = path.split(/\.(.*)/s);
  return (Object.entries(accounts) as [Source, Account][]).some(([source, account]) => {
    const counts = (value: unknown) => (source === own ? value !== undefined : (value ?? null) !== null);
    const isLater = (at: Time) => isNewer(at, blockedAt);
    if (path === '') return source === own && isLater(account.time);
    if (!isListName(first)) return counts(account.values[path]) && isLater(timeOf(account, path, account.time));
    const list = account.lists[first];
    if (list === undefined) return false;
    if (field === undefined) return source === own && list.at !== undefined && isLater(list.at);
    // What a guest said is about a person whom other sources list.
    const here = list.items.filter(({ gone }) => gone === undefined || !isNewer(gone, never));
    const places = matchItems(
      first,
      here.map(identityOf),
      (content.lists[first] ?? []).map(identityOf),
      source === own,
    );
    return places.every((place) => {
      const item = here[place ?? -1];
      return item && counts(item.values[field]) && isLater(timeOf(item, field, item.since ?? list.at ?? never));
    });
  });
}
