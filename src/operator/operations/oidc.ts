import * as oauth from 'oauth4webapi';
import { Buckets, networkOf } from '../../core/intake/push/receive.ts';
import { openText, seal } from '../../kit/crypto.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Json } from '../../terms.ts';
import { writeAudit } from '../store/audit.ts';
import { useOnce } from '../store/marks.ts';
import { revokeSessionsOfSubject } from '../store/tokens.ts';
import { grantOf } from './oidc-grant.ts';
import {
  checkSubjectAndTime,
  loggedReason,
  oldestMs,
  openProvider,
  type Provider,
  Refusal,
  shownReason,
  verifiedLogout,
} from './oidc-provider.ts';
import { insertSession } from './tokens.ts';

/**
 * Sign-in through an identity provider: OpenID Connect, authorization code with PKCE. The state, nonce and verifier of a sign-in are in
 * a sealed cookie of the browser that started it, so any node can finish it, but only in that browser.
 */

const lifeMs = 10 * 60_000;
const boundTo = 'oidc sign-in';
/** Refusals that cost a request to the provider or the check of a signature, per network. */
const refusalRate = { perSecond: 1, burst: 60 };

interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly untilMs: number;
}

type SignInRefused =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'wait'; readonly why: string; readonly seconds: number };

type Finished = { readonly kind: 'session'; readonly session: string; readonly expiresAt: Date } | SignInRefused;

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

type LoggedOut = { readonly kind: 'done' } | SignInRefused;

export function openOidc(runtime: Runtime): Oidc {
  const provider = openProvider(runtime);
  // Each by itself, and apart from wrong tokens: nobody keeps others behind the same address from signing in with those.
  const limits = { callback: new Buckets(() => refusalRate, 10_000), logout: new Buckets(() => refusalRate, 10_000) };

  /** Runs it unless too many of its kind were refused. */
  async function limited<Done>(
    what: keyof typeof limits,
    about: { readonly address: string; readonly requestId: string },
    run: () => Promise<Done>,
  ): Promise<Done | SignInRefused> {
    const key = networkOf(about.address);
    const wait = limits[what].peek(key, runtime.clock.now());
    if (wait.kind === 'wait') return { ...wait, why: 'too many from this address were refused' };
    try {
      return await run();
    } catch (error) {
      limits[what].charge(key, runtime.clock.now(), 1);
      const refused = { request_id: about.requestId, address: about.address, why: loggedReason(error) };
      runtime.log.warn(refused, `api: ${what} of the identity provider refused`);
      return { kind: 'refused', why: shownReason(error) };
    }
  }

  return {
    label: () => runtime.active().settings.sign_in.oidc?.label,

    async begin() {
      try {
        const provided = await provider();
        if (provided === undefined) return { kind: 'unavailable', why: 'no identity provider is configured' };
        const { server, settings, redirectUri } = provided;
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
        runtime.log.warn({ error: loggedReason(error) }, 'api: the identity provider cannot be used');
        return { kind: 'unavailable', why: shownReason(error) };
      }
    },

    async finish(query, cookie, about) {
      const begun = opened(runtime, cookie);
      if (begun === undefined) {
        return { kind: 'refused', why: 'it was not started in this browser, or more than 10 minutes ago' };
      }
      return limited('callback', about, async () => {
        if (!(await useOnce(runtime.pool, `sign-in ${begun.state}`, lifeMs))) {
          throw new Refusal('this sign-in is finished already; start again');
        }
        const discovered = await provider();
        if (discovered === undefined) throw new Refusal('no identity provider is configured');
        const claims = await verifiedClaims(discovered, query, begun);
        checkSubjectAndTime(claims, runtime.clock.now());
        const subject = `${discovered.settings.issuer} ${claims.sub}`;
        const known = [...runtime.active().integrations.keys()];
        const grant = grantOf(discovered.settings, claims as { [claim: string]: Json | undefined }, known);
        const audit = { actor: grant.name, ...about, action: 'session.create', target: { by: 'oidc', subject } };
        if (grant.kind === 'refused') {
          await writeAudit(runtime.pool, { ...audit, status: 403 });
          throw new Refusal(grant.why);
        }
        const { name, role, integrations } = grant;
        const { session, row } = await insertSession(runtime.pool, { name, role, integrations, by: 'oidc', subject });
        await writeAudit(runtime.pool, { ...audit, tokenId: row.token_id, status: 200 });
        return { kind: 'session', session, expiresAt: row.expires_at ?? new Date(0) };
      });
    },

    async logout(token, about) {
      return limited('logout', about, async () => {
        const discovered = await provider();
        if (discovered === undefined) throw new Refusal('no identity provider is configured');
        const { sub, jti } = await verifiedLogout(discovered, token, runtime.clock.now());
        const { issuer } = discovered.settings;
        if (!(await useOnce(runtime.pool, `logout ${issuer} ${jti}`, 2 * oldestMs))) {
          throw new Refusal('the logout token was used already');
        }
        const subject = `${issuer} ${sub}`;
        const ended = await revokeSessionsOfSubject(runtime.pool, subject);
        const audit = { actor: 'identity provider', ...about, action: 'session.back_channel_logout' };
        await writeAudit(runtime.pool, { ...audit, target: { subject, ended }, status: 200 });
        return { kind: 'done' };
      });
    },
  };
}

function opened(runtime: Runtime, cookie: string | undefined): Begun | undefined {
  if (cookie === undefined) return undefined;
  const text = openText(runtime.keyring, Buffer.from(cookie, 'base64url'), boundTo);
  if (text === undefined) return undefined;
  const begun = JSON.parse(text) as Begun;
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
  if (claims === undefined) throw new Refusal('the provider sent no ID token');
  return claims;
}
