import type pg from 'pg';
import type { Wake } from '../../kit/wake.ts';
import type { Pool } from './pool.ts';

export interface Signals {
  close(): Promise<void>;
}

const channel = 'innbound';

/**
 * Carries wake-up signals between nodes with LISTEN and NOTIFY. They only save time, so a lost connection is simply made
 * anew; signals that were missed meanwhile are made up for by waking everyone once. A node that is `alone` only listens, for
 * commands: under load it would send forty notifications a second that nobody hears.
 */
export async function openSignals(pool: Pool, wake: Wake, { alone = false } = {}): Promise<Signals> {
  const own = `${process.pid}-${Math.random().toString(36).slice(2)}`;
  const topics = new Set<string>();
  let listener: pg.PoolClient | undefined;
  let closed = false;
  let again: NodeJS.Timeout | undefined;

  const listen = async (): Promise<void> => {
    const client = await pool.connect();
    client.on('notification', ({ payload = '' }) => {
      const [topic = '', from] = payload.split(' ');
      topics.add(topic);
      if (from !== own) wake.arrived(topic);
    });
    client.once('error', (error) => {
      // Given back by close() already.
      if (closed) return;
      listener = undefined;
      client.release(error);
      again = setTimeout(retry, 1000);
    });
    await client.query(`listen ${channel}`);
    listener = client;
  };
  const retry = (): void => {
    listen().then(
      () => {
        for (const topic of topics) wake.arrived(topic);
      },
      () => {
        if (!closed) again = setTimeout(retry, 1000);
      },
    );
  };

  // Signals come in bursts, one per commit; a few notifications a second are as good as thousands.
  const waiting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    timer = undefined;
    const payloads = [...waiting].map((topic) => `${topic} ${own}`);
    waiting.clear();
    pool.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [channel, payloads]).catch(() => {});
  };
  wake.relayTo((topic) => {
    topics.add(topic);
    if (alone) return;
    waiting.add(topic);
    if (!closed) timer ??= setTimeout(send, 20);
  });

  await listen();
  return {
    close: async () => {
      closed = true;
      clearTimeout(again);
      clearTimeout(timer);
      wake.relayTo(() => {});
      listener?.release(true);
    },
  };
}

/** Wakes every node for a topic, this one too. */
export async function signalNodes(pool: Pool, topic: string): Promise<void> {
  await pool.query('select pg_notify($1, $2)', [channel, topic]);
}

/** For a command: its signals reach the nodes, it listens to none. Closing waits until they are out. */
export function sendSignals(pool: Pool, wake: Wake): Signals {
  const sent = new Set<Promise<unknown>>();
  wake.relayTo((topic) => {
    const sending = pool.query('select pg_notify($1, $2)', [channel, `${topic} ${process.pid}`]).catch(() => {});
    sent.add(sending);
    void sending.finally(() => sent.delete(sending));
  });
  return { close: async () => void (await Promise.all(sent)) };
}
