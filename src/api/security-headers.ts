import type { ServerResponse } from 'node:http';

/**
 * Headers of every response, set on the raw response so that hijacked ones have them too. A page that needs more, such as the
 * console, replaces the content security policy.
 */
export function setSecurityHeaders(response: ServerResponse, secure: boolean): void {
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('x-frame-options', 'DENY');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('content-security-policy', strictPolicy());
  if (secure) response.setHeader('strict-transport-security', 'max-age=31536000; includeSubDomains');
}

/** Loads nothing but what `more` allows. `base-uri`, `form-action` and `frame-ancestors` do not fall back to `default-src`. */
export function strictPolicy(...more: readonly string[]): string {
  return ["default-src 'none'", ...more, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join('; ');
}
