import * as oauth from 'oauth4webapi';
import type { OidcSettings } from '../documents/sign-in.ts';
import { open, seal } from '../kit/crypto.ts';
import type { Http } from '../kit/http.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { writeAudit } from '../store/operate/audit.ts';
import type { Json } from '../terms.ts';
import { publicUrl } from './endpoints.ts';
import { grantOf } from './oidc-grant.ts';
import { openSession } from './tokens.ts';

/**
 * Sign-in through an identity provider: OpenID Connect, authorization code with PKCE. The state, nonce and verifier of a sign-in are in
 * a sealed cookie of the browser that started it, so any node can finish it, but only in that browser.
 */

const lifeMs = 10 * 60_000;
const boundTo = 'oidc sign-in';
const callbackPath = '/sign-in/callback';

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
}

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
  };
}

function opened(runtime: Runtime, cookie: string | undefined): Begun | undefined {
  if (cookie === undefined) return undefined;
  const bytes = open(runtime.keyring, Buffer.from(cookie, 'base64url'), boundTo);
  if (bytes.kind !== 'ok') return undefined;
  const begun = JSON.parse(bytes.plaintext.toString('utf8')) as Begun;
  return begun.untilMs > runtime.clock.now() ? begun : undefined;
}

interface Provider {
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
function openProvider(runtime: Runtime): () => Promise<Provider | undefined> {
  let kept:
    | { readonly issuer: string; readonly untilMs: number; readonly server: oauth.AuthorizationServer }
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
      const found = await oauth.discoveryRequest(issuer, options);
      // Refuses metadata of another issuer.
      const server = await oauth.processDiscoveryResponse(issuer, found);
      kept = { issuer: settings.issuer, untilMs: runtime.clock.now() + lifeMs, server };
    }
    return { server: kept.server, settings, options, redirectUri: `${await publicUrl(runtime)}${callbackPath}` };
  };
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
      maxBytes: 1 << 20,
    });
    if (answered.kind === 'failed') throw new Error(`the provider did not answer: ${answered.message}`);
    const { status, bytes } = answered;
    const empty = [204, 205, 304].includes(status);
    return new Response(empty ? null : Buffer.from(bytes), { status, headers: answered.headers });
  };
}

/** For the person and the log. Errors of the library name the check that failed, not the values. */
function reasonOf(error: unknown): string {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    return `the provider answered ${error.error.replace(/[^\w. -]/g, ' ').slice(0, 100)}`;
  }
  return error instanceof Error ? error.message.slice(0, 200) : 'unknown error';
}
