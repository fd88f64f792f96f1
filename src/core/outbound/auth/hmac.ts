import { createHmac, hash } from 'node:crypto';
import type { EpochMs } from '../../../terms.ts';
import type { Auth } from '../../documents/pull.ts';
import type { WireRequest } from '../ask/request.ts';

export type HmacAuth = Extract<Auth, { type: 'hmac' }>;

interface SigningTime {
  readonly now: EpochMs;
  /** Random, never reused. */
  readonly nonce: string;
}

/** Signs the request as sent. Called for each attempt: a partner may refuse an old timestamp or a repeated nonce. */
export function signed(request: WireRequest, auth: HmacAuth, { now, nonce }: SigningTime): WireRequest {
  const parts = {
    timestamp: String(Math.floor(now / 1000)),
    nonce,
    method: request.method,
    path_query: request.pathQuery,
    host: new URL(request.url).host,
    path: request.pathQuery.replace(/\?.*$/s, ''),
    query: /\?(.*)$/s.exec(request.pathQuery)?.[1] ?? '',
    get body_sha256() {
      return hash('sha256', request.body ?? '', 'base64');
    },
    body: request.body ?? '',
  };
  const signature = createHmac(auth.algorithm, keyOf(auth)).update(write(auth.sign, parts)).digest(auth.encoding);
  const headers: Record<string, string> = { ...request.headers };
  for (const [name, template] of Object.entries(auth.headers)) headers[name] = write(template, { ...parts, signature });
  return { ...request, headers };
}

function keyOf({ secret, secret_encoding: encoding }: HmacAuth): Buffer {
  return Buffer.from(secret, encoding === 'text' ? 'utf8' : encoding);
}

/** Replaces in one pass, so that a placeholder's text inside the body is not replaced. */
function write(template: string, parts: Readonly<Record<string, string>>): string {
  return template.replace(/\{([a-z_0-9]+)\}/g, (whole, name: string) =>
    Object.hasOwn(parts, name) ? (parts[name] ?? whole) : whole,
  );
}
