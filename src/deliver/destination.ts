import type { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import type { Clock } from '../kit/clock.ts';
import type { Http } from '../kit/http.ts';
import type { Json } from '../terms.ts';
import type { Delivery } from './message.ts';

/**
 * The port of a destination. Each type is a folder beside this file with a `destination.ts` that exports `destinationType`;
 * nothing else knows it by name.
 *
 * The engine promises: per record the versions come in order, the next only after the last was settled, never two at a time;
 * after a crash a version may come again, with `mayHaveArrived` set. The destination promises: one outcome per delivery, in
 * the order given; a failure is an outcome and never a throw; what is reported delivered is durable.
 */
export interface Destination {
  deliver(batch: readonly Delivery[], limits: DeliverLimits): Promise<readonly Outcome[]>;
  close(): Promise<void>;
}

export interface DeliverLimits {
  /** How many a call may hold: a call with one of several possible is still a batch. */
  readonly batch: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

interface Answer {
  /** HTTP status, where there is one. */
  readonly status?: number;
  readonly durationMs?: number;
  /** The beginning of what a destination answered to a failure. It may quote guest data: it goes to the store, never to a log. */
  readonly answer?: string;
}

export type Outcome = Answer &
  (
    | { readonly kind: 'delivered' }
    /** There is nothing in it for this destination. */
    | { readonly kind: 'skipped'; readonly code: string; readonly message: string }
    /** It may work later. `afterMs` is what the destination asked to wait; `free` says that this try does not count. */
    | {
        readonly kind: 'retry';
        readonly code: ErrorCode;
        readonly message: string;
        readonly afterMs?: number;
        readonly free?: boolean;
        /** The answer was given to the batch as a whole; which delivery caused it is not known. */
        readonly whole?: boolean;
      }
    /** It will never work as it is. */
    | { readonly kind: 'dead'; readonly code: ErrorCode; readonly message: string; readonly whole?: boolean }
  );

/** Adds credentials to requests; made by the wiring from the authentication methods of the pull side. */
export interface Authorizer {
  /** The request with its credentials, made anew for each attempt. */
  authorize(
    request: OutgoingRequest,
  ): Promise<{ kind: 'ok'; request: OutgoingRequest } | { kind: 'failed'; message: string }>;
  /** Told that the credentials were refused; true when asking again may give others. */
  refused(): Promise<boolean>;
}

export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What a destination may use of the node it runs in. */
export interface DestinationServices {
  readonly name: string;
  readonly workspaceDir: string;
  readonly allowPrivate: boolean;
  readonly node: string;
  readonly clock: Clock;
  readonly http: Http;
  readonly authorizer: (auth: Json) => Authorizer;
}

export interface DestinationType<Settings = unknown> {
  readonly type: string;
  readonly settings: z.ZodType<Settings>;
  /** How many deliveries one call takes: unless the document says otherwise, and at most. */
  readonly batch: (settings: Settings) => { readonly standard: number; readonly most: number };
  readonly timeoutMs: (settings: Settings) => number;
  /** The destination tells first consent, new consent and withdrawals apart (`Delivery.consentChange`); these need claims. */
  readonly comparesConsent?: (settings: Settings) => boolean;
  /** Opens without reaching out: an unreachable destination shows at the first delivery, as a retry. */
  open(settings: Settings, services: DestinationServices): Destination;
}
