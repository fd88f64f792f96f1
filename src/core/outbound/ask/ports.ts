import type { ErrorCode } from '../../../errors.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { Log } from '../../../kit/log.ts';
import type { EpochMs, IntegrationName, Json } from '../../../terms.ts';
import type { PullSettings } from '../../documents/pull.ts';
import { partnerCircuit, type Rate } from '../circuit.ts';
import type { Http } from '../http.ts';
import type { Read } from './answer.ts';
import type { ShownExchange } from './exchange.ts';

/** What is asked, with its secrets. */
export interface AskPlan {
  readonly brand: { readonly integrationVersion: number };
  readonly settings: PullSettings;
}

export type Planned<Plan> =
  | { readonly kind: 'ok'; readonly plan: Plan }
  | { readonly kind: 'unavailable'; readonly code: ErrorCode; readonly message: string };

export interface AskPorts {
  readonly clock: Clock;
  readonly http: Http;
  readonly log: Pick<Log, 'error'>;
  /** 0 to 1. */
  random(): number;
  /** The integration as in force now, with its secrets read again. */
  plan(integration: IntegrationName): Promise<Planned<AskPlan>>;
  readonly partners: AskedPartners;
  readonly tokens: TokenStore;
  readonly limits?: Partial<AskLimits>;
}

export interface AskLimits {
  /** Longer waits park the run, so that another run can use its slot. */
  readonly parkMs: number;
  /** First cooldown of an open circuit. */
  readonly cooldownMs: number;
}

/** Failures, waits that the partner requested, and the total wait of one request. */
export interface Tried {
  readonly failures: number;
  readonly waits: number;
  readonly waitedMs: number;
}

/** Why a run is waiting. */
export type WaitReason = 'retry_after' | 'breaker' | 'rate' | 'backoff';

/** What one request asks the store for. */
export interface AskedAdmission {
  readonly rate: Rate | undefined;
  /** Retry-After has been waited for. */
  readonly hasWaited: boolean;
  /** A slot of the rate further away than this is not reserved. */
  readonly mostMs: number;
}

/** A wait for the rate reserves a slot: after it, the request is sent without asking again. */
export type Admission =
  /** clean: no failures are recorded for the API. */
  | { readonly kind: 'go'; readonly clean: boolean }
  | { readonly kind: 'wait'; readonly ms: number; readonly reason: WaitReason };

/** What all nodes share about a partner. */
export interface AskedPartners {
  /** Permission to send one request: refused during Retry-After, while the circuit is open, or if the rate is used up. */
  admit(api: string, integration: IntegrationName, asked: AskedAdmission): Promise<Admission>;
  succeeded(api: string): Promise<void>;
  failed(api: string, cooldownMs: number, what: string): Promise<void>;
  pause(integration: IntegrationName, ms: number): Promise<void>;
  authFailed(integration: IntegrationName, integrationVersion: number, message: string): Promise<void>;
  authWorked(integration: IntegrationName): Promise<void>;
}

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
  readonly onExchange?: (exchange: ShownExchange) => void;
  /** Reads an answer elsewhere than on the main thread. */
  readonly read?: (bytes: Uint8Array, contentType: string | undefined) => Promise<Read>;
}

export interface AskOptions {
  /** The window has several days: it can be halved instead of retried. */
  readonly canShrink: boolean;
  /** No page of the window has been read yet. */
  readonly firstPage: boolean;
  /** Failures and waits of this request before the run was parked. */
  readonly tried?: Tried | undefined;
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

export const askLimits: AskLimits = { parkMs: 30_000, cooldownMs: partnerCircuit.firstMs };

export const limitsOf = ({ limits }: Pick<AskPorts, 'limits'>): AskLimits => ({ ...askLimits, ...limits });

/** Tokens in plain text; the store seals them. */
export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Undefined if the partner does not say. */
  readonly expiresAt?: EpochMs;
}

export interface StoredTokens {
  /** Increases with every change, so that a renewal by another node is noticed. */
  readonly generation: number;
  readonly tokens?: TokenSet;
  /** A renewal was started and never completed: its process died. */
  readonly interrupted: boolean;
  /** Why the tokens are no longer valid, if so. */
  readonly lost?: string;
}

export type Renewal =
  | { readonly kind: 'renewed'; readonly tokens: TokenSet }
  /** `said` is the partner's own words; it is not stored with the tokens. */
  | { readonly kind: 'lost'; readonly message: string; readonly said?: string }
  | { readonly kind: 'failed'; readonly message: string; readonly said?: string; readonly isBlocked?: boolean };

export interface TokenStore {
  /** `identity` names client and token address; tokens of another identity are not returned. */
  read(integration: IntegrationName, identity: string): Promise<StoredTokens>;
  /**
   * Renews under a lock shared by all nodes: one renewal at a time; waiters get its result instead of renewing again. `renew` is
   * called with the stored tokens once the lock is held; its result is stored before the lock is released.
   */
  renew(
    integration: IntegrationName,
    identity: string,
    seenGeneration: number,
    renew: (stored: StoredTokens) => Promise<Renewal>,
  ): Promise<Renewal>;
  /** Stores the first tokens after a consent. */
  save(integration: IntegrationName, identity: string, tokens: TokenSet): Promise<void>;
  saveConsent(consent: PendingConsent): Promise<void>;
  /** Removes and returns the consent: a state can be used once. */
  takeConsent(state: string, lifetimeMs: number): Promise<PendingConsent | undefined>;
}

export interface PendingConsent {
  readonly state: string;
  readonly integration: IntegrationName;
  readonly verifier?: string;
  readonly redirectUri: string;
  readonly requestedBy: string;
  /** A path of ours that the person came from and returns to. */
  readonly returnTo?: string;
}
