import { z } from 'zod';
import { longestId } from '../../core/canonical/field-check.ts';
import type { ErrorCode } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Json } from '../../terms.ts';
import type { ChangeFeed } from '../operations/change-feed.ts';
import type { LiveFeed } from '../operations/live-feed.ts';
import type { Oidc } from '../operations/oidc.ts';
import type { OnboardingLink } from '../store/onboarding.ts';
import type { Caller, CallerRole } from './caller.ts';

/** What most routes work with. */
export interface Node {
  readonly runtime: Runtime;
}

/** With the services that a running node keeps open for some of them. */
export interface Api extends Node {
  readonly oidc: Oidc;
  readonly live: LiveFeed;
  readonly changes: ChangeFeed;
}

/**
 * One route of the API: its schemas, who may call it and for which integrations. The server enforces it, the OpenAPI document
 * is generated from it, and a test compares the two.
 */
export interface Route {
  readonly method: Method;
  /** Under /api/v1, with {parameters}. */
  readonly path: string;
  /** Unique; also the action in the audit log. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** `public` routes need no token; `partner` routes need the browser that opened the onboarding link in their path. */
  readonly role: CallerRole | 'public';
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

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * How a route relates to integrations.
 *   any      it concerns none, or filters by `call.within` itself
 *   param    the path contains {integration}
 *   object   the path names an object, whose integration is looked up first
 *   all      it concerns all integrations: refused for tokens that are limited to some
 * An integration that a token may not see answers 404, like one that does not exist.
 */
type Scope = { readonly kind: 'any' | 'param' | 'all' } | { readonly kind: 'object'; readonly of: IntegrationOf };

type IntegrationOf = (params: Record<string, string>) => Promise<string | undefined>;

export interface Call<Params, Query, Body> {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The integrations to include: the one that the query names, or those of the token; undefined means all. */
  readonly within: readonly string[] | undefined;
  /** Aborted when the caller has gone or the server closes; only for routes that wait. */
  readonly signal: AbortSignal;
  /** The onboarding link that a partner has opened; for `partner` routes only. */
  readonly link: OnboardingLink | undefined;
  /** All cookies of the request, for a browser that opens an onboarding link again. */
  readonly cookies: string;
  /** The session cookie of the request, even if the route needs none. */
  readonly cookie: string | undefined;
  /** Whether the request has the header that only the console can send. */
  readonly fromConsole: boolean;
}

export type Result =
  | {
      readonly kind: 'ok';
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>> | undefined;
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
      readonly more?: { readonly [key: string]: Json } | undefined;
    };

type Ok = Extract<Result, { kind: 'ok' }>;
export type Problem = Extract<Result, { kind: 'problem' }>;

export const ok = (body: unknown, headers?: Ok['headers']): Ok => ({ kind: 'ok', body, headers });
export const problem = (status: number, code: ErrorCode, detail: string, more?: Problem['more']): Problem => ({
  kind: 'problem',
  status,
  code,
  detail,
  more,
});
export const notFound = (what: string): Problem => problem(404, 'operate.not_found', `There is no ${what}.`);
export const okIf = (isDone: boolean, body: object, what: string): Result => (isDone ? ok(body) : notFound(what));
export const okIfFound = (resource: unknown, what: string): Result =>
  resource === undefined ? notFound(what) : ok(resource);

type Infer<Schema> = Schema extends z.ZodType ? z.infer<Schema> : undefined;

/** The names of the {parameters} in a path. */
type NameIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never;

interface Definition<Path extends string, Params, Query, Body>
  extends Omit<Route, 'role' | 'method' | 'path' | 'scope' | 'params' | 'query' | 'body' | 'status' | 'handle'> {
  /** `any`, or how to find the integration of an object. By default the integration in the path; without one, all. */
  readonly scope?: 'any' | IntegrationOf;
  /** By default, each parameter is an id or a name. */
  readonly params?: Params;
  readonly query?: Query;
  /** By default an empty object, for the methods that have a body. */
  readonly body?: Body;
  /** 200 by default. */
  readonly status?: number;
  readonly handle: (
    call: Call<Params extends z.ZodType ? z.infer<Params> : Record<NameIn<Path>, string>, Infer<Query>, Infer<Body>>,
  ) => Promise<Result> | Result;
}

const nothing = z.strictObject({});

/** A route for callers of a role; its handler is typed by its path and schemas. */
const routesFor =
  (role: Route['role']) =>
  <
    const At extends `${Method} /${string}`,
    Params extends z.ZodType | undefined = undefined,
    Query extends z.ZodType | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
  >(
    at: At,
    definition: Definition<At, Params, Query, Body>,
  ): Route => {
    const [method, path] = at.split(' ') as [Method, string];
    const { scope, params, query = nothing, body, status = 200, handle, ...rest } = definition;
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);
    const otherwise = names.includes('integration') ? 'param' : 'all';
    return {
      ...rest,
      role,
      method,
      path,
      scope: typeof scope === 'function' ? { kind: 'object', of: scope } : { kind: scope ?? otherwise },
      params: params ?? z.strictObject(Object.fromEntries(names.map((name) => [name, nameOrId]))),
      query,
      body: body ?? (method === 'POST' || method === 'PUT' ? nothing : undefined),
      status,
      handle: async (call) => handle(call as Parameters<typeof handle>[0]),
    };
  };

export const anyone = routesFor('public');
export const partner = routesFor('partner');
export const feed = routesFor('feed');
export const viewer = routesFor('viewer');
export const operator = routesFor('operator');
export const admin = routesFor('admin');

const nameOrId = z.string().min(1).max(longestId);
