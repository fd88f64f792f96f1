import type { EpochMs, IntegrationName } from '../../terms.ts';

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
  | { readonly kind: 'failed'; readonly message: string; readonly said?: string };

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
  takeConsent(state: string): Promise<Omit<PendingConsent, 'lifetimeMs'> | undefined>;
}

export interface PendingConsent {
  readonly state: string;
  readonly integration: IntegrationName;
  readonly verifier?: string;
  readonly redirectUri: string;
  readonly requestedBy: string;
  /** A path of ours that the person came from and returns to. */
  readonly returnTo?: string;
  readonly lifetimeMs: number;
}
