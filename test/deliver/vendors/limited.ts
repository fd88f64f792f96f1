import type { Received } from '../http-server.ts';
import { type Account, split } from './account.ts';

export interface Window {
  readonly requests: number;
  readonly perMs: number;
}

const endpointOf = (method: string, path: string): string => `${method} ${path.replace(/\/\d+$/, '')}`;

/**
 * An account that counts requests in fixed windows, by default those of each endpoint, and those under way, and refuses requests beyond a
 * limit as vendors do.
 */
export function limited(
  make: () => Account,
  windows: readonly Window[],
  scopeOf = endpointOf,
  { simultaneous = Number.POSITIVE_INFINITY, answersAfterMs = 0 } = {},
) {
  const counts = new Map<string, number>();
  const accepted = new Map<string, number>();
  let refused = 0;
  let underWay = 0;
  const add = (to: Map<string, number>, key: string) => to.set(key, (to.get(key) ?? 0) + 1).get(key) ?? 0;
  return {
    refused: () => refused,
    accepted: (path: string) => accepted.get(path) ?? 0,
    make: (): Account => {
      const account = make();
      const answer = (request: Received) => {
        const { path } = split(request.path);
        const endpoint = scopeOf(request.method, path);
        const full = windows.filter(
          ({ requests, perMs }) => add(counts, `${endpoint} ${perMs} ${Math.floor(Date.now() / perMs)}`) > requests,
        );
        if (full.length === 0 && underWay < simultaneous) {
          add(accepted, path);
          if (answersAfterMs === 0) return account.answer(request);
          underWay += 1;
          setTimeout(() => (underWay -= 1), answersAfterMs);
          return { ...account.answer(request), afterMs: answersAfterMs };
        }
        refused += 1;
        if (full.length === 0) return { status: 429 };
        const leftMs = Math.max(...full.map(({ perMs }) => perMs - (Date.now() % perMs)));
        return { status: 429, headers: { 'retry-after': String(Math.ceil(leftMs / 1_000)) } };
      };
      return { ...account, answer };
    },
  };
}
