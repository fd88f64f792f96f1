import { isObject, type Json } from '../json.ts';

/** One complete request. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** Path and query exactly as received, for signatures. */
  readonly pathQuery: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bodyText: string;
  /** scheme://host as the caller sees it. */
  readonly origin: string;
}

/** One response as a value, so that a fault can change it before it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

const jsonType = { 'content-type': 'application/json; charset=utf-8' };

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { ...jsonType, ...headers }, body: JSON.stringify(body) };
}

export function problem(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return json(status, { error: { code, message } }, headers);
}

/** The body as a JSON object; undefined if it is not one. */
export function bodyObject(text: string): { [key: string]: Json } | undefined {
  try {
    const parsed: Json = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
