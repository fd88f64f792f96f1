import { foreignText } from '../../../kit/foreign-text.ts';
import type { Answered } from '../http.ts';
import { withoutSecrets } from './answer.ts';
import type { OpenRequest, WireRequest } from './request.ts';

/** A request as it was sent and the beginning of its answer, for people: without credentials, and without the values of the answer. */
export interface ShownExchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Absent without an answer. */
  readonly status?: number;
  readonly duration_ms?: number;
  /** Why there was no answer. */
  readonly failure?: string;
  readonly answer?: string;
}

const longestBody = 2_000;
const longestAnswer = 1_000;
const plainHeaders: ReadonlySet<string> = new Set(['accept', 'content-type']);

export function exchangeOf(
  asked: OpenRequest,
  wire: WireRequest,
  answered: Answered,
  secrets: readonly string[],
): ShownExchange {
  const named = new Set(Object.keys(asked.headers).map((name) => name.toLowerCase()));
  // A header that the connector does not name was added by the credentials or by the brand.
  const headers = Object.entries(wire.headers).map(([name, value]) => {
    const isShown = plainHeaders.has(name.toLowerCase()) || named.has(name.toLowerCase());
    return [name, isShown ? withoutSecrets(value, secrets) : '***'] as const;
  });
  return {
    method: wire.method,
    url: withoutSecrets(wire.url, secrets),
    headers: Object.fromEntries(headers),
    ...(wire.body !== undefined && { body: withoutSecrets(wire.body, secrets).slice(0, longestBody) }),
    ...(answered.kind === 'answer'
      ? {
          status: answered.status,
          duration_ms: Math.round(answered.durationMs),
          answer: outline(answered.bytes, answered.status, secrets),
        }
      : { failure: answered.message }),
  };
}

/** The beginning of an answer with its names but without its values, which may be guest data. Of a refusal the known words stay. */
export function outline(bytes: Uint8Array, status = 200, secrets: readonly string[] = []): string {
  const known = (text: string) => (status < 400 ? '…' : foreignText(withoutSecrets(text, secrets)));
  const text = new TextDecoder().decode(bytes.subarray(0, longestAnswer)).trimStart();
  if (/^[[{"]/.test(text)) {
    return text.replace(/"((?:[^"\\]|\\.)*)(?:"|$)(\s*:)?|[^\s{}[\],:"]+/g, (bare, quoted?: string, colon?: string) => {
      if (quoted === undefined) return /^(?:true|false|null)$/.test(bare) ? bare : '…';
      return colon === undefined ? `"${known(quoted)}"` : `"${shownName(quoted)}"${colon}`;
    });
  }
  if (text.startsWith('<')) {
    return text
      .replace(/<[!?][^>]*(?:>|$)/g, '<…>')
      .replace(/=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s>"']+)/g, '="…"')
      .replace(/>\s*[^<\s][^<]*/g, '>…')
      .replace(/[^\s<>/="…]+/g, shownName);
  }
  return text === '' ? '' : `${known(text)} (${bytes.length} bytes of text)`;
}

/** A name of a field. Some partners use ids, e-mail addresses or phone numbers as keys. */
const shownName = (name: string): string =>
  /^[$@_A-Za-z][\w.:$-]{0,63}$/.test(name) && !/\d\D*\d\D*\d/.test(name) ? name : '…';
