import type { WebhookSenderOptions } from '../../../sender/src/index.ts';
import type { ApiOptions } from './api.ts';
import type { SimulatorAuth } from './auth/guard.ts';
import type { FaultRule } from './faults/rule.ts';
import type { HotelOptions } from './hotel.ts';
import type { PushTarget } from './push.ts';
import type { StreamOptions } from './stream.ts';

/** The hotel and its API have the defaults of `usual`. */
export interface SimulatorOptions
  extends Partial<ApiOptions>,
    Partial<Pick<HotelOptions, 'seed' | 'properties' | 'reservations' | 'untidy'>> {
  /** A file that keeps the reservations across restarts. */
  readonly bookFile?: string;
  /** Default: none. */
  readonly auth?: SimulatorAuth;
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
