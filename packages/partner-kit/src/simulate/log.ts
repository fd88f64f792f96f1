import type { SendResult } from '../../../sender/src/index.ts';
import type { HotelChange, HotelEvent } from './hotel.ts';
import type { Pushed } from './push.ts';

/** One line of the page's live list; its kind says what else it has. */
type Line = { readonly kind: 'change' | 'push' | 'request'; readonly at: string } & {
  readonly [name: string]: string | number | boolean | undefined;
};

const kept = 150;

/** The last lines, and counts. */
export class LiveLog {
  readonly #lines: Line[] = [];
  readonly changes: Record<HotelEvent, number> = {
    'reservation.created': 0,
    'reservation.updated': 0,
    'reservation.cancelled': 0,
    'guest.updated': 0,
  };
  readonly requests: Record<string, number> = {};

  get lines(): readonly Line[] {
    return this.#lines;
  }

  changed({ event, what, reservation, guest, at }: HotelChange): void {
    this.changes[event] += 1;
    this.#add('change', at, { event, what, reservation: reservation?.id, guest: guest?.guestId });
  }

  pushed({ change: { event, reservation }, result }: Pushed, at: number): void {
    const attempts = 'attempts' in result ? result.attempts : 0;
    const ok = result.kind === 'delivered';
    this.#add('push', at, { event, reservation: reservation?.id, outcome: outcomeOf(result), attempts, ok });
  }

  requested(method: string, path: string, status: number | string, at: number): void {
    const name = String(status);
    this.requests[name] = (this.requests[name] ?? 0) + 1;
    this.#add('request', at, { method, path, status });
  }

  #add(kind: Line['kind'], at: number, more: Omit<Line, 'kind' | 'at'>): void {
    this.#lines.push({ kind, at: new Date(at).toISOString(), ...more } as Line);
    if (this.#lines.length > kept) this.#lines.shift();
  }
}

function outcomeOf(result: SendResult): string {
  if (result.kind === 'delivered') return `accepted, ${result.status}`;
  if (result.kind === 'dead') return `gave up: ${result.failure.message}`;
  return result.kind === 'refused' ? `refused: ${result.why}` : 'interrupted';
}
