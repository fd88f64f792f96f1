import type { z } from 'zod';
import { noIntegration } from '../../errors/no-integration.ts';
import { isTooDeep } from '../../kit/json.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Json } from '../../terms.ts';
import { hashIdentity } from '../privacy/identity.ts';
import { type Caller, maySee } from './caller.ts';
import { notFound, type Problem, problem, type Result, type Route } from './route.ts';

/** What a caller asks of a route, whatever brought it: a request, or a command in this process. */
export interface Given {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
}

/** A call that may be made. */
export interface Admitted {
  readonly kind: 'admitted';
  readonly parsed: { readonly params: unknown; readonly query: unknown; readonly body: unknown };
  /** The integrations to include: the one that the query names, or those of the token; undefined means all. */
  readonly within: readonly string[] | undefined;
  /** What the audit log says that it concerns. */
  readonly about: { readonly integration: string | undefined; readonly target: { readonly [key: string]: Json } };
}

/** Whether the caller may ask this of the integration that it concerns, and asks it as the schemas say. */
export async function admit(route: Route, given: Given, caller: Caller, runtime: Runtime): Promise<Admitted | Problem> {
  if (isTooDeep(given.body)) return problem(400, 'operate.bad_request', 'The body is nested too deep.');
  if (Object.values(given).some(isUnstorable)) {
    return problem(400, 'operate.bad_request', 'The request contains a NUL character or half a surrogate pair.');
  }
  const scope = await scopeOf(route, given.params, caller);
  if (scope.kind === 'problem') return scope;
  const parsed = parse(route, given);
  if (parsed.kind === 'problem') return parsed;
  const asked = (parsed.query as { integration?: unknown } | undefined)?.integration;
  const { integration: named, preview } = (parsed.body ?? {}) as { integration?: unknown; preview?: Json };
  if (typeof asked === 'string' && !maySee(caller, asked)) {
    return problem(404, 'operate.not_found', noIntegration(asked));
  }
  return {
    kind: 'admitted',
    parsed,
    within: typeof asked === 'string' ? [asked] : caller.integrations,
    about: {
      integration: scope.integration ?? [asked, named].find((one) => typeof one === 'string'),
      target: { ...given.params, ...sought(parsed.query, runtime), ...(preview === true && { preview }) },
    },
  };
}

/** Whether the audit log gets an entry: about every change, and about every answer with guest data. */
export function isAudited(route: Route, result: Result): boolean {
  const showsData = route.payload === true && !(result.kind === 'ok' && result.isEmpty);
  return (route.method !== 'GET' && !route.asks) || showsData;
}

async function scopeOf(
  { scope, path }: Route,
  params: Given['params'],
  caller: Caller,
): Promise<{ readonly kind: 'within'; readonly integration: string | undefined } | Problem> {
  if (scope.kind === 'any') return { kind: 'within', integration: undefined };
  if (scope.kind === 'all') {
    if (caller.integrations === undefined) return { kind: 'within', integration: undefined };
    return problem(403, 'operate.forbidden', 'This concerns all integrations; the token is limited to some of them.');
  }
  const integration = scope.kind === 'object' ? await scope.of(params) : params.integration;
  if (integration !== undefined && maySee(caller, integration)) return { kind: 'within', integration };
  if (scope.kind === 'param') return problem(404, 'operate.not_found', noIntegration(integration ?? ''));
  const [, kind = '', name = ''] = /([\w-]+)s\/\{(\w+)\}/.exec(path) ?? [];
  return notFound(`${kind.replaceAll('-', ' ')} ${params[name]}`);
}

function parse(route: Route, given: Given): ({ readonly kind: 'ok' } & Admitted['parsed']) | Problem {
  const problems: { pointer: string; message: string }[] = [];
  const read = (where: string, schema: z.ZodType, value: unknown): unknown => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      const message = issue.code === 'unrecognized_keys' ? `unknown: ${issue.keys.join(', ')}` : issue.message;
      problems.push({ pointer: [where, ...issue.path.map(String)].join('/'), message });
    }
    return undefined;
  };
  const params = read('path', route.params, given.params);
  const query = read('query', route.query, given.query);
  const body = route.body && read('body', route.body, given.body ?? {});
  if (problems.length === 0) return { kind: 'ok', params, query, body };
  const detail = problems.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ');
  return problem(422, 'operate.invalid_input', detail, { problems });
}

/** The filters of a search. Its text may be a guest's name or address: the audit log has a keyed hash of it. */
function sought(query: unknown, { keys }: Runtime): { [key: string]: Json } {
  const { q, cursor: _, ...rest } = (query ?? {}) as { [key: string]: Json | undefined };
  const filters = Object.entries(rest).filter(([, value]) => value !== undefined) as [string, Json][];
  const text = typeof q === 'string' ? q.trim().toLowerCase() : '';
  const hash = () => `hmac:${hashIdentity(keys.hashKeys[0], `search ${text}`).slice(0, 32)}`;
  return { ...Object.fromEntries(filters), ...(text !== '' && { q: hash() }) };
}

/** PostgreSQL cannot store such a text, and no field of ours contains it. */
function isUnstorable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some((pair) => pair.some(isUnstorable));
}
