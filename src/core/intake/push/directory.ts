import type { Clock } from '../../../kit/clock.ts';
import type { EpochMs } from '../../../terms.ts';
import type { Endpoint } from './ports.ts';

/**
 * An in-memory cache of the endpoints. A known endpoint costs no query. Unknown ids are looked up together, with one query at
 * a time and at most twenty a second, so that a new endpoint works at once on every node and a flood of guessed ids hardly
 * loads the database.
 */
interface DirectoryPorts {
  readonly clock: Clock;
  readonly load: (ids: readonly string[]) => Promise<readonly Endpoint[]>;
  readonly onError?: (error: unknown) => void;
}

const spacingMs = 50;
const idsPerQuery = 500;
const maxWaiting = 5_000;
/** Known endpoints are reloaded in the background, for changes that no refused request reveals. */
const refreshAfterMs = 30_000;
const idForm = /^[A-Za-z0-9_-]{8,64}$/;

export function openDirectory(ports: DirectoryPorts) {
  const entries = new Map<string, { readonly endpoint: Endpoint; readonly checkedAt: EpochMs }>();
  const wanted = new Map<string, PromiseWithResolvers<Endpoint | undefined>>();
  let running = false;

  const ask = (endpointId: string): Promise<Endpoint | undefined> => {
    const request = wanted.get(endpointId);
    if (request) return request.promise;
    if (wanted.size >= maxWaiting) return Promise.resolve(entries.get(endpointId)?.endpoint);
    const asked = Promise.withResolvers<Endpoint | undefined>();
    wanted.set(endpointId, asked);
    if (!running) void run();
    return asked.promise;
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
        for (const [id, { resolve }] of asked) {
          const endpoint = loaded.get(id);
          if (endpoint) entries.set(id, { endpoint, checkedAt });
          else entries.delete(id);
          resolve(endpoint);
        }
      } catch (error) {
        ports.onError?.(error);
        for (const [, { reject }] of asked) reject(error);
      }
      if (wanted.size > 0) await ports.clock.wait(spacingMs);
    }
    running = false;
  };

  return {
    /** The endpoint as of `staleBefore` or later; rejects when the store must be asked and does not answer. */
    endpoint(endpointId: string, staleBefore: EpochMs): Endpoint | undefined | Promise<Endpoint | undefined> {
      const entry = entries.get(endpointId);
      if (entry === undefined) return idForm.test(endpointId) ? ask(endpointId) : undefined;
      if (entry.checkedAt < staleBefore) return ask(endpointId);
      if (ports.clock.now() - entry.checkedAt > refreshAfterMs) ask(endpointId).catch(() => {});
      return entry.endpoint;
    },
    /** Looks only in memory. */
    peek: (endpointId: string) => entries.get(endpointId)?.endpoint,
    /** Drops everything, after documents or endpoints changed. */
    clear: () => entries.clear(),
  };
}
