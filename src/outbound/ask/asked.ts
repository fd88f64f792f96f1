import type { ErrorCode } from '../../errors.ts';
import type { EpochMs, Json } from '../../terms.ts';
import type { Exchange } from './exchange.ts';
import type { Tried, WaitReason } from './ports.ts';

/** Counted while asking; the caller adds them to the run with its next write. */
export interface AskCounts {
  requests: number;
  retries: number;
  waitedMs: number;
}

export interface AskerOptions {
  /** Long waits park the run instead of holding its slot. */
  readonly parkable: boolean;
  /** At an open circuit, if the run is not parkable: wait for it, report a failure, or return the run to the queue. */
  atOpenCircuit(): 'wait' | 'fail' | 'return';
  readonly signal: AbortSignal;
  readonly onWait?: (reason: WaitReason, ms: number) => void;
  readonly onExchange?: (exchange: Exchange) => void;
}

export interface AskOptions {
  /** The window has several days: it can be halved instead of retried. */
  readonly canShrink: boolean;
  /** No page of the window has been read yet. */
  readonly firstPage: boolean;
  /** Failures and waits of this request before the run was parked. */
  readonly tried?: Tried;
  readonly counts: AskCounts;
  /** Whether an answer has any rows; without rows, it is searched for an error. */
  readonly hasRows?: (body: Json) => boolean;
}

export interface Failure {
  readonly code: ErrorCode;
  /** Our words only: this goes into logs, runs and alerts. */
  readonly message: string;
  /** The partner's own words. They may quote guest data, so they are kept as payload and never logged. */
  readonly said?: string;
}

export type NoAnswer =
  /** The window is too large for the partner. */
  | ({ readonly kind: 'shrink' } & Failure)
  | ({ readonly kind: 'failed' } & Failure)
  /** Ask again after `ms`; the run gives up its slot until then. */
  | { readonly kind: 'park'; readonly ms: number; readonly reason: WaitReason; readonly tried: Tried }
  | { readonly kind: 'stopped' };

export interface AnswerRead {
  readonly kind: 'answer';
  /** Absent when the status alone says that there is nothing (204). */
  readonly body?: Json;
  readonly headers: Readonly<Record<string, string>>;
  readonly url: string;
  /** When the attempt that was answered was sent. */
  readonly requestedAt: EpochMs;
  readonly durationMs: number;
  readonly bytes: number;
}

/** The result of asking for one page, after all attempts and waits. */
export type Asked = AnswerRead | NoAnswer;
