import type { SendResult } from '../../../sender/src/index.ts';
import type { HotelChange, HotelEvent } from './hotel.ts';
import type { Pushed } from './push.ts';

/** One line of the page's live list. */
export type Line =
  | {
      readonly kind: 'change';
      readonly at: string;
      readonly event: string;
      readonly what: string;
      readonly reservation?: string;
      readonly guest?: string;
    }
  | {
      readonly kind: 'push';
      readonly at: string;
      readonly event: string;
      readonly reservation?: string;
      readonly outcome: string;
      readonly attempts: number;
      readonly ok: boolean;
    }
  | {
      readonly kind: 'request';
      readonly at: string;
      readonly method: string;
      readonly path: string;
      readonly status: number | string;
    };

const kept = 200;

/** The last lines, and the listeners for new ones. */
export class LiveLog {
  readonly #lines: Line[] = [];
  readonly #watchers = new Set<(line: Line) => void>();
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

  watch(watcher: (line: Line) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  changed(change: HotelChange): void {
    this.changes[change.event] += 1;
    const { event, what, reservation, guest } = change;
    this.#add({
      kind: 'change',
      at: new Date(change.at).toISOString(),
      event,
      what,
      ...(reservation === undefined ? {} : { reservation: reservation.id }),
      ...(guest === undefined ? {} : { guest: guest.guestId }),
    });
  }

  pushed({ change, result }: Pushed, at: number): void {
    const attempts = 'attempts' in result ? result.attempts : 0;
    const outcome = outcomeOf(result);
    this.#add({
      kind: 'push',
      at: new Date(at).toISOString(),
      event: change.event,
      ...(change.reservation === undefined ? {} : { reservation: change.reservation.id }),
      outcome,
      attempts,
      ok: result.kind === 'delivered',
    });
  }

  requested(method: string, path: string, status: number | string, at: number): void {
    const name = String(status);
    this.requests[name] = (this.requests[name] ?? 0) + 1;
    this.#add({ kind: 'request', at: new Date(at).toISOString(), method, path, status });
  }

  #add(line: Line): void {
    this.#lines.push(line);
    if (this.#lines.length > kept) this.#lines.shift();
    for (const watcher of this.#watchers) watcher(line);
  }
}

function outcomeOf(result: SendResult): string {
  if (result.kind === 'delivered') return `accepted, ${result.status}`;
  if (result.kind === 'dead') return `gave up: ${result.failure.message}`;
  return result.kind === 'refused' ? `refused: ${result.why}` : 'interrupted';
}
