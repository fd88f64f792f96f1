import { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import type { TokenRole } from '../store/operate/tokens.ts';
import type { Json } from '../terms.ts';
import type { Caller } from './caller.ts';

/**
 * One route of the API: its schemas, who may call it and for which integrations. The server enforces it, the OpenAPI document
 * is generated from it, and a test compares the two.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Under /api/v1, with {parameters}. */
  readonly path: string;
  /** Unique; also the action in the audit log. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** `public` routes need no token. */
  readonly role: TokenRole | 'public';
  readonly scope: Scope;
  /** The response may contain guest data: reading it is audited, and viewers get it masked. */
  readonly payload?: true;
  /** A read by POST, because its input is long: it changes nothing and is not audited. */
  readonly asks?: true;
  /** The handler may hold the answer back until `call.signal` aborts. */
  readonly waits?: true;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType | undefined;
  readonly response: z.ZodType;
  readonly status: number;
  /** Set when the response is not JSON. */
  readonly media?: string;
  readonly handle: (call: Call<unknown, unknown, unknown>) => Promise<Result>;
}

/**
 * How a route relates to integrations.
 *   any      it concerns none, or filters by `call.within` itself
 *   param    the path contains {integration}
 *   object   the path names an object, whose integration is looked up first
 *   all      it concerns all integrations: refused for tokens that are limited to some
 * An integration that a token may not see answers 404, like one that does not exist.
 */
type Scope =
  | { readonly kind: 'any' }
  | { readonly kind: 'param' }
  | { readonly kind: 'object'; readonly of: (params: Record<string, string>) => Promise<string | undefined> }
  | { readonly kind: 'all' };

export interface Call<Params, Query, Body> {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The integrations to include; undefined means all. */
  readonly within: readonly string[] | undefined;
  readonly requestId: string;
  readonly address: string;
  /** Aborted when the caller has gone or the server closes; only for routes that wait. */
  readonly signal: AbortSignal;
  /** The session cookie of the request, even if the route needs none. */
  readonly cookie?: string | undefined;
  /** Whether the request has the header that only the console can send. */
  readonly fromConsole?: boolean;
}

export type Result =
  | {
      readonly kind: 'ok';
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      /** Holds no guest data, so it is not audited. */
      readonly isEmpty?: boolean;
      /** Who acted, if the request itself says it: whoever signs in. */
      readonly actor?: string;
    }
  /** Server-sent events; `open` returns false when there are too many listeners. */
  | {
      readonly kind: 'stream';
      readonly open: (send: (event: string, data: unknown) => void) => boolean;
      readonly close: () => void;
    }
  | {
      readonly kind: 'problem';
      readonly status: number;
      readonly code: ErrorCode;
      readonly detail: string;
      readonly more?: { readonly [key: string]: Json };
    };

export const ok = (body: unknown, headers?: Readonly<Record<string, string>>): Result =>
  headers ? { kind: 'ok', body, headers } : { kind: 'ok', body };
export const problem = (
  status: number,
  code: ErrorCode,
  detail: string,
  more?: { readonly [key: string]: Json },
): Result => (more ? { kind: 'problem', status, code, detail, more } : { kind: 'problem', status, code, detail });
export const notFound = (what: string): Result => problem(404, 'operate.not_found', `There is no ${what}.`);

type Infer<Schema> = Schema extends z.ZodType ? z.infer<Schema> : undefined;

interface Definition<Params, Query, Body> {
  readonly method: Route['method'];
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly role: Route['role'];
  readonly scope: Scope | 'any' | 'param' | 'all';
  readonly payload?: true;
  readonly asks?: true;
  readonly waits?: true;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly response: z.ZodType;
  /** 200 by default. */
  readonly status?: number;
  readonly media?: string;
  readonly handle: (call: Call<Infer<Params>, Infer<Query>, Infer<Body>>) => Promise<Result> | Result;
}

const nothing = z.strictObject({});

/** A route whose handler is typed by its schemas. */
export function route<
  Params extends z.ZodType | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(definition: Definition<Params, Query, Body>): Route {
  const { scope, params, query, body, status = 200, handle, ...rest } = definition;
  return {
    ...rest,
    scope: typeof scope === 'string' ? { kind: scope } : scope,
    params: params ?? nothing,
    query: query ?? nothing,
    body,
    status,
    handle: async (call) => handle(call as Call<Infer<Params>, Infer<Query>, Infer<Body>>),
  };
}

/** Instants in API responses. */
export const instant = z.iso.datetime({ offset: true });
export const integrationParam = z.strictObject({ integration: z.string().min(1).max(200) });
/** Data whose schema is described elsewhere: canonical records, payloads, details. */
export const anyJson = z.unknown();
