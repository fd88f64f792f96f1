import { createPrivateKey, createPublicKey, createSign, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { AskPorts } from '../ask/ports.ts';
import type { Authorizer, Outgoing } from './outgoing.ts';
import { sendTokenRequest } from './token-request.ts';

/** Logins that are a statement signed with a private key (RFC 7523). A token is kept in memory: any node can make its own at any time. */

type Claims = Readonly<Record<string, string | number>>;

/** A JWT under RS256. */
export function signedJwt(key: KeyObject, claims: Claims, keyId?: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) };
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
}

/** A private RSA key in PEM; undefined for anything else, also for one behind a passphrase. */
export function privateKeyOf(pem: string): KeyObject | undefined {
  try {
    // A key in a variable of the environment often has its line breaks as two characters.
    const key = createPrivateKey(pem.replaceAll('\\n', '\n'));
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    return undefined;
  }
}

export const publicDer = (key: KeyObject): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });

type Obtained = { readonly kind: 'ok'; readonly token: string; readonly expiresAt: number } | Failed;
type Failed = Extract<Awaited<ReturnType<Authorizer['authorize']>>, { kind: 'failed' }>;

/** Tokens are renewed this long before they expire. */
const aheadMs = 60_000;

/** Adds a bearer token that `obtain` makes. A token that was refused is replaced once. */
export function bearerCredentials(
  clock: AskPorts['clock'],
  obtain: () => Promise<Obtained>,
  more: Readonly<Record<string, string>> = {},
): Authorizer {
  let current: Promise<Obtained> | undefined;
  const used = new WeakMap<Outgoing, Promise<Obtained>>();
  let replaced: unknown;
  return {
    async authorize(request) {
      const known = await current;
      if (known !== undefined && (known.kind === 'failed' || known.expiresAt - aheadMs <= clock.now())) {
        current = undefined;
      }
      current ??= obtain();
      const mine = current;
      const got = await mine;
      if (got.kind === 'failed') return got;
      const headers = { ...request.headers, ...more, authorization: `Bearer ${got.token}` };
      const authorized = { ...request, headers };
      used.set(authorized, mine);
      return { kind: 'ok', request: authorized };
    },
    async refused(request) {
      const token = used.get(request);
      // The token that replaced a refused one is refused as well: another one would be, too.
      if (token === undefined || token === replaced) return false;
      if (token === current) {
        current = obtain();
        replaced = current;
      }
      return true;
    },
  };
}

const keyFile = z.object({
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }).default('https://oauth2.googleapis.com/token'),
});

/** A service account of Google logs in with its key file, for an access token of an hour. */
export function googleCredentials(
  ports: Pick<AskPorts, 'http' | 'clock'>,
  keyFileText: string,
  scope: string,
): Authorizer {
  const account = readKeyFile(keyFileText);
  if (account === undefined) {
    const message = 'credentials is not the JSON key file of a service account (with client_email and private_key)';
    return bearerCredentials(ports.clock, async () => ({ kind: 'failed', message }));
  }
  const { client_email: iss, token_uri: aud, private_key_id: keyId, key } = account;
  return bearerCredentials(ports.clock, async () => {
    const iat = Math.floor(ports.clock.now() / 1_000);
    const assertion = signedJwt(key, { iss, scope, aud, iat, exp: iat + 3_600 }, keyId);
    const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
    const renewal = await sendTokenRequest(ports, { url: aud, body, secrets: [assertion] });
    if (renewal.kind === 'lost') return { kind: 'failed', message: renewal.message };
    if (renewal.kind === 'failed') return { ...renewal, isAway: !renewal.isBlocked };
    const { accessToken: token, expiresAt = (iat + 3_600) * 1_000 } = renewal.tokens;
    return { kind: 'ok', token, expiresAt };
  });
}

function readKeyFile(text: string) {
  try {
    const file = keyFile.parse(JSON.parse(text));
    const key = privateKeyOf(file.private_key);
    return key && { ...file, key };
  } catch {
    return undefined;
  }
}
