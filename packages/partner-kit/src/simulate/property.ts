import type { LocalDate } from '../json.ts';

/** One hotel of the group. Its id is brand_id in events and property_id in searches. */
export interface Property {
  readonly id: string;
  readonly name: string;
  readonly country: string;
  readonly timezone: string;
  readonly currency: string;
  /** Decimal digits of the currency. */
  readonly decimals: number;
  /** The price of one night in a standard room, in whole units of the currency. */
  readonly night: number;
}

export const shippedProperties: readonly [Property, ...Property[]] = [
  {
    id: 'LIS01',
    name: 'Lisbon Grand',
    country: 'PT',
    timezone: 'Europe/Lisbon',
    currency: 'EUR',
    decimals: 2,
    night: 140,
  },
  {
    id: 'LDN02',
    name: 'Wharf House',
    country: 'GB',
    timezone: 'Europe/London',
    currency: 'GBP',
    decimals: 2,
    night: 185,
  },
  {
    id: 'KYO03',
    name: 'Kamo Riverside',
    country: 'JP',
    timezone: 'Asia/Tokyo',
    currency: 'JPY',
    decimals: 0,
    night: 24000,
  },
  {
    id: 'NYC04',
    name: 'Gansevoort Arms',
    country: 'US',
    timezone: 'America/New_York',
    currency: 'USD',
    decimals: 2,
    night: 260,
  },
  {
    id: 'SAO05',
    name: 'Jardim Paulista',
    country: 'BR',
    timezone: 'America/Sao_Paulo',
    currency: 'BRL',
    decimals: 2,
    night: 620,
  },
];

/** Cached per zone: called thousands of times within one minute, and computing a zone's date costs microseconds each time. */
const lastAsked = new Map<string, { readonly minute: number; readonly date: LocalDate }>();

export function dateIn(timezone: string, epochMs: number): LocalDate {
  const minute = Math.floor(epochMs / 60_000);
  const last = lastAsked.get(timezone);
  if (last?.minute === minute) return last.date;
  const date = Temporal.Instant.fromEpochMilliseconds(minute * 60_000)
    .toZonedDateTimeISO(timezone)
    .toPlainDate()
    .toString();
  lastAsked.set(timezone, { minute, date });
  return date;
}

export function addDays(date: LocalDate, days: number): LocalDate {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

export function daysBetween(from: LocalDate, to: LocalDate): number {
  return Temporal.PlainDate.from(from).until(to).days;
}
