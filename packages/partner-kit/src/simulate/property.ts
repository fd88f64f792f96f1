import type { LocalDate } from '../json.ts';

/** One hotel of the group. Its id is brand_id in events and property_id in searches. */
export interface Property {
  readonly id: string;
  readonly timezone: string;
  readonly currency: string;
  /** Decimal digits of the currency. */
  readonly decimals: number;
  /** The price of one night in a standard room, in whole units of the currency. */
  readonly night: number;
}

export const shippedProperties: readonly [Property, ...Property[]] = [
  { id: 'LIS01', timezone: 'Europe/Lisbon', currency: 'EUR', decimals: 2, night: 140 },
  { id: 'LDN02', timezone: 'Europe/London', currency: 'GBP', decimals: 2, night: 185 },
  { id: 'KYO03', timezone: 'Asia/Tokyo', currency: 'JPY', decimals: 0, night: 24000 },
  { id: 'NYC04', timezone: 'America/New_York', currency: 'USD', decimals: 2, night: 260 },
  { id: 'SAO05', timezone: 'America/Sao_Paulo', currency: 'BRL', decimals: 2, night: 620 },
];

/** Cached per zone: called thousands of times within one minute, and computing a zone's date costs microseconds each time. */
const lastAsked = new Map<string, { readonly minute: number; readonly date: LocalDate }>();

const formats = new Map<string, Intl.DateTimeFormat>();

/** Canada writes a date as 2026-03-31. Temporal would be clearer, but the kit also runs on Node 20. */
function formatOf(timezone: string): Intl.DateTimeFormat {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en-CA', { timeZone: timezone, year: 'numeric', month: '2-digit', day: '2-digit' });
  formats.set(timezone, format);
  return format;
}

export function dateIn(timezone: string, epochMs: number): LocalDate {
  const minute = Math.floor(epochMs / 60_000);
  const last = lastAsked.get(timezone);
  if (last?.minute === minute) return last.date;
  const date = formatOf(timezone).format(minute * 60_000);
  lastAsked.set(timezone, { minute, date });
  return date;
}

const dayMs = 86_400_000;

export function addDays(date: LocalDate, days: number): LocalDate {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);
}

export function daysBetween(from: LocalDate, to: LocalDate): number {
  return (Date.parse(to) - Date.parse(from)) / dayMs;
}
