import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { admit, isAudited } from '../api/admit.ts';
import type { Caller } from '../api/caller.ts';
import type { Node, Route } from '../api/route.ts';
import { writeAudit } from '../store/audit.ts';
import { type Command, type CommonOptions, commandLineUser } from './command.ts';
import { print, type Shown } from './print.ts';

type RoutesOf = (node: Node) => Route[];

/** What a command asks of a route; what is undefined is left out. */
export interface Ask {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: { readonly [name: string]: unknown } | undefined;
  readonly body?: { readonly [name: string]: unknown } | undefined;
}

/** Calls a route of the API in this process, with its checks and its audit entry, as an administrator: who reads the key may do all. */
export async function call<Body extends object>(
  runtime: Runtime,
  routesOf: RoutesOf,
  id: string,
  { params = {}, query = {}, body = {} }: Ask = {},
): Promise<Body> {
  const route = routesOf({ runtime }).find((one) => one.id === id);
  if (route === undefined) throw new TypeError(`there is no route ${id}`);
  const given = { params, query: JSON.parse(JSON.stringify(query)), body: JSON.parse(JSON.stringify(body)) };
  const caller: Caller = {
    tokenId: '',
    grantId: '',
    name: commandLineUser(),
    role: 'admin',
    integrations: undefined,
    kind: 'api',
  };
  const admitted = await admit(route, given, caller, runtime);
  if (admitted.kind === 'problem') throw new InnboundError(admitted.code, admitted.detail);
  const result = await route.handle({
    ...admitted.parsed,
    caller,
    within: admitted.within,
    signal: new AbortController().signal,
    link: undefined,
    cookies: '',
    cookie: undefined,
    fromConsole: false,
  });
  if (result.kind === 'stream') throw new TypeError(`${id} answers with a stream`);
  if (isAudited(route, result)) {
    await writeAudit(runtime.pool, { actor: caller.name, action: id, ...admitted.about });
  }
  if (result.kind === 'problem') throw new InnboundError(result.code, result.detail, result.more);
  return result.body as Body;
}

/** The items of a list, page by page. */
export async function listAll<Item extends object>(
  runtime: Runtime,
  routesOf: RoutesOf,
  id: string,
  query: Ask['query'],
  most: number,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null && items.length < most; ) {
    const limit = String(Math.min(200, most - items.length));
    const page: { items: Item[]; next_cursor: string | null } = await call(runtime, routesOf, id, {
      query: { ...query, cursor, limit },
    });
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}

/** A command that calls a route and prints the answer. `askOf` gets the arguments, then the options. */
export function calling<Given extends readonly unknown[]>(
  command: Command,
  routesOf: RoutesOf,
  id: string,
  askOf: (...given: Given) => Ask,
  shown: Shown = {},
): Command {
  return command.inRuntime(async (runtime, ...given: Given) => {
    const options: CommonOptions = command.opts();
    print(options, await call(runtime, routesOf, id, askOf(...given)), shown);
  });
}
