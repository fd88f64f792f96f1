import { createHmac } from 'node:crypto';
import type { Exchange } from '../exchange.ts';
import { type Guard, sameText } from './guard.ts';
import { defaultHmacHeaders, defaultHmacSign, type HmacSettings } from './method.ts';

/** Extracts timestamp, nonce and signature from the headers, using the client's templates, and compares the signature. */
export function hmacGuard(settings: HmacSettings, now: () => number): Guard {
  const templates = Object.entries(settings.headers ?? defaultHmacHeaders).map(([name, template]) => ({
    name,
    reader: reader(template),
  }));
  const toleranceMs = (settings.toleranceSeconds ?? 300) * 1000;
  const seen = new Set<string>();
  return (exchange) => {
    const found: Record<string, string> = {};
    for (const { name, reader } of templates) {
      const header = exchange.headers[name.toLowerCase()];
      if (header === undefined) return `The header ${name} is missing.`;
      const parts = reader.exec(header);
      if (parts === null) return `The header ${name} does not match its template.`;
      Object.assign(found, parts.groups);
    }
    const { timestamp, nonce, signature = '' } = found;
    const sentMs = readTime(timestamp);
    if (timestamp !== undefined && (sentMs === undefined || Math.abs(now() - sentMs) > toleranceMs)) {
      return 'The timestamp is not within the tolerance.';
    }
    if (!sameText(signature, signatureOf(settings, exchange, timestamp, nonce))) return 'The signature is wrong.';
    if (nonce !== undefined) {
      if (seen.has(nonce)) return 'The nonce was used before.';
      seen.add(nonce);
      // Forget the oldest, to bound memory.
      if (seen.size > 10_000) seen.delete(seen.values().next().value ?? '');
    }
    return undefined;
  };
}

function signatureOf(settings: HmacSettings, exchange: Exchange, timestamp = '', nonce = ''): string {
  const values: Record<string, string> = {
    timestamp,
    nonce,
    method: exchange.method,
    path_query: exchange.pathQuery,
    body: exchange.bodyText,
  };
  const text = (settings.sign ?? defaultHmacSign).replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
  return createHmac(settings.algorithm, settings.secret).update(text).digest(settings.encoding);
}

/** `HMAC k1:{nonce}:{signature}` as a regular expression with a named group per placeholder. */
function reader(template: string): RegExp {
  const parts = template.split(/\{(timestamp|nonce|signature)\}/);
  const pattern = parts.map((part, index) =>
    index % 2 === 1 ? `(?<${part}>.+?)` : part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
  );
  return new RegExp(`^${pattern.join('')}$`);
}

/** Seconds, milliseconds or ISO 8601. */
function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{9,10}$/.test(text)) return Number(text) * 1000;
  if (/^\d{12,13}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
