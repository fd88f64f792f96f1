import type { Clock } from '../../kit/clock.ts';
import type { EpochMs } from '../../terms.ts';
import type { Endpoint } from './ports.ts';

/**
 * An in-memory cache of the endpoints. A known endpoint costs no query. Unknown ids are looked up together, with one query at
 * a time and at most twenty a second, so that a new endpoint works at once on every node and a flood of guessed ids hardly
 * loads the database.
 */
export interface DirectoryPorts {
  readonly clock: Clock;
  readonly load: (ids: readonly string[]) => Promise<readonly Endpoint[]>;
  readonly onError?: (error: unknown) => void;
}

export interface Directory {
  /** The endpoint as of `staleBefore` or later; rejects when the store must be asked and does not answer. */
  endpoint(endpointId: string, staleBefore: EpochMs): Endpoint | undefined | Promise<Endpoint | undefined>;
  /** Looks only in memory. */
  peek(endpointId: string): Endpoint | undefined;
  /** Drops everything, after documents or endpoints changed. */
  clear(): void;
}

const spacingMs = 50;
const idsPerQuery = 500;
const maxWaiting = 5_000;
/** Known endpoints are reloaded in the background, for changes that no refused request reveals. */
const refreshAfterMs = 30_000;
const idForm = /^[A-Za-z0-9_-]{8,64}$/;

interface Entry {
  readonly endpoint: Endpoint;
  readonly checkedAt: EpochMs;
}

export function openDirectory(ports: DirectoryPorts): Directory {
  const entries = new Map<string, Entry>();
  const wanted = new Map<
    string,
    { promise: Promise<Endpoint | undefined>; settle: PromiseWithResolvers<Endpoint | undefined> }
  >();
  let running = false;

  const ask = (endpointId: string): Promise<Endpoint | undefined> => {
    const found = wanted.get(endpointId);
    if (found) return found.promise;
    if (wanted.size >= maxWaiting) return Promise.resolve(entries.get(endpointId)?.endpoint);
    const settle = Promise.withResolvers<Endpoint | undefined>();
    wanted.set(endpointId, { promise: settle.promise, settle });
    if (!running) void run();
    return settle.promise;
  };

  const run = async () => {
    running = true;
    while (wanted.size > 0) {
      const asked = [...wanted].slice(0, idsPerQuery);
      for (const [id] of asked) wanted.delete(id);
      const checkedAt = ports.clock.now();
      try {
        const loaded = new Map(
          (await ports.load(asked.map(([id]) => id))).map((endpoint) => [endpoint.endpointId as string, endpoint]),
        );
        for (const [id, { settle }] of asked) {
          const endpoint = loaded.get(id);
          if (endpoint) entries.set(id, { endpoint, checkedAt });
          else entries.delete(id);
          settle.resolve(endpoint);
        }
      } catch (error) {
        ports.onError?.(error);
        for (const [, { settle }] of asked) settle.reject(error);
      }
      if (wanted.size > 0) await ports.clock.wait(spacingMs);
    }
    running = false;
  };

  return {
    endpoint(endpointId, staleBefore) {
      const entry = entries.get(endpointId);
      if (entry === undefined) return idForm.test(endpointId) ? ask(endpointId) : undefined;
      if (entry.checkedAt < staleBefore) return ask(endpointId);
      if (ports.clock.now() - entry.checkedAt > refreshAfterMs) ask(endpointId).catch(() => {});
      return entry.endpoint;
    },
    peek: (endpointId) => entries.get(endpointId)?.endpoint,
    clear: () => entries.clear(),
  };
}
