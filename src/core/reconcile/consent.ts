import type { EpochMs } from '../../terms.ts';
import type { ContentItem, Source, Time, Values } from './content.ts';

/** What one source states about a person's consent, and since when. Null: the source states that it is unknown. */
export interface ConsentStatement {
  readonly value: boolean | null;
  /** When the source began to state this. */
  readonly at: EpochMs;
  /** When it last did; absent if it stated it once. */
  readonly until?: EpochMs;
  /** When the same source last said no, before this. */
  readonly saidNo?: EpochMs;
  /** A statement about consent, by the guest or with a date of its own; not a booking that repeats what it was made with. */
  readonly isOwn?: true;
}

/** Whether a person agrees to marketing: true, false, or unknown (absent), with the statements of all sources. */
export interface Consent extends ConsentStatement {
  readonly source: Source;
  /** The booking about which the source said it; absent for a statement about the person. */
  readonly booking?: string | undefined;
  /** The other statements, by source and booking. */
  readonly others?: Statements;
  /** The last statement of the guest's own events. It also counts for bookings that are older and arrive later. */
  readonly own?: { readonly value: boolean | null; readonly source: Source; readonly at: EpochMs };
}

/** By source, or source and booking: a partner copies what it knows into each booking, so a yes in one is no answer to a no in another. */
type Statements = { readonly [key: string]: ConsentStatement };
type Said = readonly [key: string, statement: ConsentStatement];

const keyOf = ({ source, booking }: Pick<Consent, 'source' | 'booking'>): string =>
  booking === undefined ? source : `${source} ${booking}`;

function fromKey(key: string): Pick<Consent, 'source' | 'booking'> {
  const [source = '', booking] = key.split(/ (.*)/s);
  return { source: source as Source, ...(booking !== undefined && { booking }) };
}

/** A guest's own events come by the same feed as those about bookings. */
const feedIn = (key: string): Source => {
  const { source } = fromKey(key);
  return source === 'guest' ? 'push' : source;
};

/** What these sources say of a person is said of all bookings. */
const isOfPerson = (source: Source): boolean => source === 'guest' || source.startsWith('destination:');

/** The consent that the sources of a booking make, as a statement about that booking among those about the person. */
export function ofBooking({ source, booking: _, others = {}, ...consent }: Consent, id: string): Consent {
  const about = (of: Source) => ({ source: of, ...(!isOfPerson(of) && { booking: id }) });
  const rest = Object.entries(others).map(([key, one]) => [keyOf(about(fromKey(key).source)), one] as const);
  return { ...about(source), ...consent, ...(rest.length > 0 && { others: Object.fromEntries(rest) }) };
}

/** Sources of a consent, the one that decided first. */
export const statedBySources = ({
  others = {},
  ...decided
}: Consent): readonly Pick<Consent, 'source' | 'value' | 'at'>[] => [
  decided,
  ...Object.entries(others).map(([key, { value, at }]) => ({ source: fromKey(key).source, value, at })),
];

/** Statements about more bookings than these are forgotten, the oldest first, except the newest no. */
const mostBookings = 60;

const lastOf = ({ at, until = at }: ConsentStatement): EpochMs => until;

/**
 * The one rule of consent. A no of any source stands until a yes that is later and either is a statement about consent or comes from a
 * source that had said no before, about whichever booking. A yes is as old as its first mention about its booking, a no as its last. So the
 * first poll of a list, a repeated row or a replayed event subscribes nobody again. Without a no the newest statement counts.
 */
function standing(all: readonly Said[]): Said | undefined {
  const noAt = Math.max(...all.map(([, one]) => (one.value === false ? lastOf(one) : (one.saidNo ?? -Infinity))));
  const saidNoBefore = (key: string, yesAt: EpochMs) =>
    all.some(
      ([other, { value, at, saidNo = Infinity }]) =>
        feedIn(other) === feedIn(key) && (value === false ? at : saidNo) < yesAt,
    );
  const counts = ([key, { value, at, isOwn }]: Said) =>
    value !== true || noAt === -Infinity || (at > noAt && (isOwn === true || saidNoBefore(key, at)));
  const hasNo = all.some(([, { value }]) => value === false);
  const counting = all.filter(counts).filter(([, { value }]) => !hasNo || value !== null);
  const from = ([, one]: Said) => (one.value === true ? one.at : lastOf(one));
  const refusalFirst = (a: Said, b: Said) => Number(b[1].value === false) - Number(a[1].value === false);
  const newest = counting.toSorted((a, b) => from(b) - from(a) || refusalFirst(a, b))[0];
  if (newest !== undefined) return newest;
  // Nothing counts: a yes after a no that its own source has taken back. The consent is unknown.
  const [first] = all.toSorted((a, b) => lastOf(b[1]) - lastOf(a[1]));
  return first && [first[0], { ...first[1], value: null }];
}

/** The consent that these statements of different sources make. */
export function consentOf(statements: Statements, own?: Consent['own']): Consent | undefined {
  const all = newestFew(Object.entries(statements));
  const chosen = standing(all);
  if (chosen === undefined) return undefined;
  const [key, statement] = chosen;
  const others = all.filter(([name]) => name !== key);
  return {
    ...fromKey(key),
    ...statement,
    ...(others.length > 0 && { others: Object.fromEntries(others) }),
    ...(own && { own }),
  };
}

function newestFew(all: readonly Said[]): readonly Said[] {
  if (all.length <= mostBookings) return all;
  const byTime = all.toSorted(([, a], [, b]) => lastOf(b) - lastOf(a));
  const no = byTime.find(([, { value }]) => value === false);
  return [...new Set([...byTime.slice(0, mostBookings), ...(no ? [no] : [])])];
}

/** Both, in either order of arrival. The same object if nothing is new. */
export function newerConsent(known: Consent | undefined, other: Consent | undefined): Consent | undefined {
  if (known === undefined || other === undefined) return known ?? other;
  const statements: { [key: string]: ConsentStatement } = statementsOf(known);
  for (const [key, statement] of Object.entries(statementsOf(other))) {
    const before = statements[key];
    statements[key] = before === undefined ? statement : continued(before, statement);
  }
  const made = consentOf(statements, newerOwn(known.own, other.own));
  return made === undefined || JSON.stringify(made) === JSON.stringify(known) ? known : made;
}

function statementsOf({ source, booking, others, own: _, ...statement }: Consent): { [key: string]: ConsentStatement } {
  return { ...others, [keyOf({ source, booking })]: statement };
}

/** What is left of a consent when the guest's own event of this time is read again. */
export function withoutOwn(consent: Consent | undefined, at: EpochMs): Consent | undefined {
  if (consent === undefined) return undefined;
  const { guest, ...statements } = statementsOf(consent);
  const own = consent.own?.at === at ? undefined : consent.own;
  if (guest === undefined || lastOf(guest) !== at)
    return own === consent.own ? consent : consentOf(statementsOf(consent), own);
  const before = guest.saidNo === undefined ? {} : { guest: { value: false, at: guest.saidNo, isOwn: true } as const };
  return consentOf({ ...statements, ...before }, own);
}

/** Two statements of one source. The rows of one page have one time: there a refusal wins. */
function continued(a: ConsentStatement, b: ConsentStatement): ConsentStatement {
  const [older, newer] = lastOf(a) < lastOf(b) || (lastOf(a) === lastOf(b) && b.value === false) ? [a, b] : [b, a];
  const isSame = older.value === newer.value;
  const noBefore = !isSame && older.value === false && lastOf(older) < lastOf(newer) ? lastOf(older) : undefined;
  const saidNo = latest(older.saidNo, newer.saidNo, noBefore);
  // A mention from before the no belongs to an earlier yes.
  const isOfRun = (at: EpochMs) => newer.value === false || saidNo === undefined || at > saidNo;
  const mentions = [newer.at, lastOf(newer), ...(isSame ? [older.at, lastOf(older)] : [])].filter(isOfRun);
  const at = Math.min(...(isSame || lastOf(older) < newer.at ? mentions : [lastOf(newer)]));
  const isOwn = newer.isOwn || (isSame && older.isOwn);
  return {
    value: newer.value,
    at,
    ...(lastOf(newer) > at && { until: lastOf(newer) }),
    ...(saidNo !== undefined && { saidNo }),
    ...(isOwn && { isOwn }),
  };
}

const latest = (...times: (EpochMs | undefined)[]): EpochMs | undefined => {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
};

function newerOwn(known: Consent['own'], other: Consent['own']): Consent['own'] {
  if (known === undefined || other === undefined) return known ?? other;
  return other.at > known.at || (other.at === known.at && other.value === false) ? other : known;
}

/** A run of statements of one source about one guest that say the same. A new mention is a change of its mind. */
export interface Mention {
  /** Null: that it is unknown. */
  readonly value: boolean | null;
  readonly since: EpochMs;
  readonly until: EpochMs;
  readonly isOwn?: true | undefined;
}

const field = 'marketing_consent';

/**
 * A source's mentions after one more statement: what it states about the guest, and what that leaves of its values (a field that it clears
 * is stated to be empty). `time`: when the statement counts, `statedAt`: when it was made.
 */
export function mentioned(
  known: readonly Mention[] | undefined,
  { values, at, isOwn }: ContentItem,
  after: Values,
  time: Time,
  statedAt: Time,
): readonly Mention[] | undefined {
  const value = (after[field] ?? null) as boolean | null;
  const last = known?.at(-1);
  if (values[field] === undefined && (last === undefined || value === last.value)) return known;
  const [since] = at?.[field] ?? statedAt;
  const until = at?.[field] === undefined ? time[0] : since;
  if (last === undefined || last.value !== value)
    return [...(known ?? []), { value, since, until, ...(isOwn && { isOwn }) }];
  const own = (isOwn ?? last.isOwn) && { isOwn: true as const };
  return [...(known as Mention[]).slice(0, -1), { ...last, until: Math.max(last.until, until), ...own }];
}

/** The statement of a source about a guest; undefined if it states nothing. */
export function consentIn(mentions: readonly Mention[] = []): ConsentStatement | undefined {
  const last = mentions.at(-1);
  if (last === undefined) return undefined;
  const { value, since, until, isOwn } = last;
  const at = value === null ? until : since;
  const no = mentions.slice(0, -1).findLast((one) => one.value === false);
  return {
    value,
    at,
    ...(until > at && { until }),
    ...(no && { saidNo: no.until }),
    ...(isOwn && { isOwn }),
  };
}
