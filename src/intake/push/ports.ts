import type { EndpointId, EpochMs, IntegrationName } from '../../terms.ts';
import type { EventType } from './envelope.ts';
import type { Secret, Verification } from './verification.ts';

interface Stated {
  readonly places: readonly string[];
  readonly optional: boolean;
}

/** Where a sender with its own envelope keeps the fields of ours; compiled from the connector. */
export interface ForeignEnvelope {
  /** The list of events in the body; a body without it is one event. */
  readonly each?: string;
  /** Undefined when the sender names no events: each one is an update. */
  readonly event:
    | {
        readonly places: readonly string[];
        /** When set, the name is all places joined by this text; otherwise the first place that holds a value. */
        readonly joinedBy?: string;
      }
    | undefined;
  /** The sender's event names in lower case, mapped to ours. */
  readonly names: ReadonlyMap<string, EventType>;
  readonly others: 'refuse' | 'ignore';
  /** Undefined when the sender never states it. */
  readonly timestamp: (Stated & { readonly format: 'iso' | 'seconds' | 'milliseconds' }) | undefined;
  readonly brand: Stated | undefined;
  /** Places of an object, or the place of an id that is all of the data. */
  readonly data: readonly string[] | { readonly id: string };
}

/** The push settings from an integration's documents. */
export interface PushSettings {
  readonly enabled: boolean;
  /** The brand is not live yet: its events are reported, not stored. */
  readonly rehearses?: boolean;
  readonly brandId: string;
  readonly verification: Verification;
  /** Undefined when the sender uses our envelope. */
  readonly envelope?: ForeignEnvelope;
  /** Paths in the event, or header.NAME; the first that holds an id wins. Undefined turns deduplication off. */
  readonly eventIdPlaces: readonly string[] | undefined;
  /** Events name a reservation that is then fetched: one that is received twice does no harm. */
  readonly isThin: boolean;
  readonly rate: BucketRate;
}

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
  | { readonly kind: 'stored' }
  | { readonly kind: 'duplicate'; readonly sameBody: boolean }
  /** The endpoint was retired, or the secret expired, after the request was verified. */
  | { readonly kind: 'refused'; readonly reason: 'retired' | 'secret_ended' };

/** One row in the operator's list of refused requests: header names only, no header values and no body. */
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

export interface BucketRate {
  readonly perSecond: number;
  readonly burst: number;
}
