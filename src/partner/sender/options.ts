import type { BackoffOptions } from './backoff.ts';
import type { Failure } from './letter.ts';

export interface WebhookSenderOptions {
  /** The endpoint that was issued for the brand. */
  readonly url: string;
  /** The secret that was issued with it. */
  readonly secret: string;
  /** Goes into events that name no brand_id of their own. */
  readonly brandId?: string;
  /** A folder for letters on their way and dead letters. Without it they live in memory and end with the process. */
  readonly folder?: string;
  /** Whether letters that a crash left in the folder are taken up again at once; true. */
  readonly resume?: boolean;
  /** Retries after the first try; 4. */
  readonly retries?: number;
  readonly backoff?: Partial<BackoffOptions>;
  /** The longest wait that a Retry-After header can ask for; an hour. */
  readonly maxRetryAfterMs?: number;
  /** Requests under way at once; 8. */
  readonly concurrency?: number;
  /** Events handed over and not yet settled; past it `send` refuses. 10,000. */
  readonly maxQueued?: number;
  /** One request, from connecting to the end of the answer; 15 s. */
  readonly timeoutMs?: number;
  /** Told of everything that happens, for metrics and logs; it never sees a payload. */
  readonly observe?: (observation: Observation) => void;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly now?: () => number;
  readonly random?: () => number;
  /** Waits; rejects when the signal aborts. */
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
  /** Closed before it was settled; with a folder it is sent when the folder is opened again. */
  | { readonly kind: 'pending'; readonly eventId: string }
  /** Not taken: too many are queued, or the sender is closed. */
  | { readonly kind: 'refused'; readonly eventId: string; readonly why: string };

export interface SenderStats {
  readonly queued: number;
  readonly delivered: number;
  readonly retried: number;
  readonly dead: number;
}
