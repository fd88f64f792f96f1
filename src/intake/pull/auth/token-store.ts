import type { EpochMs, IntegrationName } from '../../../terms.ts';

/** Tokens in plain text; the store seals them. */
export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Undefined where the partner does not say. */
  readonly expiresAt?: EpochMs;
}

export interface StoredTokens {
  /** Rises with every change; tells whether someone else renewed meanwhile. */
  readonly generation: number;
  readonly tokens?: TokenSet;
  /** A renewal was begun and its end was not seen: the process that did it died. */
  readonly interrupted: boolean;
  /** Why the tokens are of no use any more, where they are not. */
  readonly lost?: string;
}

export type Renewal =
  | { readonly kind: 'renewed'; readonly tokens: TokenSet }
  | { readonly kind: 'lost'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

export interface TokenStore {
  /** `identity` names client and token address: tokens of another identity are not given out. */
  read(integration: IntegrationName, identity: string): Promise<StoredTokens>;
  /**
   * Renews under a lock that holds on all nodes: one renewal at a time, and whoever waited is given what came of it instead of
   * renewing again. `renew` is called with what is stored once the lock is held; its result is stored before the lock ends.
   */
  renew(
    integration: IntegrationName,
    identity: string,
    seenGeneration: number,
    renew: (stored: StoredTokens) => Promise<Renewal>,
  ): Promise<Renewal>;
  /** A consent's first tokens. */
  save(integration: IntegrationName, identity: string, tokens: TokenSet): Promise<void>;
  saveConsent(consent: PendingConsent): Promise<void>;
  /** Takes the consent out: a state is good once. */
  takeConsent(state: string): Promise<PendingConsent | undefined>;
}

export interface PendingConsent {
  readonly state: string;
  readonly integration: IntegrationName;
  readonly verifier?: string;
  readonly redirectUri: string;
  readonly requestedBy: string;
  readonly lifetimeMs: number;
}
