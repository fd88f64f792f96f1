import type { Json, LocalDate } from '../json.ts';
import { type HotelStatus, hotelStatuses } from './booking.ts';

/** How requests write a day: YYYY-MM-DD, DD/MM/YYYY, seconds since 1970, or a date-time. */
export const dateForms = ['iso', 'dmy', 'epoch', 'datetime'] as const;
export type DateForm = (typeof dateForms)[number];

/** Which ends of a requested range do not belong to it. */
export const exclusions = ['none', 'start', 'end', 'both'] as const;
export type Exclusion = (typeof exclusions)[number];

/** Which day of a reservation the range filters by: any day of the stay, or one end of it. */
const dateMeanings = ['stay', 'arrival', 'departure'] as const;

/** The parameters of a list or a search. */
export interface ListQuery {
  readonly from: LocalDate;
  readonly to: LocalDate;
  readonly by: (typeof dateMeanings)[number];
  /** Absent: every status. */
  readonly statuses: readonly HotelStatus[];
  readonly propertyId: string | undefined;
  readonly include: readonly string[] | undefined;
}

/** Invalid requests that this API accepts although it should not. */
export interface Leniency {
  readonly missingDates?: boolean;
  readonly malformedDates?: boolean;
}

type Parsed =
  | { readonly kind: 'ok'; readonly query: ListQuery }
  | { readonly kind: 'bad'; readonly code: string; readonly message: string };

/** The parameters of a request, whatever form they came in. */
export interface Given {
  readonly get: (name: string) => Json | undefined;
  readonly statuses: readonly Json[];
  /** The names of the date parameters in this form. */
  readonly names: readonly [from: string, to: string, by: string];
}

export function fromQueryString(query: URLSearchParams): Given {
  const statuses = query.getAll('status').flatMap((text) => text.split(','));
  return {
    get: (name) => query.get(name) ?? undefined,
    statuses: statuses.filter((text) => text !== ''),
    names: ['dateFrom', 'dateTo', 'dateBy'],
  };
}

export function fromBody(body: { readonly [key: string]: Json }): Given {
  return {
    get: (name) => body[name],
    statuses: [body.status ?? []].flat(),
    names: ['date_from', 'date_to', 'date_by'],
  };
}

export function parseListQuery(
  { get, statuses: asked, names: [fromName, toName, byName] }: Given,
  lenient: Leniency,
  propertyIds: readonly string[],
  form: DateForm,
): Parsed {
  const from = parseDate(get(fromName), fromName, '1900-01-01', lenient, form);
  if (typeof from !== 'string') return from;
  const to = parseDate(get(toName), toName, '9999-12-31', lenient, form);
  if (typeof to !== 'string') return to;
  if (to < from) return bad('invalid_range', `${toName} is before ${fromName}.`);
  const by = dateMeanings.find((one) => one === (get(byName) ?? 'stay'));
  if (by === undefined) return bad('invalid_parameter', `${byName} must be one of ${dateMeanings.join(', ')}.`);
  const statuses: HotelStatus[] = [];
  for (const text of asked) {
    const status = String(text).toLowerCase().replaceAll('-', '_').replace('canceled', 'cancelled');
    const known = hotelStatuses.find((one) => one === status);
    if (known === undefined) return bad('invalid_status', `status must be one of ${hotelStatuses.join(', ')}.`);
    statuses.push(known);
  }
  const property = get('property_id');
  const propertyId = propertyIds.find((id) => id === property);
  if (property !== undefined && propertyId === undefined)
    return bad('unknown_property', `property_id must be one of ${propertyIds.join(', ')}.`);
  const parts = get('include');
  const include = Array.isArray(parts) ? parts.filter((one) => typeof one === 'string') : undefined;
  return { kind: 'ok', query: { from, to, by, statuses, propertyId, include } };
}

function parseDate(
  value: Json | undefined,
  name: string,
  open: LocalDate,
  lenient: Leniency,
  form: DateForm,
): LocalDate | (Parsed & { kind: 'bad' }) {
  if (value === undefined || value === null || value === '') {
    return lenient.missingDates ? open : bad('missing_parameter', `${name} is required.`);
  }
  const date = dayOf(String(value), form);
  if (date !== undefined && isRealDate(date)) return date;
  return lenient.malformedDates ? open : bad('malformed_date', `${name} must be a date such as ${examples[form]}.`);
}

const examples: Readonly<Record<DateForm, string>> = {
  iso: '2026-03-31',
  dmy: '31/03/2026',
  epoch: '1774915200',
  datetime: '2026-03-31T00:00:00',
};

function dayOf(text: string, form: DateForm): string | undefined {
  switch (form) {
    case 'iso':
      return text;
    case 'dmy': {
      const [, day, month, year] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text) ?? [];
      return day === undefined ? undefined : `${year}-${month}-${day}`;
    }
    case 'epoch':
      return /^\d{9,10}$/.test(text) ? new Date(Number(text) * 1000).toISOString().slice(0, 10) : undefined;
    case 'datetime':
      return /^(\d{4}-\d{2}-\d{2})[T ]\d{2}:\d{2}(?::\d{2})?/.exec(text)?.[1];
  }
}

export function isRealDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

function bad(code: string, message: string): Parsed & { kind: 'bad' } {
  return { kind: 'bad', code, message };
}
