import { isUtf8 } from 'node:buffer';
import type { ErrorCode } from '../../../errors.ts';
import { foreignText } from '../../../kit/foreign-text.ts';
import { parseJson } from '../../../kit/json.ts';
import { messageIn } from '../../../kit/own-words.ts';
import { escapedXml } from '../../../kit/xml.ts';
import type { Json } from '../../../terms.ts';
import { pathReader } from '../../json-path/read.ts';

export type Read =
  | { readonly kind: 'ok'; readonly body: Json }
  | {
      readonly kind: 'unreadable';
      readonly code: ErrorCode;
      readonly message: string;
      /** What an adapter said; it may quote the content. */
      readonly said?: string;
      /** Starts like JSON but is truncated or malformed: a retry may succeed. */
      readonly passing: boolean;
    };

const deepest = 64;

const unreadable = (code: ErrorCode, message: string, passing = false): Read => ({
  kind: 'unreadable',
  code,
  message,
  passing,
});

/** Parses an answer. The content type is ignored: partners send JSON as text/html and HTML as application/json. */
export function readAnswer(bytes: Uint8Array, contentType: string | undefined): Read {
  if (!isUtf8(bytes)) return unreadable('pull.not_utf8', `the answer (${bytes.length} bytes) is not UTF-8`);
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.byteLength - start).toString('utf8');
  const first = /\S/.exec(text)?.[0];
  if (first === undefined) return unreadable('pull.not_json', 'the answer is empty', true);
  if (first === '<') return markup(text, contentType);
  const seen = scan(bytes);
  if (seen.isTooDeep) return unreadable('pull.too_deep', `the answer is nested deeper than ${deepest} levels`);
  try {
    return { kind: 'ok', body: seen.hasLongNumber ? parseJson(text) : (JSON.parse(text) as Json) };
  } catch (error) {
    const looksLikeJson = first === '{' || first === '[';
    // The parser's message quotes the content, which may be guest data: only the position is used.
    const position = / at position (\d+)/.exec((error as Error).message)?.[1];
    const where = position === undefined ? 'it is truncated' : `the error is at character ${position}`;
    const what = looksLikeJson ? `${where} (of ${text.length} characters)` : described(contentType);
    return unreadable('pull.not_json', `the answer is not JSON: ${what}`, looksLikeJson);
  }
}

function markup(text: string, contentType: string | undefined): Read {
  const isHtml = /^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(text);
  if (!isHtml)
    return unreadable('pull.xml', 'the answer is XML; the connector needs adapter: xml, or an adapter of its own');
  return unreadable('pull.not_json', `the answer is a web page (${described(contentType)})`);
}

function described(contentType: string | undefined): string {
  return contentType === undefined ? 'no content type' : `content type ${foreignText(contentType)}`;
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * One pass over the bytes: the nesting depth outside strings (JSON.parse survives any depth; code that walks the value does not),
 * and whether a number is too long for a double. Almost no answer has one, so most skip parseJson's own search for it, which
 * takes as long as JSON.parse.
 */
function scan(bytes: Uint8Array): { isTooDeep: boolean; hasLongNumber: boolean } {
  const { length } = bytes;
  let depth = 0;
  let digits = 0;
  let hasLongNumber = false;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] as number;
    if (byte === quote) {
      for (i++; i < length && bytes[i] !== quote; i++) if (bytes[i] === backslash) i++;
      digits = 0;
    } else if ((byte >= 0x30 && byte <= 0x39) || byte === 0x2e) {
      if (++digits >= 16) hasLongNumber = true;
    } else {
      // An exponent follows a digit; the e in true and false follows a letter.
      if (digits > 0 && (byte | 0x20) === 0x65) hasLongNumber = true;
      digits = 0;
      if (byte === 0x7b || byte === 0x5b) {
        if (++depth > deepest) return { isTooDeep: true, hasLongNumber };
      } else if (byte === 0x7d || byte === 0x5d) {
        depth--;
      }
    }
  }
  return { isTooDeep: false, hasLongNumber };
}

const mostRead = 65_536;

/** The partner's own error message, or the beginning of an answer without one: one short line, with credentials masked. */
export function partnerMessage(bytes: Uint8Array, secrets: readonly string[]): string | undefined {
  const read = bytes.length > mostRead ? undefined : readAnswer(bytes, undefined);
  const message = read?.kind === 'ok' ? messageIn(read.body) : undefined;
  return message === undefined ? beginningOf(bytes, secrets) : masked(message, secrets);
}

/** The beginning of an answer that cannot be read as JSON, as one short line with credentials masked. */
export function beginningOf(bytes: Uint8Array, secrets: readonly string[]): string | undefined {
  return masked(Buffer.from(bytes.subarray(0, mostRead)).toString('utf8'), secrets) || undefined;
}

/** The error message in an answer, or the answer itself. */
export function wordsIn(body: Json): string {
  return messageIn(body) ?? JSON.stringify(body);
}

/** The text without the credentials, as they are or escaped in JSON, in XML or in a URL. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length > 3)
    .flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      escapedXml(secret),
      encodeURIComponent(secret.toWellFormed()),
    ])
    .reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}

/** One line of at most 300 characters, without the credentials. */
export function masked(words: string, secrets: readonly string[]): string {
  const line = withoutSecrets(words, secrets)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

type Headers = Readonly<Record<string, string>>;

/** Reads a value of an answer: a path in its body, or header.NAME. */
export function answerReader(path: string): (body: Json, headers: Headers) => Json | undefined {
  const read = pathReader(path);
  if (!path.startsWith('header.')) return read;
  const name = path.slice('header.'.length).toLowerCase();
  // An answer may have a key of that name.
  return (body, headers) => headers[name] ?? read(body);
}
