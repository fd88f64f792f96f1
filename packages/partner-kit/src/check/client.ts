import { setTimeout as sleep } from 'node:timers/promises';
import { cause, retryAfterMs } from '../../../sender/src/index.ts';
import { type Json, parseJson } from '../json.ts';
import { type CheckAuth, type Credentials, type Draft, secretNames, withCredentials } from './auth.ts';
import { excerpt, redactHeaders } from './redact.ts';

/** One request and its response. `body` and `json` contain guest data and stay in memory; the rest goes into the report. */
export interface Seen {
  readonly number: number;
  readonly purpose: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 if there was no response. */
  readonly status: number;
  readonly failure: string | undefined;
  readonly ms: number;
  readonly contentType: string;
  readonly retryAfter: string | null;
  readonly link: string | null;
  readonly utf8: boolean;
  readonly bytes: number;
  readonly body: string;
  /** Undefined if the body is not JSON. */
  readonly json: Json | undefined;
  readonly excerpt: string;
}

export interface ClientOptions {
  readonly auth: CheckAuth;
  /** Time between the starts of two requests. Default: 400 ms. */
  readonly intervalMs?: number;
  /** Maximum number of requests. Default: 60. */
  readonly mostRequests?: number;
  readonly now?: () => number;
  readonly wait?: (ms: number) => Promise<void>;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly onRequest?: (seen: Seen) => void;
  /** Ends the check; what was not asked is not judged. */
  readonly signal?: AbortSignal;
}

export class OutOfRequests extends Error {}

const longestWaitMs = 60_000;
const timeoutMs = 30_000;
const mostBytes = 32 * 1_048_576;

/** A considerate client: few requests, one at a time, at the agreed pace; honours Retry-After. */
export class PoliteClient {
  readonly #options: ClientOptions;
  readonly #secret: Set<string>;
  readonly #now: () => number;
  readonly seen: Seen[] = [];
  #lastStart = 0;
  token: string | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#secret = secretNames(options.auth);
    this.#now = options.now ?? Date.now;
  }

  /** One response. A 429 or a failed request is retried once, as the service would; both attempts are recorded. */
  async ask(purpose: string, draft: Draft, credentials: Credentials = 'right'): Promise<Seen> {
    const first = await this.#once(purpose, draft, credentials);
    const again = first.status === 429 || first.status === 0 || first.status >= 500;
    if (!again) return first;
    const asked = retryAfterMs(first.retryAfter, this.#now()) ?? 2_000;
    await this.#wait(Math.min(asked, longestWaitMs));
    return this.#once(`${purpose}, once more`, draft, credentials);
  }

  async #once(purpose: string, draft: Draft, credentials: Credentials): Promise<Seen> {
    const { mostRequests = 60, intervalMs = 400, signal } = this.#options;
    if (signal?.aborted) throw new OutOfRequests('The check was ended.');
    if (this.seen.length >= mostRequests) throw new OutOfRequests(`The limit of ${mostRequests} requests is reached.`);
    const early = this.#lastStart + intervalMs - this.#now();
    if (early > 0) await this.#wait(early);
    this.#lastStart = this.#now();
    const request = withCredentials(this.#options.auth, draft, credentials, this.token, this.#now());
    const answer = await this.#send(request);
    const url = new URL(request.url);
    for (const name of [...url.searchParams.keys()])
      if (this.#secret.has(name.toLowerCase())) url.searchParams.set(name, '…');
    const seen: Seen = {
      number: this.seen.length + 1,
      purpose,
      method: request.method,
      url: decodeURI(url.href),
      headers: redactHeaders(request.headers, this.#secret),
      ms: Math.round(this.#now() - this.#lastStart),
      ...answer,
    };
    this.seen.push(seen);
    this.#options.onRequest?.(seen);
    return seen;
  }

  async #send(request: Draft): Promise<Omit<Seen, 'number' | 'purpose' | 'method' | 'url' | 'headers' | 'ms'>> {
    try {
      const response = await (this.#options.fetch ?? fetch)(request.url.href, {
        method: request.method,
        headers: { Accept: 'application/json', ...request.headers },
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
        ...(request.body === undefined ? {} : { body: request.body }),
      });
      const bytes = await readWhole(response);
      const { body, utf8 } = decode(bytes);
      return {
        status: response.status,
        failure: undefined,
        contentType: response.headers.get('content-type') ?? '',
        retryAfter: response.headers.get('retry-after'),
        link: response.headers.get('link'),
        utf8,
        bytes: bytes.length,
        body,
        json: parseJson(body),
        excerpt: excerpt(body),
      };
    } catch (error) {
      const nothing = { contentType: '', retryAfter: null, link: null, utf8: true, bytes: 0, body: '', excerpt: '' };
      return { status: 0, failure: cause(error), json: undefined, ...nothing };
    }
  }

  async #wait(ms: number): Promise<void> {
    await (this.#options.wait ?? sleep)(ms);
  }
}

async function readWhole(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > mostBytes) throw new Error(`the response exceeds ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Falls back to Latin-1 if it is not UTF-8, so that one broken rule does not hide the others. */
export function decode(bytes: Buffer): { readonly body: string; readonly utf8: boolean } {
  try {
    return { body: new TextDecoder('utf-8', { fatal: true }).decode(bytes), utf8: true };
  } catch {
    return { body: bytes.toString('latin1'), utf8: false };
  }
}
