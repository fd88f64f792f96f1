import * as oauth from 'oauth4webapi';
import type { OidcSettings } from '../../core/documents/workspace-settings.ts';
import type { Http } from '../../core/outbound/http.ts';
import { foreignText } from '../../kit/foreign-text.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { publicUrl } from './endpoints.ts';

const keptMs = 10 * 60_000;
const failureKeptMs = 5_000;

export interface Provider {
  readonly server: oauth.AuthorizationServer;
  readonly settings: OidcSettings;
  readonly redirectUri: string;
  readonly options: {
    readonly [oauth.customFetch]: Fetch;
    readonly [oauth.allowInsecureRequests]: boolean;
    readonly [oauth.jwksCache]: oauth.JWKSCacheInput;
  };
}

/** Metadata and keys are cached for ten minutes: anybody can start a sign-in, and must not be able to trigger a call to the provider each time. */
export function openProvider(runtime: Runtime): () => Promise<Provider | undefined> {
  let kept:
    | { readonly issuer: string; untilMs: number; readonly server: Promise<oauth.AuthorizationServer> }
    | undefined;
  const jwks: oauth.JWKSCacheInput = {};
  return async () => {
    const resolved = await runtime.resolve(runtime.active().settings.sign_in);
    if (resolved.kind === 'missing') throw new Error('a secret of sign_in.oidc is missing');
    const settings = resolved.body.oidc;
    if (settings === undefined) return undefined;
    const issuer = new URL(settings.issuer);
    // Plain HTTP only on the machine itself, for development and tests.
    const insecure = issuer.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(issuer.hostname);
    const options = {
      [oauth.customFetch]: fetchBy(runtime.http),
      [oauth.allowInsecureRequests]: insecure,
      [oauth.jwksCache]: jwks,
    };
    if (kept?.issuer !== settings.issuer || kept.untilMs < runtime.clock.now()) {
      // Refuses metadata of another issuer.
      const server = oauth
        .discoveryRequest(issuer, options)
        .then((response) => oauth.processDiscoveryResponse(issuer, response));
      const mine = { issuer: settings.issuer, untilMs: runtime.clock.now() + keptMs, server };
      kept = mine;
      server.catch(() => {
        mine.untilMs = runtime.clock.now() + failureKeptMs;
      });
    }
    const server = await kept.server;
    return { server, settings, options, redirectUri: `${await publicUrl(runtime)}/sign-in/callback` };
  };
}

type Fetch = (
  url: string,
  init: oauth.CustomFetchOptions<'GET' | 'POST', URLSearchParams | undefined>,
) => Promise<Response>;

/** Our own client: address check, limits, no redirects. */
function fetchBy(http: Http): Fetch {
  return async (url, { method, headers, body }) => {
    const answered = await http.request({
      method,
      url,
      headers,
      ...(body && { body: body.toString() }),
      deadlineMs: 10_000,
      idleMs: 10_000,
      expects: 'short',
    });
    if (answered.kind === 'failed') throw new Error(`the provider did not answer: ${answered.message}`);
    const { status, bytes } = answered;
    const empty = [204, 205, 304].includes(status);
    return new Response(empty ? null : Buffer.from(bytes), { status, headers: answered.headers });
  };
}

/** A refusal in our own words, for the person and the log. */
export class Refusal extends Error {}

/** For anybody: the words of the library and of the network name hosts and checks, so they are for the log alone. */
export function shownReason(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    return `the provider answered ${foreignText(error.error)}`;
  }
  return 'the identity provider cannot be reached, or its answer is not valid';
}

/** Errors of the library name the check that failed, not the values. */
export function loggedReason(error: unknown): string {
  const isOurs = !(error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError);
  return isOurs && error instanceof Error ? error.message.slice(0, 200) : shownReason(error);
}

/** Clocks differ a little. */
const skewMs = 30_000;

/** Throws for the claims that the library does not check: a subject that names nobody, and a token from the future. */
export function checkSubjectAndTime({ sub, iat }: { sub?: unknown; iat?: unknown }, nowMs: number): void {
  if (typeof sub !== 'string' || sub.trim() === '') throw new Refusal('the token names no subject');
  if (typeof iat !== 'number' || iat * 1000 > nowMs + skewMs) throw new Refusal('the token was issued in the future');
}

/** Tokens are sent at once, so an old one is a replay. */
export const oldestMs = 5 * 60_000;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * The subject and id of a logout token (OpenID Connect Back-Channel Logout 1.0). Throws with the reason why it is refused.
 *
 * The library has no function for logout tokens. Its check of a signed user info response verifies the same things: algorithm, times,
 * issuer and audience if present, and the signature by the provider's keys. The further requirements of a logout token are checked here.
 */
export async function verifiedLogout(
  { server, settings, options }: Provider,
  token: string,
  nowMs: number,
): Promise<{ readonly sub: string; readonly jti: string }> {
  const algorithms = (server.id_token_signing_alg_values_supported ?? ['RS256']).filter(
    (one) => !/^(?:none|HS)/.test(one),
  );
  const response = new Response(token, { headers: { 'content-type': 'application/jwt' } });
  const claims = await oauth.processUserInfoResponse(
    { ...server, userinfo_signing_alg_values_supported: algorithms },
    { client_id: settings.client_id },
    oauth.skipSubjectCheck,
    response,
  );
  await oauth.validateApplicationLevelSignature(server, response, options);
  const { iss, aud, iat, exp, jti, events, nonce, sub } = claims;
  const type = typeOf(token);
  if (!['logout+jwt', 'jwt', undefined].includes(type)) throw new Refusal('the token has another type');
  if (iss !== server.issuer) throw new Refusal('the logout token names no issuer');
  if (aud === undefined) throw new Refusal('the logout token names no audience');
  if (typeof iat !== 'number' || typeof exp !== 'number' || typeof jti !== 'string' || jti === '') {
    throw new Refusal('the logout token lacks iat, exp or jti');
  }
  checkSubjectAndTime(claims, nowMs);
  if (nowMs - iat * 1000 > oldestMs) throw new Refusal('the logout token is more than 5 minutes old');
  if (typeof events !== 'object' || events === null || !Object.hasOwn(events, logoutEvent)) {
    throw new Refusal('the token is not a logout token');
  }
  // An ID token must never be accepted as a logout token.
  if (nonce !== undefined) throw new Refusal('the logout token has a nonce');
  return { sub, jti };
}

/** Older providers send JWT, or no type at all. */
function typeOf(token: string): string | undefined {
  const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { typ?: unknown };
  return typeof header.typ === 'string' ? header.typ.toLowerCase().replace(/^application\//, '') : undefined;
}
