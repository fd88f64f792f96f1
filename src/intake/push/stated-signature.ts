import type { Headers, HmacVerification, Request, SignedText } from './verification.ts';

/** What the headers of a request state about its signature; nothing is verified yet. */
export interface StatedSignature {
  /** Undefined if it is missing. */
  readonly timestamp: string | undefined;
  /** The header with the signature; undefined if it has none. */
  readonly header: string | undefined;
  /** The signatures as written, without the prefix or the name of their part. */
  readonly macs: readonly string[];
}

export const maxSignatures = 10;

export function statedSignature(scheme: HmacVerification, headers: Headers): StatedSignature {
  const { parts, prefix, timestampHeader } = scheme;
  const header = headerText(headers, scheme.header);
  const apart = timestampHeader === undefined ? undefined : headerText(headers, timestampHeader);
  if (parts === undefined) {
    const isPrefixed = header?.startsWith(prefix) === true;
    return { timestamp: apart, header, macs: isPrefixed ? [header.slice(prefix.length)] : [] };
  }
  const macs = valuesOf(header, parts.signature).slice(0, maxSignatures);
  // Two timestamps stay together and are malformed.
  const timestamp = parts.timestamp === undefined ? apart : valuesOf(header, parts.timestamp).join(', ');
  return { timestamp, header: macs.length > 0 ? header : undefined, macs };
}

/** The values of the parts with this name, in `t=1772357400,v1=5257a8…,v1=9f0c3b…`. A semicolon separates parts too. */
function valuesOf(header: string | undefined, name: string): string[] {
  return (header ?? '').split(/[,;]/).flatMap((part) => {
    const [key = '', ...value] = part.split('=');
    const text = value.join('=').trim();
    return key.trim() === name && text !== '' ? [text] : [];
  });
}

/** The parts of a request that a template may sign; endpoints take no method but POST. */
export function signedPart({ headers, url = '' }: Request, timestamp: string): (name: string) => string {
  return (name) => {
    if (name === 'timestamp') return timestamp;
    if (name === 'method') return 'POST';
    return name === 'url' ? url : (headerText(headers, name.replace('header.', '')) ?? '');
  };
}

/** A repeated header is joined by commas: without `parts` it then matches no signature's form. */
export function headerText(headers: Headers, name: string): string | undefined {
  const key = name.toLowerCase();
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * The text before and after the raw body; `partOf` gives the value of a placeholder. The template is divided first: a timestamp that reads
 * {body} is only a wrong timestamp.
 */
export function aroundBody(sign: SignedText, partOf: (name: string) => string): readonly [string, string] {
  if (sign === 'timestamp.body') return [`${partOf('timestamp')}.`, ''];
  if (sign === 'body') return ['', ''];
  const filled = (text: string) =>
    text.replace(/\{(timestamp|method|url|header\.[\w-]+)\}/g, (_, name: string) => partOf(name));
  const [before = '', after = ''] = sign.split('{body}').map(filled);
  return [before, after];
}
