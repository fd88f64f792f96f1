import type { JsonObject } from '../json.ts';
import type { HotelReservation } from './booking.ts';
import { type Answer, bodyObject, type Exchange, json, problem } from './exchange.ts';
import type { Twist } from './faults/twist.ts';
import type { Hotel } from './hotel.ts';
import { type Entry, type Page, type Paging, paginate, writeCursor } from './paging.ts';
import { addDays, daysBetween } from './property.ts';
import {
  type DateForm,
  type Exclusion,
  fromBody,
  fromQueryString,
  type Given,
  type ListQuery,
  parseListQuery,
} from './query.ts';
import { flatRows, type Look, reservationJson } from './represent.ts';

export const shapes = ['wrapped', 'bare', 'flat'] as const;
export type Shape = (typeof shapes)[number];

export interface ApiOptions extends Look {
  readonly shape: Shape;
  readonly paging: Paging;
  readonly dates: DateForm;
  readonly excludes: Exclusion;
  readonly maxLimit: number;
  /** Longer ranges get a 413. Default: no limit. */
  readonly maxRangeDays?: number;
}

const listPath = '/api/reservations';
const searchPath = '/api/reservations/search';

/** The three calls of a partner's REST API, over a hotel's reservations. */
export class ReservationApi {
  readonly #hotel: Hotel;
  readonly #options: ApiOptions;

  constructor(hotel: Hotel, options: ApiOptions) {
    if (options.shape === 'bare' && (options.paging === 'cursor' || options.paging === 'body_link')) {
      throw new Error('A bare array cannot carry next_cursor or a link: use the wrapped or flat shape.');
    }
    this.#hotel = hotel;
    this.#options = options;
  }

  /** Which call a request is, for faults that affect only one; undefined for other paths. */
  static callOf({ path }: Exchange): 'list' | 'search' | 'single' | undefined {
    if (path === listPath) return 'list';
    if (path === searchPath) return 'search';
    return path.startsWith(`${listPath}/`) ? 'single' : undefined;
  }

  answer(exchange: Exchange, twists: readonly Twist[]): Answer {
    const call = ReservationApi.callOf(exchange);
    if (call === undefined) return problem(404, 'not_found', 'No such endpoint.');
    const method = call === 'search' ? 'POST' : 'GET';
    if (exchange.method !== method) return problem(405, 'method_not_allowed', `Use ${method}.`, { allow: method });
    if (call === 'single') return this.#single(exchange.path.slice(listPath.length + 1), twists);
    if (call === 'list') return this.#list(exchange, fromQueryString(exchange.query), twists);
    const body = searchBody(exchange);
    if (body === undefined) return problem(400, 'invalid_body', 'The body must be a JSON object or a form.');
    return this.#list(exchange, fromBody(body), twists);
  }

  #single(encodedId: string, twists: readonly Twist[]): Answer {
    const id = decodeId(encodedId);
    const booked = id === undefined ? undefined : this.#hotel.find(id);
    if (booked === undefined) return problem(404, 'not_found', 'No reservation with this id.');
    return json(200, twisted(this.#json(booked), 0, twists));
  }

  #list(exchange: Exchange, given: Given, twists: readonly Twist[]): Answer {
    const twist = Object.assign({}, ...twists.map(({ list }) => list));
    const leniency = Object.assign({}, ...twists.map(({ lenient }) => lenient));
    const parsed = parseListQuery(
      given,
      leniency,
      this.#hotel.properties.map(({ id }) => id),
      this.#options.dates,
    );
    if (parsed.kind === 'bad') return problem(400, parsed.code, parsed.message);
    const { query } = parsed;
    const { maxRangeDays, maxLimit, paging } = this.#options;
    if (maxRangeDays !== undefined && daysBetween(query.from, query.to) >= maxRangeDays) {
      return problem(413, 'range_too_long', `Ask for at most ${maxRangeDays} days at once.`);
    }
    const entries = this.#entries({
      ...within(query, this.#options.excludes),
      ...(twist.ignoreRange === true ? { from: '1900-01-01', to: '9999-12-31' } : {}),
      ...(twist.ignoreStatus === true ? { statuses: [] } : {}),
    });
    const ask = (name: string) => {
      const isHidden = twist.firstPageOnly === true && /^(offset|page|cursor|start|end)$/.test(name);
      const value = isHidden ? undefined : given.get(name);
      return value === undefined ? undefined : String(value);
    };
    const page = paginate(paging, entries, ask, Math.min(maxLimit, twist.maxLimit ?? maxLimit));
    if (page.kind === 'bad') return problem(400, 'invalid_paging', page.message);
    const sent = {
      ...page,
      total: page.total + (twist.totalBy ?? 0),
      entries: this.#sent(page, entries, twist),
      ...(twist.cursorLoop === true && paging === 'cursor' && page.nextCursor === undefined
        ? { nextCursor: writeCursor('') }
        : {}),
    };
    const answer = this.#envelope(exchange, sent, twists);
    if (twist.shift === true) this.#hotel.bookFirst(query.from);
    return answer;
  }

  #sent(
    page: Page,
    all: readonly Entry[],
    twist: { readonly endless?: true; readonly duplicate?: true },
  ): readonly Entry[] {
    if (twist.endless === true && page.entries.length < page.pageSize && all.length > 0) {
      const start = (page.page - 1) * page.pageSize;
      return Array.from({ length: page.pageSize }, (_, index) => all[(start + index) % all.length]).filter(
        (entry) => entry !== undefined,
      );
    }
    const last = page.entries.at(-1);
    return twist.duplicate === true && last !== undefined ? [...page.entries, last] : page.entries;
  }

  #entries(query: ListQuery): Entry[] {
    const wanted = this.#hotel.list((one) => matches(one, query)).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const { shape, spelling } = this.#options;
    if (shape !== 'flat') {
      return wanted.map((one) => ({
        key: keyOf(one),
        json: () => included(this.#json(one), query.include),
      }));
    }
    return wanted.flatMap((one) =>
      flatRows(this.#hotel, one, spelling).map((row, index) => ({
        key: `${keyOf(one)} ${String(index).padStart(4, '0')}`,
        json: () => row,
      })),
    );
  }

  #json(reservation: HotelReservation): JsonObject {
    return reservationJson(this.#hotel, reservation, this.#options);
  }

  #envelope(exchange: Exchange, page: Page, twists: readonly Twist[]): Answer {
    const records = page.entries.map((entry, index) => twisted(entry.json(), index, twists));
    const headers: Record<string, string> = {};
    const next = page.next === undefined ? undefined : nextUrl(exchange, page.next);
    if (next !== undefined && this.#options.paging === 'link') headers.link = `<${next}>; rel="next"`;
    if (this.#options.shape === 'bare') return json(200, records, headers);
    const root = this.#options.shape === 'flat' ? 'rows' : 'reservations';
    const envelope = {
      [root]: records,
      total: page.total,
      page: page.page,
      page_size: page.pageSize,
      ...(this.#options.paging === 'body_link' && { links: { next: next ?? null } }),
    };
    return json(200, page.nextCursor === undefined ? envelope : { ...envelope, next_cursor: page.nextCursor }, headers);
  }
}

/** JSON; a form with the same fields; or a form whose field `request` holds the JSON. */
function searchBody({ headers, bodyText }: Exchange): JsonObject | undefined {
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded') !== true) {
    return headers['content-type']?.startsWith('application/json') === true ? bodyObject(bodyText) : undefined;
  }
  const form = new URLSearchParams(bodyText);
  const inside = form.get('request');
  if (inside !== null) return bodyObject(inside);
  const lists = new Set(['status', 'include']);
  return Object.fromEntries(
    [...new Set(form.keys())].map((key) => [key, lists.has(key) ? form.getAll(key) : (form.get(key) ?? '')]),
  );
}

/** Sorted by arrival, like most lists, so it shifts while people book. */
function keyOf(reservation: HotelReservation): string {
  return `${reservation.checkIn} ${reservation.id}`;
}

/** A stay is in a range if at least one of its days is, including the day of departure, unless the request names one end of it. */
function matches(reservation: HotelReservation, query: ListQuery): boolean {
  const [first, last] = {
    stay: [reservation.checkIn, reservation.checkOut],
    arrival: [reservation.checkIn, reservation.checkIn],
    departure: [reservation.checkOut, reservation.checkOut],
  }[query.by] as [string, string];
  return (
    first <= query.to &&
    last >= query.from &&
    (query.statuses.length === 0 || query.statuses.includes(reservation.status)) &&
    (query.propertyId === undefined || reservation.propertyId === query.propertyId)
  );
}

/** The days of a range that belong to it. */
function within(query: ListQuery, excludes: Exclusion): ListQuery {
  const from = excludes === 'start' || excludes === 'both' ? addDays(query.from, 1) : query.from;
  return { ...query, from, to: excludes === 'end' || excludes === 'both' ? addDays(query.to, -1) : query.to };
}

function included(record: JsonObject, include: readonly string[] | undefined): JsonObject {
  if (include === undefined) return record;
  const left = new Set(['guests', 'rooms', 'charges'].filter((part) => !include.includes(part)));
  return Object.fromEntries(Object.entries(record).filter(([key]) => !left.has(key)));
}

function twisted(record: JsonObject, index: number, twists: readonly Twist[]): JsonObject {
  return twists.reduce((current, { record: change }) => change?.(current, index) ?? current, record);
}

function nextUrl(exchange: Exchange, next: Readonly<Record<string, string>>): string {
  const url = new URL(exchange.pathQuery, exchange.origin);
  for (const [name, value] of Object.entries(next)) url.searchParams.set(name, value);
  return url.href;
}

function decodeId(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
