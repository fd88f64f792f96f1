import type { ServerResponse } from 'node:http';

/** Headers of every response. A page that needs more, such as the console, replaces the content security policy. */
export function securityHeaders(secure: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': strictPolicy(),
    ...(secure && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  };
}

/** Set on the raw response, so that hijacked ones have them too. */
export function setSecurityHeaders(response: ServerResponse, secure: boolean): void {
  for (const [name, value] of Object.entries(securityHeaders(secure))) response.setHeader(name, value);
}

/** Loads nothing but what `more` allows. `base-uri`, `form-action` and `frame-ancestors` do not fall back to `default-src`. */
export function strictPolicy(...more: readonly string[]): string {
  return ["default-src 'none'", ...more, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join('; ');
}
