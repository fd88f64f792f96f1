import type { BackoffOptions } from './backoff.ts';
import type { Failure } from './letter.ts';

export interface WebhookSenderOptions {
  /** The endpoint issued for the brand. */
  readonly url: string;
  /** The secret issued with it. */
  readonly secret: string;
  /** Used for events without their own brand_id. */
  readonly brandId?: string;
  /** A folder for pending events and dead letters. Without it they are kept in memory and lost with the process. */
  readonly folder?: string;
  /** Whether to resume events that a crash left in the folder. Default: true. */
  readonly resume?: boolean;
  /** Retries after the first attempt. Default: 4. */
  readonly retries?: number;
  readonly backoff?: Partial<BackoffOptions>;
  /** The longest delay accepted from a Retry-After header. Default: one hour. */
  readonly maxRetryAfterMs?: number;
  /** Concurrent requests. Default: 8. */
  readonly concurrency?: number;
  /** The maximum number of unsettled events; above it `send` refuses. Default: 10,000. */
  readonly maxQueued?: number;
  /** Timeout of one request, from connecting to the end of the answer. Default: 15 s. */
  readonly timeoutMs?: number;
  /** Called for each step, for metrics and logs; never receives a payload. */
  readonly observe?: (observation: Observation) => void;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly now?: () => number;
  readonly random?: () => number;
  /** Waits; rejects if the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export type Observation =
  | { readonly kind: 'accepted'; readonly eventId: string; readonly event: string; readonly queued: number }
  | {
      readonly kind: 'attempt';
      readonly eventId: string;
      readonly attempt: number;
      readonly status?: number;
      readonly ms: number;
    }
  | {
      readonly kind: 'retry';
      readonly eventId: string;
      readonly attempt: number;
      readonly delayMs: number;
      readonly failure: Failure;
    }
  | { readonly kind: 'delivered'; readonly eventId: string; readonly attempts: number; readonly duplicate: boolean }
  | { readonly kind: 'dead'; readonly eventId: string; readonly attempts: number; readonly failure: Failure };

export type SendResult =
  | {
      readonly kind: 'delivered';
      readonly eventId: string;
      readonly attempts: number;
      readonly status: number;
      readonly duplicate: boolean;
    }
  | {
      readonly kind: 'dead';
      readonly eventId: string;
      readonly attempts: number;
      readonly failure: Failure;
      readonly deadLetterId: string;
    }
  /** The sender was closed first; with a folder, the event is sent when the folder is opened again. */
  | { readonly kind: 'pending'; readonly eventId: string }
  /** Not accepted: too many events are queued, or the sender is closed. */
  | { readonly kind: 'refused'; readonly eventId: string; readonly why: string };

export interface SenderStats {
  readonly queued: number;
  readonly delivered: number;
  readonly retried: number;
  readonly dead: number;
}
