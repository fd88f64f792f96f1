/** What is counted from the records of a hotel and kept: plain numbers, before capacity, currency and definition are applied. */

/** By currency; an amount whose currency is not known is under the empty name. */
export type Money = Readonly<Record<string, number>>;

export interface Sold {
  readonly rooms: number;
  readonly revenue: Money;
}

export interface NightFacts extends Sold {
  readonly night: string;
  /** The partner was asked for this night; otherwise its bookings are not known. */
  readonly known: boolean;
  /** Of `rooms`, those at the price 0. */
  readonly free: number;
  /** On the books 7 and 28 days ago, of a night to come. */
  readonly weekAgo?: Sold;
  readonly monthAgo?: Sold;
  /** Of a night a year ago: on the books 364 days before today. */
  readonly yearAgo?: Sold;
  /** How many rooms more will be sold, of a night to come. */
  readonly pickup?: number;
}

export interface Moves {
  readonly reservations: number;
  readonly done: number;
  readonly rooms: number;
  readonly people: number;
}

export interface Lost {
  readonly reservations: number;
  readonly room_nights: number;
  readonly revenue: Money;
}

/** How far a forecast of so many days ahead was off, on nights that have passed. */
export interface ForecastError {
  readonly days: number;
  readonly nights: number;
  readonly rooms: number;
}

export interface HotelFacts {
  readonly today: {
    readonly arrivals: Moves;
    readonly departures: Moves;
    readonly in_house: { readonly rooms: number; readonly people: number };
  };
  readonly nights: readonly NightFacts[];
  readonly lost: { readonly week: Lost; readonly week_before: Lost; readonly no_shows: Lost };
  readonly channels: readonly { readonly channel: string; readonly room_nights: number; readonly revenue: Money }[];
  readonly guests: { readonly returning: number; readonly new: number; readonly unknown: number };
  readonly errors: readonly ForecastError[];
}
