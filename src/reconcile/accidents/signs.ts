import { fieldNames } from '../../canonical/fields.ts';
import type { Json, LocalDate, Note } from '../../terms.ts';
import type { Difference } from '../difference.ts';
import { leaderOf } from '../statement.ts';

/**
 * What a change of a stored reservation did, in a form that is equal in every row of an accident: `cleared guests.email`,
 * `factor total_amount 100`, `shift check_in 1`, `status cancelled`, `changed currency`. A sign in one row is ordinary; in most rows at once it
 * is an accident. Holds no guest data.
 */
export type Sign = string;

export type HoldKind = 'cleared' | 'factor' | 'shift' | 'status' | 'changed' | 'masked' | 'removed' | 'gone';

/** The parts of a sign: its kind, the canonical path, and the value that the rows have in common. */
export function partsOf(sign: Sign): { readonly kind: HoldKind; readonly path?: string; readonly value?: string } {
  const [kind, path, value] = sign.split(' ');
  if (kind === 'status') return { kind, path: 'status', ...(path !== undefined && { value: path }) };
  return { kind: kind as HoldKind, ...(path !== undefined && { path }), ...(value !== undefined && { value }) };
}

/**
 * Whether a row with the sign `own` belongs to an accident. A row that also changed in an ordinary way has another factor or shift; one
 * whose list is lost may still have the items of another source, and lacks only their fields. What was shifted or masked has changed.
 */
export function isPartOf(own: Sign, accident: Sign): boolean {
  if (own === accident) return true;
  const [a, b] = [partsOf(own), partsOf(accident)];
  if (a.path === undefined || b.path === undefined) return false;
  if (a.kind === 'changed') return a.path === b.path && b.kind !== 'cleared';
  if (a.kind !== b.kind) return false;
  if (a.kind === 'cleared') return a.path.startsWith(`${b.path}.`);
  return (a.kind === 'factor' || a.kind === 'shift') && a.path === b.path;
}

/** A change of a reservation that was stored before. */
export interface Judged {
  readonly event: string;
  readonly diff: readonly Difference[];
  readonly notes: readonly Note[];
  readonly record: { readonly check_in?: LocalDate; readonly check_out?: LocalDate };
}

const decimals = fieldNames(({ kind }) => kind === 'decimal');
const dates = fieldNames(({ kind }) => kind === 'date' || kind === 'birth_date');
/** A name, an e-mail address or a phone. */
const own = fieldNames(({ kind, derived }) => kind === 'verbatim' && !derived);

/** `today`: the day of the statement, UTC. The hotel's own day may differ by one. */
export function signsOf({ event, diff, notes, record }: Judged, today: LocalDate): ReadonlySet<Sign> {
  if (event === 'removed') return new Set(['removed']);
  if (notes.some(({ code }) => code === 'gone_is_cancelled')) return new Set(['gone']);
  const signs = new Set<Sign>();
  for (const { path, before, after } of diff) {
    const place = path.replace(/\[\d+\]/g, '');
    const field = place.slice(place.lastIndexOf('.') + 1);
    if (leaderOf(field) !== field || isEmpty(before)) continue;
    if (isEmpty(after)) {
      // An element that is gone is ordinary, unless it was the first: then the list is empty.
      if (!path.endsWith(']') || path.endsWith('[0]')) signs.add(`cleared ${place}`);
    } else if (field === 'status') {
      if (!isDue(String(after), String(before), record, today)) signs.add(`status ${after}`);
    } else if (decimals.has(field)) {
      const factor = Number((Number(after) / Number(before)).toPrecision(3));
      if (Number(before) !== 0 && !isOrdinary(factor)) signs.add(`factor ${place} ${factor}`);
    } else {
      if (dates.has(field))
        signs.add(`shift ${place} ${(Date.parse(String(after)) - Date.parse(String(before))) / dayMs}`);
      else if (own.has(field) && isMasked(String(after))) signs.add(`masked ${place}`);
      // A withdrawal of consent is never held back.
      if (!isPassing.test(place) && after !== false) signs.add(`changed ${place}`);
    }
  }
  return signs;
}

const dayMs = 86_400_000;

/** Charges are posted every night, and the partner's further fields may count the hours. */
const isPassing = /^charges\.|\bextra\./;

/** A tax, a discount, a rounding: hotels with one price post the same to all rooms at once, every night. */
const isOrdinary = (factor: number): boolean => factor > 0.9 && factor < 1.1;

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Arrivals and departures come when their day comes, and then for many rows at once: at the night audit, or on a Saturday. */
function isDue(after: string, before: string, { check_in = '', check_out = '' }: Judged['record'], today: LocalDate) {
  const tomorrow = new Date(Date.parse(today) + dayMs).toISOString().slice(0, 10);
  if (after === 'checked_in' || after === 'no_show') return check_in <= tomorrow;
  return after === 'checked_out' && (before === 'checked_in' || check_out <= tomorrow);
}

/** One character throughout, or a row of characters that stand for others. */
const isMasked = (text: string): boolean => /^(.)\1+$|[*•#]{2,}|x{4,}/i.test(text);
