import type { ErrorCode } from '../../../errors.ts';
import type { Clock, Timers } from '../../../kit/clock.ts';
import type { StrictLimits } from '../../../kit/json.ts';
import type { Heartbeats } from '../../../kit/loop.ts';
import type { EpochMs, IntegrationName, Json } from '../../../terms.ts';
import type { OpenSocket } from '../../outbound/web-socket.ts';
import type { NewEvent } from '../push/ports.ts';
import type { PushSettings } from '../push/settings.ts';

/** One connection that a partner allows: its address, application key and chain. */
export interface Stream {
  /** A digest of address, key and chain. */
  readonly id: string;
  /** Changes with anything that needs another connection. */
  readonly revision: string;
  /** The integration whose credentials are used. */
  readonly account: IntegrationName;
  /** The brands that the stream serves, by the partner's name of the property. */
  readonly brands: ReadonlyMap<string, StreamedBrand>;
  /** Where an event names its property. */
  readonly brandPlaces: readonly string[];
  readonly eventPath: string;
  readonly offsetPath: string;
  readonly pingMs: number;
  readonly pauseMs: number;
  readonly keptMs: number;
  /** A replay begins with the event of the offset itself. */
  readonly isInclusive: boolean;
}

export interface StreamedBrand {
  readonly integration: IntegrationName;
  readonly settings: Pick<PushSettings, 'brandId' | 'envelope' | 'eventIdPlaces' | 'isThin'>;
}

/** The first messages of a connection, with credentials. */
export interface Opening {
  readonly kind: 'ok';
  readonly url: string;
  readonly init: Json;
  readonly subscribe: Json;
  /** When the credentials end; the connection is replaced before. */
  readonly endsAt: EpochMs | undefined;
}

export interface Failure {
  readonly code: ErrorCode;
  /** The partner's own words. */
  readonly said?: string | undefined;
}

/** How far a stream is read. */
interface Place {
  /** From where to resume: undefined before the first event, and in a write that does not change it. */
  readonly offset: string | undefined;
  /** When the event of the offset occurred. */
  readonly offsetAt: EpochMs | undefined;
  /** Everything until then is stored. */
  readonly readTo: EpochMs | undefined;
  readonly refused?: Unreadable | undefined;
}

/** A stream that this node reads until its lease ends. */
export interface Claim extends Place {
  readonly id: string;
  readonly fence: number;
  /** Failed connections in a row, and why the last one failed. */
  readonly failures: number;
  readonly failure: string | undefined;
  /** Whether an event of ours ever came. */
  readonly hasAccepted?: boolean;
}

/** Messages that could not be read. */
export interface Unreadable {
  /** The documents that did not describe them. */
  readonly revision: string;
  /** Grows with each, and halves with each message that can be read: it stays high while most are refused. */
  readonly count: number;
  /** What is wrong with the last one. */
  readonly reason: string;
  /** Where to resume under other documents: before the first one. */
  readonly from: { readonly offset: string; readonly at: EpochMs } | undefined;
}

export type StreamEvent = Omit<NewEvent, 'endpointId' | 'secretNo'>;

export interface Progress extends Place {
  readonly events: readonly StreamEvent[];
}

/** Streams in the store. Every write names the claim's fence and changes nothing if another node has the stream. */
export interface StreamStore {
  claim(ids: readonly string[], leaseMs: number): Promise<readonly Claim[]>;
  extend(claim: Claim, leaseMs: number, isUpToDate: boolean): Promise<boolean>;
  /** The events and their offset in one transaction; how many events were new. */
  store(claim: Claim, progress: Progress): Promise<number | 'fenced'>;
  noteGap(claim: Claim): Promise<void>;
  /** Any node may connect again after `afterMs`. */
  release(claim: Claim, afterMs: number, failure: Failure | undefined): Promise<void>;
}

export interface StreamPorts {
  readonly clock: Clock & Timers;
  readonly heartbeats?: Heartbeats;
  /** 0 to 1. */
  random(): number;
  readonly openSocket: OpenSocket;
  readonly store: StreamStore;
  /** The streams of the documents in force. */
  streams(): Promise<ReadonlyMap<string, Stream>>;
  /** `isRefused`: the last credentials were refused, so newer ones are fetched. */
  opening(
    stream: Stream,
    offset: string | undefined,
    isRefused: boolean,
  ): Promise<Opening | ({ kind: 'failed' } & Failure)>;
  jsonLimits(): StrictLimits;
  readonly wait: (maxMs: number, signal: AbortSignal) => Promise<void>;
  /** Called after events were stored, to wake the worker. */
  readonly stored: () => void;
  /** A message is not as the connector says, at these places. */
  readonly refused: (stream: Stream, reason: string, bodyBytes: number) => void;
  readonly ended: (stream: Stream, report: ConnectionReport) => void;
  readonly onError: (error: unknown) => void;
  readonly leaseMs?: number;
}

/** One connection, for the log. */
export interface ConnectionReport {
  readonly code: ErrorCode | undefined;
  readonly closeCode: number;
  readonly durationMs: number;
  readonly counts: Readonly<Record<MessageKind | 'stored', number>>;
  readonly hasGap: boolean;
}

/** What became of a message. */
export type MessageKind = 'event' | 'ignored' | 'other_property' | 'invalid';
