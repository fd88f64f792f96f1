import type { EndpointId, EpochMs, IntegrationName } from '../../../terms.ts';
import type { EventType } from './envelope.ts';
import type { Secret } from './verification.ts';

/** A stored endpoint with its secrets decrypted. */
export interface Endpoint {
  readonly endpointId: EndpointId;
  readonly integration: IntegrationName;
  readonly sandbox: boolean;
  readonly retired: boolean;
  /** The unexpired secrets; a sandbox endpoint shares those of the live endpoint. */
  readonly secrets: readonly Secret[];
}

/** An event that is ready to be stored. The database stamps its receipt, because the clocks of the nodes differ. */
export interface NewEvent {
  readonly integration: IntegrationName;
  readonly endpointId: EndpointId;
  readonly secretNo: number;
  readonly eventId: string;
  readonly event: EventType;
  /** Undefined when the sender states no time: the event then occurred when it was received. */
  readonly occurredAt: EpochMs | undefined;
  readonly rawBody: Buffer;
  /** W3C traceparent of the span that accepted it. */
  readonly trace?: string | undefined;
}

/** The result of storing an event. */
export type StoreResult =
  /** `isApplied`: with its effects; otherwise the worker applies it. */
  | { readonly kind: 'stored'; readonly isApplied?: boolean }
  | { readonly kind: 'duplicate'; readonly sameBody: boolean }
  /** The endpoint was retired, or the secret expired, after the request was verified. */
  | { readonly kind: 'refused'; readonly reason: 'retired' | 'secret_ended' };

/** The facts of a request besides its content, for the list of rejections. */
export interface Origin {
  readonly requestId: string;
  readonly address: string;
  readonly endpointId: string;
  readonly headerNames: readonly string[];
  readonly bodyBytes: number;
}

/** One row in the operator's list of refused requests: header names only, no header values and no body. */
export interface Rejection extends Origin {
  readonly at: EpochMs;
  readonly integration?: IntegrationName;
  readonly status: number;
  readonly code: string;
  readonly reason: string;
}

export interface BucketRate {
  readonly perSecond: number;
  readonly burst: number;
}
