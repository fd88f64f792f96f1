import { createHmac } from 'node:crypto';
import type { EpochMs } from '../../../terms.ts';
import type { WireRequest } from '../request.ts';
import type { HmacAuth } from '../settings.ts';

export interface Moment {
  readonly now: EpochMs;
  /** Random, never used twice. */
  readonly nonce: string;
}

/** Signs the request as it goes over the wire. Called at each attempt, since a partner may refuse an old timestamp or a nonce it knows. */
export function signed(request: WireRequest, auth: HmacAuth, { now, nonce }: Moment): WireRequest {
  const parts = {
    timestamp: String(Math.floor(now / 1000)),
    nonce,
    method: request.method,
    path_query: request.pathQuery,
    body: request.body ?? '',
  };
  const signature = createHmac(auth.algorithm, auth.secret).update(write(auth.sign, parts)).digest(auth.encoding);
  const headers: Record<string, string> = { ...request.headers };
  for (const [name, template] of Object.entries(auth.headers)) headers[name] = write(template, { ...parts, signature });
  return { ...request, headers };
}

/** One pass over the template: a body that happens to hold a placeholder's text is left as it is. */
function write(template: string, parts: Readonly<Record<string, string>>): string {
  return template.replace(/\{([a-z_]+)\}/g, (whole, name: string) =>
    Object.hasOwn(parts, name) ? (parts[name] ?? whole) : whole,
  );
}
