import * as oauth from 'oauth4webapi';
import { open, seal } from '../kit/crypto.ts';
import { foreignText } from '../kit/foreign-text.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { writeAudit } from '../store/operate/audit.ts';
import { revokeSessionsOfSubject } from '../store/operate/tokens.ts';
import type { Json } from '../terms.ts';
import { grantOf } from './oidc-grant.ts';
import { verifiedLogout } from './oidc-logout.ts';
import { openProvider, type Provider } from './oidc-server.ts';
import { openSession } from './tokens.ts';

/**
 * Sign-in through an identity provider: OpenID Connect, authorization code with PKCE. The state, nonce and verifier of a sign-in are in
 * a sealed cookie of the browser that started it, so any node can finish it, but only in that browser.
 */

const lifeMs = 10 * 60_000;
const boundTo = 'oidc sign-in';

interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly untilMs: number;
}

export type Finished =
  | { readonly kind: 'session'; readonly session: string; readonly expiresAt: Date }
  | { readonly kind: 'refused'; readonly why: string };

export interface Oidc {
  /** The label of the button, if a provider is configured. */
  label(): string | undefined;
  /** Where to send the browser, and the cookie that it must bring back. */
  begin(): Promise<{ kind: 'ok'; url: string; cookie: string } | { kind: 'unavailable'; why: string }>;
  /** Exchanges the code that the browser brought back, verifies the ID token, and opens a session for what its claims allow. */
  finish(
    query: URLSearchParams,
    cookie: string | undefined,
    about: { readonly address: string; readonly requestId: string },
  ): Promise<Finished>;
  /** Back-channel logout: the provider ended the sessions of a person, so ours end too. */
  logout(token: string, about: { readonly address: string; readonly requestId: string }): Promise<LoggedOut>;
}

export type LoggedOut = { readonly kind: 'done' } | { readonly kind: 'refused'; readonly why: string };

export function openOidc(runtime: Runtime): Oidc {
  const provider = openProvider(runtime);
  return {
    label: () => runtime.active().settings.sign_in.oidc?.label,

    async begin() {
      try {
        const found = await provider();
        if (found === undefined) return { kind: 'unavailable', why: 'no identity provider is configured' };
        const { server, settings, redirectUri } = found;
        const begun: Begun = {
          state: oauth.generateRandomState(),
          nonce: oauth.generateRandomNonce(),
          verifier: oauth.generateRandomCodeVerifier(),
          untilMs: runtime.clock.now() + lifeMs,
        };
        const url = new URL(server.authorization_endpoint ?? '');
        const parameters = {
          response_type: 'code',
          client_id: settings.client_id,
          redirect_uri: redirectUri,
          scope: [...new Set(['openid', ...settings.scopes])].join(' '),
          state: begun.state,
          nonce: begun.nonce,
          code_challenge: await oauth.calculatePKCECodeChallenge(begun.verifier),
          code_challenge_method: 'S256',
          ...(settings.acr_values.length > 0 && { acr_values: settings.acr_values.join(' ') }),
        };
        for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
        const cookie = seal(runtime.keyring, JSON.stringify(begun), boundTo).toString('base64url');
        return { kind: 'ok', url: url.href, cookie };
      } catch (error) {
        runtime.log.warn({ error: reasonOf(error) }, 'api: the identity provider cannot be used');
        return { kind: 'unavailable', why: reasonOf(error) };
      }
    },

    async finish(query, cookie, about) {
      const begun = opened(runtime, cookie);
      if (begun === undefined) {
        return { kind: 'refused', why: 'it was not started in this browser, or more than 10 minutes ago' };
      }
      try {
        const found = await provider();
        if (found === undefined) return { kind: 'refused', why: 'no identity provider is configured' };
        const claims = await verifiedClaims(found, query, begun);
        const subject = `${found.settings.issuer} ${claims.sub}`;
        const known = [...runtime.active().integrations.keys()];
        const grant = grantOf(found.settings, claims as { [claim: string]: Json | undefined }, known);
        const audit = { actor: grant.name, ...about, action: 'session.create', target: { by: 'oidc', subject } };
        if (grant.kind === 'refused') {
          await writeAudit(runtime.pool, { ...audit, status: 403 });
          throw new Error(grant.why);
        }
        const { session, row } = await openSession(runtime, { ...grant, by: 'oidc', subject });
        await writeAudit(runtime.pool, { ...audit, tokenId: row.token_id, status: 200 });
        return { kind: 'session', session, expiresAt: row.expires_at ?? new Date(0) };
      } catch (error) {
        const why = reasonOf(error);
        runtime.log.warn({ request_id: about.requestId, address: about.address, why }, 'api: sign-in refused');
        return { kind: 'refused', why };
      }
    },

    async logout(token, about) {
      try {
        const found = await provider();
        if (found === undefined) return { kind: 'refused', why: 'no identity provider is configured' };
        const subject = `${found.settings.issuer} ${await verifiedLogout(found, token, runtime.clock.now())}`;
        const ended = await revokeSessionsOfSubject(runtime.pool, subject);
        const audit = { actor: 'identity provider', ...about, action: 'session.back_channel_logout' };
        await writeAudit(runtime.pool, { ...audit, target: { subject, ended }, status: 200 });
        return { kind: 'done' };
      } catch (error) {
        const why = reasonOf(error);
        runtime.log.warn({ request_id: about.requestId, address: about.address, why }, 'api: logout refused');
        return { kind: 'refused', why };
      }
    },
  };
}

function opened(runtime: Runtime, cookie: string | undefined): Begun | undefined {
  if (cookie === undefined) return undefined;
  const bytes = open(runtime.keyring, Buffer.from(cookie, 'base64url'), boundTo);
  if (bytes.kind !== 'ok') return undefined;
  const begun = JSON.parse(bytes.plaintext.toString('utf8')) as Begun;
  return begun.untilMs > runtime.clock.now() ? begun : undefined;
}

async function verifiedClaims(
  { server, settings, redirectUri, options }: Provider,
  query: URLSearchParams,
  { state, nonce, verifier }: Begun,
): Promise<oauth.IDToken> {
  const client: oauth.Client = { client_id: settings.client_id };
  const { client_secret: secret } = settings;
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authentication =
    secret === undefined
      ? oauth.None()
      : methods.includes('client_secret_basic')
        ? oauth.ClientSecretBasic(secret)
        : oauth.ClientSecretPost(secret);
  const parameters = oauth.validateAuthResponse(server, client, query, state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    parameters,
    redirectUri,
    verifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  // The token came over TLS from the provider itself; its signature is still checked.
  await oauth.validateApplicationLevelSignature(server, response, options);
  const claims = oauth.getValidatedIdTokenClaims(tokens);
  if (claims === undefined) throw new Error('the provider sent no ID token');
  return claims;
}

/** For the person and the log. Errors of the library name the check that failed, not the values. */
function reasonOf(error: unknown): string {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    return `the provider answered ${foreignText(error.error)}`;
  }
  return error instanceof Error ? error.message.slice(0, 200) : 'unknown error';
}
