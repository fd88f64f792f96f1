import type { WebhookSenderOptions } from '../sender/index.ts';
import type { Shape } from './api.ts';
import type { SimulatorAuth } from './auth/method.ts';
import type { FaultRule } from './faults/rule.ts';
import type { Paging } from './paging.ts';
import type { Property } from './property.ts';
import type { PushTarget } from './push.ts';
import type { Spelling } from './represent.ts';

export interface SimulatorOptions {
  /** The same seed gives the same hotel; 1. */
  readonly seed?: number | string;
  /** In the book at the start; 2,000. */
  readonly reservations?: number;
  /** No booking is taken past it; five times those at the start, at least 5,000. */
  readonly mostReservations?: number;
  /** A file that keeps the book: started again with it, the hotel goes on where it was. */
  readonly bookFile?: string;
  /** The hotels of the group; one in Lisbon. */
  readonly properties?: readonly [Property, ...Property[]];
  /** The share of names, phones and e-mails that are badly typed; 0.3. */
  readonly untidy?: number;

  /** wrapped. */
  readonly shape?: Shape;
  /** offset. */
  readonly paging?: Paging;
  /** hyphen: checked-in. */
  readonly spelling?: Spelling;
  /** none. */
  readonly auth?: SimulatorAuth;
  /** Rows on a page where none are asked for; 100. */
  readonly defaultLimit?: number;
  readonly maxLimit?: number;
  /** Longer ranges are answered with 413. */
  readonly maxRangeDays?: number;
  /** More requests than that in any such stretch get 429 and Retry-After. */
  readonly rateLimit?: { readonly requests: number; readonly perSeconds: number };

  /** About how long until the next thing happens by itself. Left out: nothing does. */
  readonly changeEveryMs?: number;
  /** How many times faster than the wall clock the hotel's calendar runs; 1. */
  readonly speed?: number;

  /** Where its events go. They can also be set later. */
  readonly push?: PushTarget | readonly PushTarget[];
  /** Where letters on their way are kept; memory where it is left out. */
  readonly pushFolder?: string;
  /** Settings of the WebhookSender: waits, concurrency, fetch. */
  readonly sender?: Partial<WebhookSenderOptions>;

  readonly faults?: readonly FaultRule[];
  /** 127.0.0.1; the state page has no lock on it. */
  readonly host?: string;
  /** 0: one that is free. */
  readonly port?: number;
  readonly now?: () => number;
}
