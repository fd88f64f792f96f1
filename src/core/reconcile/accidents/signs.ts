import type { Json, LocalDate } from '../../../terms.ts';
import { fieldNames } from '../../canonical/fields.ts';
import { isAbsence } from '../../canonical/notes.ts';
import { leaderOf } from '../content.ts';
import type { Decision, Statement, Stored } from '../forms.ts';

/**
 * What a statement would do to a stored reservation, in a form that is equal in every row of an accident: `cleared guests.email`,
 * `factor total_amount 100`, `shift check_in 1`, `status cancelled`, `changed currency`. A sign in one row is ordinary; in most rows at once
 * it is an accident. Holds no guest data.
 */
export type Sign = string;

type HeldKind =
  | ('cleared' | 'factor' | 'shift' | 'status' | 'changed' | 'masked' | 'granted')
  | ('removed' | 'gone' | 'strangers');
/** Somebody must know, but nothing is held back: a no counts at once, and a value that cannot be read changes nothing. */
type ToldKind = 'withdrawn' | 'unread' | 'reused';
type HoldKind = HeldKind | ToldKind;

const toldKinds: ReadonlySet<HoldKind> = new Set<ToldKind>(['withdrawn', 'unread', 'reused']);
export const isTold = (sign: Sign): boolean => toldKinds.has(partsOf(sign).kind);

/** The parts of a sign: its kind, the canonical path, and the value that the rows have in common. */
export function partsOf(sign: Sign): { readonly kind: HoldKind; readonly path?: string; readonly value?: string } {
  const [kind, path, value] = sign.split(' ');
  if (kind === 'status') return { kind, path: 'status', ...(path !== undefined && { value: path }) };
  return { kind: kind as HoldKind, ...(path !== undefined && { path }), ...(value !== undefined && { value }) };
}

/** The path whose values an accident keeps back; empty for whole statements. */
export function heldPathOf(sign: Sign): string {
  const { kind, path = '' } = partsOf(sign);
  return kind === 'gone' ? 'status' : path;
}

/**
 * Whether a row with the sign `own` belongs to an accident. A row that also changed in an ordinary way has another factor or shift; one
 * whose list is lost may still have the items of another source, and lacks only their fields. What was shifted or masked has changed.
 */
export function isPartOf(own: Sign, accident: Sign): boolean {
  if (own === accident) return true;
  const [a, b] = [partsOf(own), partsOf(accident)];
  if (a.path === undefined || b.path === undefined) return false;
  if (a.kind === 'changed') return a.path === b.path && b.kind !== 'cleared' && b.kind !== 'unread';
  if (a.kind !== b.kind) return false;
  if (a.kind === 'cleared') return a.path.startsWith(`${b.path}.`);
  return (a.kind === 'factor' || a.kind === 'shift') && a.path === b.path;
}

/**
 * Whether the value of one row belongs to an accident that keeps others back already: it changed in the same way. An amount that also changed in
 * an ordinary way does if it is nearer to the wrong ones than to the stored one.
 */
export function isStillOf(own: Sign, accident: Sign): boolean {
  if (own === accident) return true;
  const [{ kind, path, value }, next] = [partsOf(accident), partsOf(own)];
  if (kind !== 'factor' || next.kind !== kind || next.path !== path) return false;
  const [wrong, now] = [Math.log(Number(value)), Math.log(Number(next.value))];
  return Math.abs(now - wrong) < Math.abs(now);
}

/** What one statement of a batch did. */
export interface Decided {
  readonly statement: Statement;
  readonly stored: Stored | undefined;
  readonly decision: Decision;
}

const decimals = fieldNames(({ kind }) => kind === 'decimal');
const dates = fieldNames(({ kind }) => kind === 'date' || kind === 'birth_date');
/** A name, an e-mail address or a phone. */
const own = fieldNames(({ kind, derived }) => kind === 'verbatim' && !derived);
const consentField = 'guests.marketing_consent';

/** `today`: the day of the statement, UTC. The hotel's own day may differ by one. */
export function signsOf({ statement, stored, decision }: Decided, today: LocalDate): ReadonlySet<Sign> {
  if (stored === undefined || stored.version === 0) {
    return new Set(decision.kind === 'change' && statement.source === 'pull' ? ['strangers'] : []);
  }
  if (decision.kind === 'dead') {
    return new Set(decision.deadLetter.code === 'record.unknown_status' ? ['status unknown'] : []);
  }
  const signs = new Set(statement.content?.unread?.map((field) => `unread ${field.replace(/\.\d+/, '')}`) ?? []);
  // A booking whose cancellation is held already is missing like the others.
  if (statement.notes.some(isAbsence) && (decision.kind === 'change' || decision.kind === 'held'))
    return signs.add('gone');
  if (decision.kind !== 'change') return signs;
  if (decision.event === 'removed') return signs.add('removed');
  const record = decision.record as Stay;
  for (const { path, before, after } of decision.diff) {
    for (const sign of signsIn(path, before ?? null, after ?? null, record, today)) signs.add(sign);
  }
  return signs;
}

interface Stay {
  readonly check_in?: LocalDate;
  readonly check_out?: LocalDate;
}

function signsIn(path: string, before: Json, after: Json, stay: Stay, today: LocalDate): Sign[] {
  const place = path.replace(/\[\d+\]/g, '');
  const field = place.slice(place.lastIndexOf('.') + 1);
  if (leaderOf(field) !== field) return [];
  if (place === consentField) {
    if (after === false) return ['withdrawn'];
    return after === true ? [`granted ${place}`] : isEmpty(before) ? [] : [`cleared ${place}`];
  }
  if (isEmpty(before)) return [];
  if (isEmpty(after)) {
    // An element that is gone is ordinary, unless it was the first: then the list is empty.
    return !path.endsWith(']') || path.endsWith('[0]') ? [`cleared ${place}`] : [];
  }
  if (field === 'status') return isDue(String(after), String(before), stay, today) ? [] : [`status ${after}`];
  if (decimals.has(field)) {
    const factor = Number((Number(after) / Number(before)).toPrecision(3));
    return Number(before) !== 0 && !isOrdinary(factor) ? [`factor ${place} ${factor}`] : [];
  }
  const signs: Sign[] = [];
  if (dates.has(field)) {
    signs.push(`shift ${place} ${(Date.parse(String(after)) - Date.parse(String(before))) / dayMs}`);
  } else if (own.has(field) && isMasked(String(after))) signs.push(`masked ${place}`);
  if (!isPassing.test(place)) signs.push(`changed ${place}`);
  return signs;
}

const dayMs = 86_400_000;

/** Charges are posted every night, and the partner's further fields may count the hours. */
const isPassing = /^charges\.|\bextra\./;

/** A tax, a discount, a rounding: hotels with one price post the same to all rooms at once, every night. */
const isOrdinary = (factor: number): boolean => factor > 0.9 && factor < 1.1;

const isEmpty = (value: Json): boolean => value === null || (Array.isArray(value) && value.length === 0);

/** Arrivals and departures come when their day comes, and then for many rows at once: at the night audit, or on a Saturday. */
function isDue(after: string, before: string, { check_in = '', check_out = '' }: Stay, today: LocalDate) {
  const tomorrow = new Date(Date.parse(today) + dayMs).toISOString().slice(0, 10);
  if (after === 'checked_in' || after === 'no_show') return check_in <= tomorrow;
  return after === 'checked_out' && (before === 'checked_in' || check_out <= tomorrow);
}

/** One character throughout, or a row of characters that stand for others. */
const isMasked = (text: string): boolean => /^(.)\1+$|[*•#]{2,}|x{4,}/i.test(text);

const names: ReadonlyMap<string | undefined, string> = new Map([
  ['total_amount', 'amounts'],
  ['check_in', 'arrivals'],
  ['check_out', 'departures'],
]);
const nameOf = (path: string | undefined): string => names.get(path) ?? `values of ${path}`;

const times = (factor: number): string =>
  factor > 1 ? `${factor} times higher` : `${Number((1 / factor).toPrecision(3))} times lower`;

function daysApart(days: number): string {
  const count = Math.abs(days);
  return `${count} ${count === 1 ? 'day' : 'days'} ${days > 0 ? 'later' : 'earlier'}`;
}

/** For the timeline and the alert: "the status became cancelled in 38 of 40 bookings at once". */
export function describeSign(sign: Sign, { affected, of }: { readonly affected: number; readonly of: number }): string {
  const { kind, path, value } = partsOf(sign);
  const rows = `in ${affected} of ${of} bookings at once`;
  switch (kind) {
    case 'cleared':
      return `the partner’s answers lost ${path} ${rows}`;
    case 'factor':
      return `${nameOf(path)} are ${times(Number(value))} ${rows}`;
    case 'shift':
      return `${nameOf(path)} are ${daysApart(Number(value))} ${rows}`;
    case 'status':
      return value === 'unknown'
        ? `the status has a spelling that no value map lists ${rows}`
        : `the status became ${value} ${rows}`;
    case 'changed':
      return `${path} changed ${rows}`;
    case 'masked':
      return `${path} was masked ${rows}`;
    case 'granted':
      return `guests agree to marketing who did not before, ${rows}`;
    case 'withdrawn':
      return `guests withdrew their consent to marketing ${rows}`;
    case 'unread':
      return `${path} cannot be read ${rows}`;
    case 'reused':
      return `${affected} events had the id of an earlier event and other contents, and were not taken`;
    case 'gone':
      return `the partner no longer lists ${affected} of ${of} bookings`;
    case 'strangers':
      return `the partner’s list shows ${affected} unknown bookings and hardly any of the ${of} that it showed before`;
    case 'removed':
      return `a business rule now drops ${affected} of ${of} bookings`;
  }
}
