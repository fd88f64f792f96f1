import type { EndpointId, EpochMs, IntegrationName } from '../../terms.ts';
import type { Rate } from './bucket.ts';
import type { EventType } from './envelope.ts';
import type { ForeignEnvelope } from './foreign-envelope.ts';
import type { Secret, Verification } from './verify.ts';

/** What push needs to know of an integration's documents. */
export interface PushSettings {
  readonly enabled: boolean;
  readonly brandId: string;
  readonly verification: Verification;
  /** Undefined for a sender that keeps to ours. */
  readonly envelope?: ForeignEnvelope;
  /** Paths in the event, or header.NAME; the first that holds an id wins. Undefined: equal bodies are different events. */
  readonly eventIdPlaces: readonly string[] | undefined;
  readonly rate: Rate;
}

/** An endpoint as the store has it, its secrets opened. */
export interface Endpoint {
  readonly endpointId: EndpointId;
  readonly integration: IntegrationName;
  readonly sandbox: boolean;
  readonly retired: boolean;
  /** All that have not expired; a sandbox endpoint has those of the live one. */
  readonly secrets: readonly Secret[];
}

/** An event that is ready to be stored. */
export interface NewEvent {
  readonly integration: IntegrationName;
  readonly endpointId: EndpointId;
  readonly secretNo: number;
  readonly eventId: string;
  readonly event: EventType;
  readonly occurredAt: EpochMs;
  readonly receivedAt: EpochMs;
  readonly rawBody: Buffer;
}

/** What the store made of it. */
export type Stored =
  | { readonly kind: 'stored' }
  | { readonly kind: 'duplicate'; readonly sameBody: boolean }
  /** Retired, or the secret ended, after the request was verified. */
  | { readonly kind: 'refused'; readonly reason: 'retired' | 'secret_ended' };

/** One row in the operator's list of refused requests: names of headers, never their values, and nothing of the body. */
export interface Rejection {
  readonly at: EpochMs;
  readonly endpointId: string;
  readonly integration?: IntegrationName;
  readonly status: number;
  readonly code: string;
  readonly reason: string;
  readonly requestId: string;
  readonly headerNames: readonly string[];
  readonly bodyBytes: number;
  readonly address: string;
}
