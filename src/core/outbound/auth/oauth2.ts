import { createHash } from 'node:crypto';
import type { ErrorCode } from '../../../errors.ts';
import type { EpochMs, IntegrationName, Json } from '../../../terms.ts';
import type { OAuth2 } from '../../documents/pull.ts';
import type { AskPorts, Renewal, StoredTokens, TokenSet } from '../ask/ports.ts';
import { requestToken } from './token-request.ts';

export interface Bearer {
  readonly token: string;
  readonly generation: number;
  /** When it is renewed; undefined if the partner does not say. */
  readonly renewedAt?: EpochMs | undefined;
}

/** Why a request has no credentials. */
export interface AuthFailure {
  readonly kind: 'failed';
  readonly code: ErrorCode;
  readonly message: string;
  /** The partner's own words. */
  readonly said?: string;
  /** A retry may succeed. */
  readonly passing: boolean;
}

export type BearerGot = { readonly kind: 'ok'; readonly bearer: Bearer } | AuthFailure;

/** Tokens are renewed this long before they expire, so that none expires in flight. */
const aheadMs = 60_000;
/** A token without a known expiry is used until the partner refuses it. */
const never = Number.POSITIVE_INFINITY;

/**
 * A valid token. `refused` is one that the partner answered with 401: it is renewed whatever its expiry, unless another node has
 * already renewed it.
 */
export function bearerToken(
  ports: Pick<AskPorts, 'tokens' | 'clock' | 'http'>,
  integration: IntegrationName,
  oauth: OAuth2,
  refused: Bearer | undefined,
): Promise<BearerGot> {
  const isConsented = oauth.grant === 'authorization_code';
  const about: TokenOf = {
    identity: identityOf(oauth),
    refused,
    lostCode: isConsented ? 'pull.consent_needed' : 'pull.auth_failed',
    // What a consent granted does not depend on the parameters of later requests.
    ...(!isConsented && { madeWith: [oauth.params, oauth.headers ?? {}] }),
  };
  return storedToken(ports, integration, about, (locked) => renew(ports, oauth, locked));
}

interface TokenOf {
  readonly identity: string;
  readonly refused: Bearer | undefined;
  /** Reported when no new token can be had without a person. */
  readonly lostCode: ErrorCode;
  /** The credentials and parameters of the token request, if another value may mean another hotel: the token is then not used. */
  readonly madeWith?: Json;
}

/** The stored token, or a new one. */
export async function storedToken(
  ports: Pick<AskPorts, 'tokens' | 'clock'>,
  integration: IntegrationName,
  { identity, refused, lostCode, madeWith }: TokenOf,
  renewal: (stored: StoredTokens) => Promise<Renewal>,
): Promise<BearerGot> {
  const stamp = stampOf(madeWith);
  const { generation, tokens } = unstamped(await ports.tokens.read(integration, identity), stamp);
  if (tokens !== undefined && isUsable(tokens, refused, ports.clock.now())) {
    return { kind: 'ok', bearer: bearerOf(tokens, generation) };
  }
  const renewed = await ports.tokens.renew(integration, identity, generation, async (locked) =>
    stamped(await renewal(unstamped(locked, stamp)), stamp),
  );
  if (renewed.kind === 'renewed') {
    const { tokens: own } = unstamped({ generation, interrupted: false, tokens: renewed.tokens }, stamp);
    if (own !== undefined) return { kind: 'ok', bearer: bearerOf(own, generation + 1) };
    const message = 'another node has renewed the token with other credentials';
    return { kind: 'failed', code: 'pull.token_failed', message, passing: true };
  }
  const { message, said } = renewed;
  const passing = renewed.kind === 'failed';
  const code = passing ? 'pull.token_failed' : lostCode;
  return { kind: 'failed', code, message, ...(said !== undefined && { said }), passing };
}

function bearerOf({ accessToken: token, expiresAt }: TokenSet, generation: number): Bearer {
  return { token, generation, renewedAt: expiresAt && expiresAt - aheadMs };
}

function isUsable({ accessToken, expiresAt = never }: TokenSet, refused: Bearer | undefined, now: number): boolean {
  return accessToken !== refused?.token && expiresAt - aheadMs > now;
}

/** Precedes a token in the store, encrypted with it: a digest of a password by itself could be guessed. */
function stampOf(madeWith: Json | undefined): string {
  return madeWith === undefined ? '' : `${createHash('sha256').update(JSON.stringify(madeWith)).digest('hex')} `;
}

function stamped(renewal: Renewal, stamp: string): Renewal {
  if (renewal.kind !== 'renewed') return renewal;
  return { ...renewal, tokens: { ...renewal.tokens, accessToken: stamp + renewal.tokens.accessToken } };
}

/** Without tokens if they were made with something else. */
function unstamped({ tokens, ...stored }: StoredTokens, stamp: string): StoredTokens {
  if (tokens === undefined || !tokens.accessToken.startsWith(stamp)) return stored;
  return { ...stored, tokens: { ...tokens, accessToken: tokens.accessToken.slice(stamp.length) } };
}

/** Tokens belong to one client at one token address; after a change of either they are not used. */
export function identityOf(oauth: OAuth2): string {
  return JSON.stringify([
    oauth.grant,
    oauth.token_url,
    oauth.client_id,
    oauth.audience ?? '',
    [...oauth.scopes].sort(),
  ]);
}

async function renew(ports: Pick<AskPorts, 'clock' | 'http'>, oauth: OAuth2, stored: StoredTokens): Promise<Renewal> {
  const refreshToken = stored.tokens?.refreshToken;
  if (refreshToken !== undefined) {
    const refreshed = await requestToken(ports, oauth, { grant_type: 'refresh_token', refresh_token: refreshToken });
    if (refreshed.kind === 'renewed') {
      // A partner that does not rotate refresh tokens returns none: the old one stays valid.
      return { kind: 'renewed', tokens: { refreshToken, ...refreshed.tokens } };
    }
    if (refreshed.kind === 'failed' || oauth.grant === 'authorization_code') {
      return refreshed.kind === 'lost' && stored.interrupted ? interrupted(refreshed) : refreshed;
    }
  }
  if (oauth.grant === 'client_credentials') return requestToken(ports, oauth, { grant_type: 'client_credentials' });
  return { kind: 'lost', message: stored.lost ?? 'no consent has been given yet' };
}

function interrupted({ message, said }: Extract<Renewal, { kind: 'lost' }>): Renewal {
  return {
    kind: 'lost',
    ...(said !== undefined && { said }),
    message: `a crash interrupted the last renewal before its answer was stored, and the partner refuses the previous refresh token: ${message}`,
  };
}
