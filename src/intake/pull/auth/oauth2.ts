import type { ErrorCode } from '../../../errors.ts';
import type { IntegrationName } from '../../../terms.ts';
import type { PullPorts } from '../ports.ts';
import type { OAuth2 } from '../settings.ts';
import { requestToken } from './token-request.ts';
import type { Renewal, StoredTokens } from './token-store.ts';

export interface Bearer {
  readonly token: string;
  readonly generation: number;
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
  ports: Pick<PullPorts, 'tokens' | 'clock' | 'http'>,
  integration: IntegrationName,
  oauth: OAuth2,
  refused: Bearer | undefined,
): Promise<BearerGot> {
  const lostCode = oauth.grant === 'authorization_code' ? 'pull.consent_needed' : 'pull.auth_failed';
  return storedToken(ports, integration, { identity: identityOf(oauth), refused, lostCode }, (locked) =>
    renew(ports, oauth, locked),
  );
}

interface TokenOf {
  readonly identity: string;
  readonly refused: Bearer | undefined;
  /** Reported when no new token can be had without a person. */
  readonly lostCode: ErrorCode;
}

/** The stored token, or a new one. */
export async function storedToken(
  ports: Pick<PullPorts, 'tokens' | 'clock'>,
  integration: IntegrationName,
  { identity, refused, lostCode }: TokenOf,
  renewal: (stored: StoredTokens) => Promise<Renewal>,
): Promise<BearerGot> {
  const stored = await ports.tokens.read(integration, identity);
  if (isUsable(stored, refused, ports.clock.now()) && stored.tokens !== undefined) {
    return { kind: 'ok', bearer: { token: stored.tokens.accessToken, generation: stored.generation } };
  }
  const renewed = await ports.tokens.renew(integration, identity, stored.generation, renewal);
  if (renewed.kind === 'renewed') {
    return { kind: 'ok', bearer: { token: renewed.tokens.accessToken, generation: stored.generation + 1 } };
  }
  const { message, said } = renewed;
  const passing = renewed.kind === 'failed';
  const code = passing ? 'pull.token_failed' : lostCode;
  return { kind: 'failed', code, message, ...(said !== undefined && { said }), passing };
}

function isUsable(stored: StoredTokens, refused: Bearer | undefined, now: number): boolean {
  if (stored.tokens === undefined || stored.tokens.accessToken === refused?.token) return false;
  return (stored.tokens.expiresAt ?? never) - aheadMs > now;
}

/** Tokens belong to one client at one token address; after a change of either they are not used. */
export function identityOf(oauth: OAuth2): string {
  return JSON.stringify([oauth.grant, oauth.tokenUrl, oauth.clientId, oauth.audience ?? '', [...oauth.scopes].sort()]);
}

async function renew(ports: Pick<PullPorts, 'clock' | 'http'>, oauth: OAuth2, stored: StoredTokens): Promise<Renewal> {
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
