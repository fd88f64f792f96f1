import { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import type { Json } from '../terms.ts';
import type { Caller, Role } from './caller.ts';

/**
 * One route of the API, said once: what it takes and gives, who may call it and on which brands. The server enforces it, the
 * OpenAPI document tells it, and a test holds one against the other.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Under /api/v1, with {parameters}. */
  readonly path: string;
  /** Unique; the action's name in the audit. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** `public` is answered without a token. */
  readonly role: Role | 'public';
  readonly scope: Scope;
  /** The answer may hold guest data: that it was read is audited, and a viewer gets it masked. */
  readonly payload?: true;
  /** A question that is asked by POST since it is long: it changes nothing and is not audited. */
  readonly asks?: true;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType | undefined;
  readonly response: z.ZodType;
  readonly status: number;
  /** Where the answer is no JSON. */
  readonly media?: string;
  readonly handle: (call: Call<unknown, unknown, unknown>) => Promise<Result>;
}

/**
 * How a route relates to brands.
 *   any      it concerns none, or answers within `call.within` by itself
 *   param    the path names the brand in {integration}
 *   object   the path names a thing that belongs to a brand, which is looked up first
 *   all      it concerns all brands at once: only for tokens that are not limited to some
 * A brand that a token may not see is not there for it: 404, as for one that does not exist.
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
  /** The brands to answer about; undefined means all. */
  readonly within: readonly string[] | undefined;
  readonly requestId: string;
  readonly address: string;
}

export type Result =
  | { readonly kind: 'ok'; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Events to the caller for as long as it listens; `open` is false where it may not. */
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
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly response: z.ZodType;
  /** 200 where it is not said. */
  readonly status?: number;
  readonly media?: string;
  readonly handle: (call: Call<Infer<Params>, Infer<Query>, Infer<Body>>) => Promise<Result> | Result;
}

const nothing = z.strictObject({});

/** A route with its handler typed by its own schemas. */
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

/** Instants as the API writes them. */
export const instant = z.iso.datetime({ offset: true });
export const integrationParam = z.strictObject({ integration: z.string().min(1).max(200) });
/** Data whose form is described elsewhere: canonical records, payloads, details. */
export const anyJson = z.unknown();
