import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../json.ts';
import type { HotelReservation } from './booking.ts';
import { type Answer, bodyObject, type Exchange, json, problem } from './exchange.ts';
import type { Hotel } from './hotel.ts';
import type { PushTarget } from './push.ts';
import { type Look, reservationJson } from './represent.ts';

const feedPath = '/api/feed';

interface FeedOptions extends Look {
  /** The longest range of changes in one request. */
  readonly maxRangeDays?: number;
}

/**
 * Lists without a range of days. `GET /api/feed?since=…&until=…` returns what changed at or after a moment, and before another
 * one if it is given; `GET /api/feed/pending` what
 * nobody has acknowledged yet, until `POST /api/feed/ack` with the ids. Cancellations are a second list in the same answer; with
 * `cancellations=bare` its rows are an id and a time, and a booking that is new to the reader is also in the first list, as it was booked.
 */
export class ReservationFeed {
  readonly #hotel: Hotel;
  readonly #options: FeedOptions;
  readonly #changedAt = new Map<string, number>();
  readonly #pending = new Set<string>();
  readonly #openedAt: number;
  /** When each later reservation was booked. */
  readonly #bookedAt = new Map<string, number>();
  readonly #acknowledged = new Set<string>();

  constructor(hotel: Hotel, options: FeedOptions, now: () => number) {
    this.#hotel = hotel;
    this.#options = options;
    this.#openedAt = now();
    const known = new Set(hotel.list().map(({ id }) => id));
    for (const id of known) this.#pending.add(id);
    hotel.onChange(({ reservation, guest, at }) => {
      const touched =
        guest === undefined ? [reservation] : hotel.list(({ guestIds }) => guestIds.includes(guest.guestId));
      for (const one of touched) {
        if (one === undefined) continue;
        if (!known.has(one.id)) this.#bookedAt.set(one.id, at);
        known.add(one.id);
        this.#changedAt.set(one.id, at);
        this.#pending.add(one.id);
      }
    });
  }

  /** Undefined for other paths. */
  answer(exchange: Exchange): Answer | undefined {
    const call = `${exchange.method} ${exchange.path}`;
    if (call === `GET ${feedPath}`) return this.#since(exchange.query);
    if (call === `GET ${feedPath}/pending`) return this.#unacknowledged(exchange.query);
    if (call === `POST ${feedPath}/ack`) return this.#acknowledge(exchange.bodyText);
    return undefined;
  }

  #since(query: URLSearchParams): Answer {
    const text = query.get('since') ?? '';
    const since = text === '' ? 0 : Date.parse(text);
    if (Number.isNaN(since))
      return problem(400, 'malformed_since', 'since must be a date-time such as 2026-03-31T08:00:00Z.');
    const until = query.has('until') ? Date.parse(query.get('until') ?? '') : Number.POSITIVE_INFINITY;
    if (Number.isNaN(until)) return problem(400, 'malformed_until', 'until must be a date-time, as since.');
    const { maxRangeDays } = this.#options;
    if (maxRangeDays !== undefined && until - since > maxRangeDays * 86_400_000)
      return problem(400, 'range_too_long', `Ask for the changes of at most ${maxRangeDays} days at once.`);
    return this.#page(
      this.#hotel.list(({ id }) => this.#at(id) >= since && this.#at(id) < until),
      query,
      (id) => (this.#bookedAt.get(id) ?? this.#openedAt) >= since,
    );
  }

  #unacknowledged(query: URLSearchParams): Answer {
    return this.#page(
      this.#hotel.list(({ id }) => this.#pending.has(id)),
      query,
      (id) => !this.#acknowledged.has(id),
    );
  }

  #acknowledge(bodyText: string): Answer {
    const ids = bodyObject(bodyText)?.ids;
    if (!Array.isArray(ids)) return problem(400, 'invalid_body', 'Send {"ids": […]}.');
    const known = ids.filter((id) => this.#pending.delete(String(id)));
    for (const id of known) this.#acknowledged.add(String(id));
    return json(200, { acknowledged: known.length });
  }

  #page(all: readonly HotelReservation[], query: URLSearchParams, isNew: (id: string) => boolean): Answer {
    const isBare = query.get('cancellations') === 'bare';
    const limit = Math.min(500, Math.max(1, Number(query.get('limit') ?? 100) || 100));
    const sent = all.toSorted((a, b) => this.#at(a.id) - this.#at(b.id) || (a.id < b.id ? -1 : 1)).slice(0, limit);
    const isGone = ({ status }: HotelReservation) => status === 'cancelled' || status === 'no_show';
    const shown = (one: HotelReservation): JsonObject => ({
      ...reservationJson(this.#hotel, one, this.#options),
      modified_at: new Date(this.#at(one.id)).toISOString(),
    });
    const bare = ({ id }: HotelReservation): JsonObject => ({ id, cancelled_at: new Date(this.#at(id)).toISOString() });
    const booked = sent.flatMap((one): HotelReservation[] => {
      if (!isGone(one)) return [one];
      return isBare && isNew(one.id) ? [{ ...one, status: 'confirmed' }] : [];
    });
    return json(200, {
      reservations: booked.map(shown),
      cancellations: sent.filter(isGone).map(isBare ? bare : shown),
      more: all.length > sent.length,
    });
  }

  #at(id: string): number {
    return this.#changedAt.get(id) ?? this.#openedAt;
  }
}

const path = '/api/subscriptions';

/** Webhook subscriptions that the receiver makes itself: GET lists them, POST makes one, DELETE ends one. */
export function subscriptions(changed: (targets: readonly PushTarget[]) => void) {
  const made = new Map<string, PushTarget>();
  const answer = ({ method, path: at, bodyText }: Exchange): Answer | undefined => {
    if (at === path && method === 'GET') {
      return json(200, { subscriptions: [...made].map(([id, { url }]) => ({ id, endpointUrl: url })) });
    }
    if (at === path && method === 'POST') {
      const { endpointUrl: url, secret, property } = bodyObject(bodyText) ?? {};
      if (typeof url !== 'string' || typeof secret !== 'string' || typeof property !== 'string') {
        return problem(400, 'invalid_body', 'endpointUrl, secret and property are required.');
      }
      const id = randomUUID();
      made.set(id, { url, secret, brand_id: property });
      changed([...made.values()]);
      return json(201, { id });
    }
    if (!at.startsWith(`${path}/`) || method !== 'DELETE') return undefined;
    if (!made.delete(at.slice(path.length + 1))) return problem(404, 'not_found', 'No such subscription.');
    changed([...made.values()]);
    return { status: 204, headers: {}, body: '' };
  };
  return { answer };
}
