/** Identity providers for tests: a real one, and one that issues whatever ID token a test wants. */
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import OidcProvider from 'oidc-provider';

export interface Account {
  readonly sub: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** oidc-provider without pages: it signs in as `who` says, and consents. `redirectUri` can change, as ports are chosen late. */
export async function startProvider(who: () => Account): Promise<{
  issuer: string;
  allow(redirectUri: string): void;
  /** Reports to the client that the person signed out. */
  signOut(sub: string): Promise<void>;
  stop(): Promise<void>;
}> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirects: string[] = ['http://127.0.0.1:1/unused'];
  const make = () =>
    new OidcProvider(issuer, {
      clients: [
        {
          client_id: 'innbound',
          client_secret: 'a-secret-of-the-client',
          redirect_uris: [...redirects],
          backchannel_logout_uri: new URL('/sign-in/back-channel-logout', redirects.at(-1)).href,
        },
      ],
      claims: { openid: ['sub'], profile: ['name', 'groups', 'brands'] },
      conformIdTokenClaims: false,
      // Its own refuses loopback addresses.
      fetch: (url: URL, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) => fetch(url, options),
      features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
      interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_ctx: unknown, sub: string) => ({
        accountId: sub,
        claims: async () => ({ sub, ...who().claims }),
      }),
    });
  let provider = make();
  server.on('request', async (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void provider.callback()(request, response);
    const { params, grantId } = await provider.interactionDetails(request, response);
    const { sub } = who();
    const grant = grantId
      ? await provider.Grant.find(grantId)
      : new provider.Grant({ accountId: sub, clientId: String(params.client_id) });
    grant?.addOIDCScope(String(params.scope));
    const result = { login: { accountId: sub }, consent: { grantId: (await grant?.save()) ?? '' } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  return {
    issuer,
    allow: (redirectUri) => {
      redirects.push(redirectUri);
      provider = make();
    },
    signOut: async (sub) => {
      const client = await provider.Client.find('innbound');
      await client?.backchannelLogout(sub, 'a-session-of-the-provider');
    },
    stop: () => closed(server),
  };
}

export interface Forgery {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly alg?: string;
  readonly typ?: string;
  readonly key?: KeyObject;
  readonly omit?: boolean;
}

/** Issues ID tokens as a test forges them. */
export async function startForger(): Promise<{
  issuer: string;
  metadataIssuer: string | undefined;
  forgery: Forgery;
  requests: string[];
  nonce: string;
  token(forgery: Forgery): string;
  stop(): Promise<void>;
}> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = {
    issuer,
    metadataIssuer: undefined as string | undefined,
    forgery: {} as Forgery,
    requests: [] as string[],
    nonce: '',
    token: ({ claims, alg = 'RS256', typ = 'JWT', key = privateKey }: Forgery): string => {
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: issuer, aud: 'innbound', sub: 'u1', iat: now, exp: now + 300, nonce: state.nonce, ...claims };
      const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const text = `${part({ alg, kid: 'k1', typ })}.${part(all)}`;
      return `${text}.${alg === 'none' ? '' : createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
    },
    stop: () => closed(server),
  };
  server.on('request', (request, response) => {
    state.requests.push(request.url ?? '');
    const answers: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': () => ({
        issuer: state.metadataIssuer ?? issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
      }),
      '/jwks': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }] }),
      '/token': () => ({
        access_token: 'an-access-token-of-the-provider',
        token_type: 'bearer',
        ...(!state.forgery.omit && { id_token: state.token(state.forgery) }),
      }),
    };
    const body = JSON.stringify(answers[request.url ?? '']?.() ?? {});
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  return state;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
}
