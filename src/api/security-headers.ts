import type { ServerResponse } from 'node:http';

/**
 * Headers of every response, set on the raw response so that hijacked ones have them too. A page that needs more, such as the
 * console, replaces the content security policy.
 */
export function setSecurityHeaders(response: ServerResponse, secure: boolean): void {
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('x-frame-options', 'DENY');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  if (secure) response.setHeader('strict-transport-security', 'max-age=31536000');
}
