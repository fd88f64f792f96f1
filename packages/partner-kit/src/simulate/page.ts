import { readFileSync } from 'node:fs';
import type { Answer } from './exchange.ts';

const file = new URL('./page.html', import.meta.url);
let page: string | undefined;

/** A single file without external resources, so it works offline. */
export function statePage(): Answer {
  page ??= readFileSync(file, 'utf8');
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    },
    body: page,
  };
}
