import type { JsonObject } from '../../terms.ts';
import type { HotelReservation } from './booking.ts';
import { type Answer, bodyObject, type Exchange, json, problem } from './exchange.ts';
import type { Hotel } from './hotel.ts';
import { type Detail, reservationJson, type Spelling } from './represent.ts';

const feedPath = '/api/feed';

/**
 * Lists without a range of days. `GET /api/feed?since=…` returns what changed at or after a moment; `GET /api/feed/pending` what
 * nobody has acknowledged yet, until `POST /api/feed/ack` with the ids. Cancellations are a second list in the same answer.
 */
export class ReservationFeed {
  readonly #hotel: Hotel;
  readonly #options: { readonly spelling: Spelling; readonly detail: Detail };
  readonly #changedAt = new Map<string, number>();
  readonly #pending = new Set<string>();
  readonly #openedAt: number;

  constructor(hotel: Hotel, options: { readonly spelling: Spelling; readonly detail: Detail }, now: () => number) {
    this.#hotel = hotel;
    this.#options = options;
    this.#openedAt = now();
    for (const { id } of hotel.list()) this.#pending.add(id);
    hotel.onChange(({ reservation, guest, at }) => {
      const touched =
        guest === undefined ? [reservation] : hotel.list(({ guestIds }) => guestIds.includes(guest.guestId));
      for (const one of touched) {
        if (one === undefined) continue;
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
    return this.#page(
      this.#hotel.list(({ id }) => this.#at(id) >= since),
      query,
    );
  }

  #unacknowledged(query: URLSearchParams): Answer {
    return this.#page(
      this.#hotel.list(({ id }) => this.#pending.has(id)),
      query,
    );
  }

  #acknowledge(bodyText: string): Answer {
    const ids = bodyObject(bodyText)?.ids;
    if (!Array.isArray(ids)) return problem(400, 'invalid_body', 'Send {"ids": […]}.');
    const known = ids.filter((id) => this.#pending.delete(String(id)));
    return json(200, { acknowledged: known.length });
  }

  #page(found: readonly HotelReservation[], query: URLSearchParams): Answer {
    const limit = Math.min(500, Math.max(1, Number(query.get('limit') ?? 100) || 100));
    const sent = found.toSorted((a, b) => this.#at(a.id) - this.#at(b.id) || (a.id < b.id ? -1 : 1)).slice(0, limit);
    const isGone = ({ status }: HotelReservation) => status === 'cancelled' || status === 'no_show';
    const shown = (one: HotelReservation): JsonObject => ({
      ...reservationJson(this.#hotel, one, this.#options.spelling, this.#options.detail),
      modified_at: new Date(this.#at(one.id)).toISOString(),
    });
    return json(200, {
      reservations: sent.filter((one) => !isGone(one)).map(shown),
      cancellations: sent.filter(isGone).map(shown),
      more: found.length > sent.length,
    });
  }

  #at(id: string): number {
    return this.#changedAt.get(id) ?? this.#openedAt;
  }
}
