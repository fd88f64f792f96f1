import type { WebhookSenderOptions } from '../../../sender/src/index.ts';
import type { Shape } from './api.ts';
import type { SimulatorAuth } from './auth/guard.ts';
import type { FaultRule } from './faults/rule.ts';
import type { Paging } from './paging.ts';
import type { Property } from './property.ts';
import type { PushTarget } from './push.ts';
import type { DateForm, Exclusion } from './query.ts';
import type { Detail, Spelling } from './represent.ts';
import type { StreamOptions } from './stream.ts';

export interface SimulatorOptions {
  /** The same seed gives the same hotel. Default: 1. */
  readonly seed?: number | string;
  /** Reservations at the start. Default: 2,000. */
  readonly reservations?: number;
  /** No new bookings above this. Default: five times the number at the start, at least 5,000. */
  readonly mostReservations?: number;
  /** A file that keeps the reservations across restarts. */
  readonly bookFile?: string;
  /** The hotels of the group. Default: one in Lisbon. */
  readonly properties?: readonly [Property, ...Property[]];
  /** The share of names, phones and e-mails that are badly typed. Default: 0.3. */
  readonly untidy?: number;

  /** Default: wrapped. */
  readonly shape?: Shape;
  /** Default: offset. */
  readonly paging?: Paging;
  /** Default: hyphen (checked-in). */
  readonly spelling?: Spelling;
  /** How much events and lists carry. Default: full. */
  readonly detail?: Detail;
  /** How requests write a day. Default: iso. */
  readonly dates?: DateForm;
  /** Which ends of a requested range do not belong to it. Default: none. */
  readonly excludes?: Exclusion;
  /** Default: none. */
  readonly auth?: SimulatorAuth;
  /** Page size if the request names none. Default: 100. */
  readonly defaultLimit?: number;
  readonly maxLimit?: number;
  /** Longer ranges get a 413. */
  readonly maxRangeDays?: number;
  /** Requests above this rate get 429 with Retry-After. */
  readonly rateLimit?: { readonly requests: number; readonly perSeconds: number };

  /** The average time between spontaneous changes. Default: no spontaneous changes. */
  readonly changeEveryMs?: number;
  /** How many times faster than the wall clock the hotel's calendar runs. Default: 1. */
  readonly speed?: number;

  /** Where events are sent. Can also be set later. */
  readonly push?: PushTarget | readonly PushTarget[];
  /** A folder for pending events and dead letters. Default: in memory. */
  readonly pushFolder?: string;
  /** Settings of the WebhookSender: waits, concurrency, fetch. */
  readonly sender?: Partial<WebhookSenderOptions>;

  /** Events over a WebSocket at /subscriptions. Default: none. */
  readonly stream?: StreamOptions;

  readonly faults?: readonly FaultRule[];
  /** Default: 127.0.0.1. The admin page has no access control. */
  readonly host?: string;
  /** 0 chooses a free port. */
  readonly port?: number;
  readonly now?: () => number;
}
