import type { Json } from '../../terms.ts';
import type { ListName } from '../canonical/fields.ts';
import type { Reservation } from '../canonical/reservation.ts';
import type { Accounts, Claim, Claims } from './claim.ts';
import type { Consent } from './consent.ts';
import {
  type Content,
  type ContentItem,
  contentOf,
  type FieldTimes,
  type ItemIds,
  listNames,
  type Source,
  type Time,
  type Values,
} from './content.ts';
import { isEqual } from './difference.ts';
import { merge } from './merge.ts';
import { foldAll, type Quarantined } from './quarantine.ts';

/**
 * The claims of a record as they are stored beside it. Most bookings have one source, whose newest claim is the record itself: then only its
 * time and its empty fields are stored; for a pulled row without empty fields, nothing. Each older claim is stored as what differs from the
 * next one.
 */
export type StoredClaims = { readonly [Name in Source]?: readonly StoredClaim[] | undefined } & {
  /** Of a guest's profile, which has no claims. */
  readonly consent?: Consent | undefined;
  /** Of a profile: when its fields were stated, unless at the profile's own time. */
  readonly times?: FieldTimes | undefined;
  readonly quarantine?: readonly Quarantined[] | undefined;
};

/** The newest claim of a source is the first. */
type StoredClaim = Pick<Claim, 'at' | 'seen' | 'isPerson' | 'base'> & {
  /** How it treats missing fields, unless `full`. */
  readonly fields?: 'partial';
  readonly elements?: 'partial';
} & (AsRecord | AsChanged);

/** The claim says what the record says. */
interface AsRecord {
  /** Fields stated to be empty, such as channel or guests.0.phone. */
  readonly none?: readonly string[] | undefined;
  readonly ids?: ItemIds | undefined;
}

/** What the claim says unlike the next one of its source; of the newest, all that it says. */
type AsChanged = Partial<Pick<Content, 'assumed' | 'unread'>> & {
  readonly values: Values;
  /** Fields that the next claim states and this one does not. */
  readonly less?: readonly string[] | undefined;
  /** Null: the next claim states this list, and this one does not. */
  readonly lists?: { readonly [Name in ListName]?: readonly ContentItem[] | null } | undefined;
};

/** `isRecord`: the newest claim of the only source is what the record says. */
export function storedClaims(
  claims: Claims,
  isRecord: boolean,
  quarantine: readonly Quarantined[] = [],
): StoredClaims | undefined {
  const sources = Object.entries(claims) as [Source, readonly Claim[]][];
  const [only] = sources;
  const plainly = isRecord && sources.length === 1 && only !== undefined;
  const stored = Object.fromEntries(sources.map(([source, log]) => [source, logOf(log, plainly)]));
  const [newest, ...older] = plainly ? (stored[only[0]] as StoredClaim[]) : [];
  const isBare = newest !== undefined && older.length === 0 && Object.keys(newest).join() === 'at';
  if (isBare && only?.[0] === 'pull' && quarantine.length === 0) return undefined;
  return quarantine.length === 0 ? stored : { ...stored, quarantine };
}

function logOf(log: readonly Claim[], isRecord: boolean): StoredClaim[] {
  return log
    .map((claim, n): StoredClaim => {
      const { at, seen, isPerson, base, scope, content } = claim;
      const next = log[n + 1];
      const about = {
        at,
        ...(seen && { seen }),
        ...(isPerson && { isPerson }),
        ...(base && { base }),
        ...(scope.fields === 'partial' && { fields: scope.fields }),
        ...(scope.lists === 'partial' && { elements: scope.lists }),
      };
      if (next !== undefined) return { ...about, ...changedFrom(next.content, content) };
      return { ...about, ...(isRecord ? asRecord(content) : whole(content)) };
    })
    .reverse();
}

function asRecord(content: Content): AsRecord {
  const [none, ids] = [emptiesOf(content), idsIn(content)];
  return { ...(none.length > 0 && { none }), ...(ids && { ids }) };
}

const whole = ({ values, lists, assumed, unread }: Content): AsChanged => ({
  values,
  ...(Object.keys(lists).length > 0 && { lists: lists as AsChanged['lists'] }),
  ...(assumed && { assumed }),
  ...(unread && { unread }),
});

function changedFrom(next: Content, { values, lists, assumed, unread }: Content): AsChanged {
  const changed = Object.entries(values).filter(([field, value]) => !isEqual(value, next.values[field]));
  const less = Object.keys(next.values).filter((field) => !(field in values));
  const others = listNames.flatMap((name) =>
    isEqual(lists[name], next.lists[name]) ? [] : [[name, lists[name] ?? null] as const],
  );
  return {
    values: Object.fromEntries(changed),
    ...(less.length > 0 && { less }),
    ...(others.length > 0 && { lists: Object.fromEntries(others) }),
    ...(assumed && { assumed }),
    ...(unread && { unread }),
  };
}

function grownFrom(next: Content, { values, less = [], lists: own = {}, assumed, unread }: AsChanged): Content {
  const kept = Object.entries(next.values).filter(([field]) => !less.includes(field));
  const lists: { [Name in ListName]?: readonly ContentItem[] } = {};
  for (const name of listNames) {
    const items = own[name] === undefined ? next.lists[name] : (own[name] ?? undefined);
    if (items !== undefined) lists[name] = items;
  }
  const content = { values: { ...Object.fromEntries(kept), ...values }, lists };
  return { ...content, ...(assumed && { assumed }), ...(unread && { unread }) };
}

export function readClaims(stored: StoredClaims | undefined, record: Reservation, time: Time): Claims {
  if (stored === undefined) {
    return { pull: [{ at: time, scope: { fields: 'full', lists: 'full' }, content: recordContent(record, {}) }] };
  }
  const claims: { [Name in Source]?: readonly Claim[] } = {};
  for (const [source, log] of sourcesIn(stored)) {
    let next: Content = { values: {}, lists: {} };
    const read = log.map((stored): Claim => {
      const { at, seen, isPerson, base, fields = 'full', elements = 'full' } = stored;
      next = 'values' in stored ? grownFrom(next, stored) : recordContent(record, stored);
      return {
        at,
        scope: { fields, lists: elements },
        content: next,
        ...(seen && { seen }),
        ...(isPerson && { isPerson }),
        ...(base && { base }),
      };
    });
    claims[source] = read.reverse();
  }
  return claims;
}

const sourcesIn = ({ consent: _, times: __, quarantine: ___, ...logs }: StoredClaims) =>
  Object.entries(logs) as [Source, readonly StoredClaim[]][];

/** Whether the record itself is the newest claim of its only source. */
export const isRecordClaim = (stored: StoredClaims | undefined): boolean =>
  stored === undefined || sourcesIn(stored).some(([, [newest]]) => newest !== undefined && !('values' in newest));

export const accountsOf = (stored: StoredClaims | undefined, record: Reservation, time: Time): Accounts =>
  foldAll(readClaims(stored, record, time), stored?.quarantine ?? [], 0).accounts;

/**
 * The consent of each guest of a stored reservation, by position. Rules may have changed its value. `ownOnly`: what the booking's sources say,
 * without what was decided about the person by other bookings.
 */
export function consentsIn(
  record: Reservation,
  stored: StoredClaims | undefined,
  time: Time,
  ownOnly = false,
): readonly (Consent | undefined)[] {
  if (!record.guests.some(({ marketing_consent }) => marketing_consent !== undefined)) return [];
  const accounts = accountsOf(stored, record, time);
  const isDecided = accounts.profile !== undefined;
  const { consents } = merge(ownOnly ? { ...accounts, profile: undefined } : accounts);
  if (ownOnly && isDecided) return consents;
  return record.guests.map(({ marketing_consent: value }, index) => {
    const stated = consents[index];
    if (value === undefined || stated === undefined) return undefined;
    return stated.value === value ? stated : { value, source: stated.source, at: stated.at };
  });
}

/**
 * The claims of a record whose brand moves to another system. What the old one stated stays as one claim, as if the partner had been asked for
 * the reservation: fields that the new system does not mention keep their values.
 */
export function asEarlierSystem(stored: StoredClaims | undefined, record: Reservation, time: Time): StoredClaims {
  if (isRecordClaim(stored)) return { single: [{ at: time, fields: 'partial' }] };
  const { draft } = merge(accountsOf(stored, record, time));
  const content = recordContent(draft as unknown as Reservation, {});
  return { single: [{ at: time, fields: 'partial', ...whole(content) }] };
}

/** What a claim says that the record is. */
function recordContent(record: Reservation, { none = [], ids }: AsRecord): Content {
  const { values: stated, lists: items } = contentOf(record, undefined, undefined, ids);
  const lists: { [Name in ListName]?: readonly ContentItem[] } = {};
  for (const name of listNames) if (items[name]?.length || none.includes(name)) lists[name] = items[name] ?? [];
  const values: { [field: string]: Json } = { ...stated };
  for (const path of none) {
    const [list, index, ...field] = path.split('.');
    if (listNames.includes(list as ListName) && index !== undefined) {
      const item = lists[list as ListName]?.[Number(index)];
      if (item !== undefined) (item.values as { [field: string]: Json })[field.join('.')] = null;
    } else if (!listNames.includes(path as ListName)) {
      values[path] = null;
    }
  }
  return { values, lists };
}

function idsIn({ lists }: Content): ItemIds | undefined {
  const ids = listNames.flatMap((name) => {
    const items = lists[name] ?? [];
    return items.some(({ key }) => key !== undefined) ? [[name, items.map(({ key }) => key ?? null)] as const] : [];
  });
  return ids.length === 0 ? undefined : Object.fromEntries(ids);
}

function emptiesOf({ values, lists }: Content): string[] {
  const empty = (of: Values) => Object.keys(of).filter((field) => of[field] === null);
  const none = empty(values);
  for (const name of listNames) {
    const items = lists[name];
    if (items?.length === 0) none.push(name);
    for (const [index, item] of items?.entries() ?? [])
      none.push(...empty(item.values).map((field) => `${name}.${index}.${field}`));
  }
  return none;
}

/** Everything that is stored of what the sources said, counting or not, apart from the record itself. */
export function contentsIn(stored: StoredClaims = {}): Content[] {
  const nothing: Content = { values: {}, lists: {} };
  const own = sourcesIn(stored).flatMap(([, log]) =>
    log.flatMap((claim): Content[] => {
      const { base } = claim;
      const folded = base && { values: base.values, lists: listsIn(base.lists) };
      return [...('values' in claim ? [grownFrom(nothing, claim)] : []), ...(folded ? [folded] : [])];
    }),
  );
  return [...own, ...(stored.quarantine ?? []).map(({ content }) => content)];
}

const listsIn = (lists: NonNullable<Claim['base']>['lists']): Content['lists'] =>
  Object.fromEntries(listNames.flatMap((name) => (lists[name] ? [[name, lists[name].items]] : [])));
