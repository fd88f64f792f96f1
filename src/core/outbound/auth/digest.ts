import { createHash } from 'node:crypto';
import type { DigestAuth } from '../../documents/pull.ts';
import type { WireRequest } from '../ask/request.ts';

/** What the partner asks to be answered with (RFC 7616). */
export interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly algorithm: 'MD5' | 'SHA-256';
  /** The session variant, in which the key also depends on the nonces. */
  readonly isSession: boolean;
  /** Absent for servers of before RFC 2617. */
  readonly qop?: 'auth' | 'auth-int';
  readonly opaque?: string;
}

/** The strongest challenge of a WWW-Authenticate header that we can answer. Several challenges, also of other schemes, may share it. */
export function challengeIn(header: string | undefined): Challenge | undefined {
  const schemes = (header ?? '').split(/(?:^|,)\s*(?=[A-Za-z][\w-]*\s+[\w*-]+\s*=)/);
  const challenges = schemes.flatMap((text) => (/^Digest\s/i.test(text) ? (challengeOf(text.slice(7)) ?? []) : []));
  return challenges.find(({ algorithm }) => algorithm === 'SHA-256') ?? challenges[0];
}

function challengeOf(text: string): Challenge | undefined {
  const values = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of text.matchAll(/([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/g))
    values.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain);
  const [, algorithm, session] = /^(MD5|SHA-256)(-sess)?$/i.exec(values.get('algorithm') ?? 'MD5') ?? [];
  const { realm, nonce, opaque, qop } = Object.fromEntries(values);
  if (algorithm === undefined || nonce === undefined) return undefined;
  const offered = qop?.split(/\s*,\s*/) ?? [];
  const chosen = (['auth', 'auth-int'] as const).find((one) => offered.includes(one));
  if (qop !== undefined && chosen === undefined) return undefined;
  return {
    realm: realm ?? '',
    nonce,
    algorithm: algorithm.toUpperCase() as Challenge['algorithm'],
    isSession: session !== undefined,
    ...(chosen && { qop: chosen }),
    ...(opaque !== undefined && { opaque }),
  };
}

/** The request with the answer to the challenge. `count`: how many requests have used its nonce, this one included. */
export function answering(
  request: WireRequest,
  { username, password }: DigestAuth,
  { realm, nonce, algorithm, isSession, qop, opaque }: Challenge,
  { count, cnonce }: { readonly count: number; readonly cnonce: string },
): WireRequest {
  const hashed = (...parts: string[]) =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(parts.join(':'))
      .digest('hex');
  const nc = count.toString(16).padStart(8, '0');
  const user = hashed(username, realm, password);
  const key = isSession ? hashed(user, nonce, cnonce) : user;
  const body = qop === 'auth-int' ? [hashed(request.body ?? '')] : [];
  const asked = hashed(request.method, request.pathQuery, ...body);
  const response = qop === undefined ? hashed(key, nonce, asked) : hashed(key, nonce, nc, cnonce, qop, asked);
  const quoted = { username, realm, nonce, uri: request.pathQuery, response, ...(opaque !== undefined && { opaque }) };
  const fields = Object.entries(quoted).map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`);
  fields.push(`algorithm=${algorithm}${isSession ? '-sess' : ''}`);
  if (qop !== undefined) fields.push(`qop=${qop}`, `nc=${nc}`);
  if (qop !== undefined || isSession) fields.push(`cnonce="${cnonce}"`);
  return { ...request, headers: { ...request.headers, Authorization: `Digest ${fields.join(', ')}` } };
}
