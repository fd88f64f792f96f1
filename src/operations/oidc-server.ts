import * as oauth from 'oauth4webapi';
import type { OidcSettings } from '../documents/sign-in.ts';
import type { Http } from '../outbound/http.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { publicUrl } from './endpoints.ts';

const keptMs = 10 * 60_000;
const failureKeptMs = 5_000;
const callbackPath = '/sign-in/callback';

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
        .then((found) => oauth.processDiscoveryResponse(issuer, found));
      const mine = { issuer: settings.issuer, untilMs: runtime.clock.now() + keptMs, server };
      kept = mine;
      server.catch(() => {
        mine.untilMs = runtime.clock.now() + failureKeptMs;
      });
    }
    const server = await kept.server;
    return { server, settings, options, redirectUri: `${await publicUrl(runtime)}${callbackPath}` };
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
