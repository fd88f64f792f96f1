import type { PullSettings } from '../../documents/pull.ts';
import type { ErrorCode } from '../../errors.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import type { IntegrationName } from '../../terms.ts';
import type { TokenStore } from '../auth/token-store.ts';
import type { Http } from '../http.ts';
import type { Rate } from '../rate.ts';

/** What is asked, with its secrets. */
export interface AskPlan {
  readonly brand: { readonly integrationVersion: number };
  readonly settings: PullSettings;
}

export interface AskPorts {
  readonly clock: Clock;
  readonly http: Http;
  readonly log: Pick<Log, 'error'>;
  /** 0 to 1. */
  random(): number;
  /** The integration as in force now, with its secrets read again. */
  plan(
    integration: IntegrationName,
  ): Promise<
    | { readonly kind: 'ok'; readonly plan: AskPlan }
    | { readonly kind: 'unavailable'; readonly code: ErrorCode; readonly message: string }
  >;
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
