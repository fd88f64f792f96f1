import type { EpochMs } from '../terms.ts';
import { isNewer, type Moment, type Source, type Values } from './says.ts';

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
  /** The statements of the other sources. */
  readonly others?: Statements;
  /** The last statement of the guest's own events. It also counts for bookings that are older and arrive later. */
  readonly own?: { readonly value: boolean | null; readonly source: Source; readonly at: EpochMs };
}

type Statements = { readonly [Name in Source]?: ConsentStatement };
type Said = readonly [Source, ConsentStatement];

const lastOf = ({ at, until = at }: ConsentStatement): EpochMs => until;

/**
 * The one rule of consent. A no of any source stands until a yes that is later and either is a statement about consent or comes from a
 * source that had said no before. So the first poll of a list, a repeated row or a replayed event subscribes nobody again. Without a no the
 * newest statement counts: a yes as old as its first mention, a no as of its last.
 */
function standing(all: readonly Said[]): Said | undefined {
  const noAt = Math.max(...all.map(([, one]) => (one.value === false ? lastOf(one) : (one.saidNo ?? -Infinity))));
  const counts = ([, { value, at, isOwn, saidNo }]: Said) =>
    value !== true || noAt === -Infinity || ((isOwn === true || saidNo !== undefined) && at > noAt);
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
  const all = Object.entries(statements) as [Source, ConsentStatement][];
  const chosen = standing(all);
  if (chosen === undefined) return undefined;
  const [source, statement] = chosen;
  const others = all.filter(([name]) => name !== source);
  return {
    source,
    ...statement,
    ...(others.length > 0 && { others: Object.fromEntries(others) }),
    ...(own && { own }),
  };
}

/** Both, in either order of arrival. The same object if nothing is new. */
export function newerConsent(known: Consent | undefined, other: Consent | undefined): Consent | undefined {
  if (known === undefined || other === undefined) return known ?? other;
  const statements: { [Name in Source]?: ConsentStatement } = statementsOf(known);
  for (const [source, statement] of Object.entries(statementsOf(other)) as [Source, ConsentStatement][]) {
    const before = statements[source];
    statements[source] = before === undefined ? statement : continued(before, statement);
  }
  const made = consentOf(statements, newerOwn(known.own, other.own));
  return made === undefined || JSON.stringify(made) === JSON.stringify(known) ? known : made;
}

function statementsOf({ source, others, own: _, ...statement }: Consent): { [Name in Source]?: ConsentStatement } {
  return { ...others, [source]: statement };
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

/** How one source repeated a guest's consent, in a view: since when it says it as it does now, and when it last said no before that. */
export interface ConsentRun {
  readonly since: Moment;
  /** The newest statement of the same source that said otherwise, and the newest that said no. */
  readonly otherwise?: Moment | undefined;
  readonly no?: Moment | undefined;
}

interface Stated {
  readonly values: Values;
  readonly at?: { readonly [field: string]: Moment } | undefined;
  readonly run?: ConsentRun | undefined;
  readonly isOwn?: true | undefined;
}

const field = 'marketing_consent';

const lastStated = ({ values, at }: Stated, otherwise: Moment): Moment | undefined =>
  values[field] === undefined ? undefined : (at?.[field] ?? otherwise);

/** When the consent of an item began to be stated as it is now. */
export const consentSince = (item: Stated, otherwise: Moment): Moment =>
  item.run?.since ?? item.at?.[field] ?? otherwise;

/** The statement in an item of a view; undefined if it states nothing. */
export function consentIn(item: Stated, otherwise: Moment): ConsentStatement | undefined {
  const last = lastStated(item, otherwise);
  if (last === undefined) return undefined;
  const value = item.values[field] as boolean | null;
  const [at] = value === null ? last : consentSince(item, otherwise);
  return {
    value,
    at,
    ...(last[0] > at && { until: last[0] }),
    ...(item.run?.no && { saidNo: item.run.no[0] }),
    ...(item.isOwn && { isOwn: true }),
  };
}

/** The run after two statements of one source about one guest, in either order of arrival. */
export function runOf(a: Stated, aAt: Moment, b: Stated, bAt: Moment): ConsentRun | undefined {
  const [lastA, lastB] = [lastStated(a, aAt), lastStated(b, bAt)];
  if (lastA === undefined || lastB === undefined) return lastA === undefined ? b.run : a.run;
  const [newer, last, older, olderLast] = isNewer(lastB, lastA) ? [b, lastB, a, lastA] : [a, lastA, b, lastB];
  const isSame = newer.values[field] === older.values[field];
  const otherwise = newest([newer.run?.otherwise, older.run?.otherwise, isSame ? undefined : olderLast]);
  const isNo = !isSame && older.values[field] === false;
  const no = newest([newer.run?.no, older.run?.no, isNo ? olderLast : undefined]);
  const mentions = [last, consentSince(newer, last), ...(isSame ? [olderLast, consentSince(older, olderLast)] : [])];
  const since = oldest(mentions.filter((moment) => otherwise === undefined || isNewer(moment, otherwise))) ?? last;
  if (otherwise === undefined && !isNewer(last, since)) return undefined;
  return { since, ...(otherwise && { otherwise }), ...(no && { no }) };
}

/** Whether the consent of two statements of one source, joined, is the guest's own statement: the newer one's, or both say the same. */
export function isOwnAfter(a: Stated, aAt: Moment, b: Stated, bAt: Moment): boolean {
  const [lastA, lastB] = [lastStated(a, aAt), lastStated(b, bAt)];
  if (lastA === undefined || lastB === undefined) return (lastA === undefined ? b : a).isOwn === true;
  const [newer, older] = isNewer(lastB, lastA) ? [b, a] : [a, b];
  return newer.isOwn === true || (newer.values[field] === older.values[field] && older.isOwn === true);
}

const newest = (moments: readonly (Moment | undefined)[]): Moment | undefined =>
  moments.reduce(
    (best, moment) => (moment !== undefined && (best === undefined || isNewer(moment, best)) ? moment : best),
    undefined,
  );
const oldest = (moments: readonly Moment[]): Moment | undefined =>
  moments.reduce<Moment | undefined>(
    (best, moment) => (best === undefined || isNewer(best, moment) ? moment : best),
    undefined,
  );
