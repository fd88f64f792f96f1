import * as oauth from 'oauth4webapi';
import { checkSubjectAndTime, Refusal } from './oidc-refusal.ts';
import type { Provider } from './oidc-server.ts';

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
