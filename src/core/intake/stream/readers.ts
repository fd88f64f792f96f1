import { type Loop, startLoop } from '../../../kit/loop.ts';
import type { Stream, StreamPorts } from './ports.ts';
import { readStream } from './read-stream.ts';

const pollMs = 1_000;
const idleMs = 5_000;
const usualLeaseMs = 30_000;

/**
 * Reads the partners' streams. Over all nodes each stream has one connection, which belongs to the node that holds its lease:
 *
 *   due ──claim──▶ connected ──closed──▶ released: due again after the partner's pause, on any node
 *
 * A node that dies leaves a lease that ends. A node that froze holds an outdated fence, so it stores nothing.
 */
export function startStreamReaders(ports: StreamPorts): Loop {
  const running = new Map<string, { revision: string; ended: Promise<void>; stop: AbortController }>();
  let known: ReadonlyMap<string, Stream> = new Map();

  const start = (claim: Parameters<typeof readStream>[2], stream: Stream) => {
    const stop = new AbortController();
    const current = () => known.get(claim.id) ?? stream;
    const ended = readStream(ports, current, claim, stop.signal)
      .catch(ports.onError)
      .finally(() => running.delete(claim.id));
    running.set(claim.id, { revision: stream.revision, ended, stop });
  };

  return startLoop({
    name: 'streams',
    heartbeats: ports.heartbeats,
    turn: async () => {
      known = await ports.streams();
      for (const [id, { revision, stop }] of running) if (known.get(id)?.revision !== revision) stop.abort();
      const ids = [...known.keys()].filter((id) => !running.has(id));
      const claims = ids.length === 0 ? [] : await ports.store.claim(ids, ports.leaseMs ?? usualLeaseMs);
      for (const claim of claims) start(claim, known.get(claim.id) as Stream);
      return known.size > 0;
    },
    pause: (hasStreams, signal) => ports.wait(hasStreams ? pollMs : idleMs, signal),
    onError: ports.onError,
    finish: async () => {
      for (const { stop } of running.values()) stop.abort();
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },
  });
}
