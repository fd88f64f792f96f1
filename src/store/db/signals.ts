import type pg from 'pg';
import type { Wake } from '../../kit/wake.ts';
import type { Pool } from './pool.ts';

export interface Signals {
  close(): Promise<void>;
}

const channel = 'innbound';

/**
 * Carries wake-up signals between nodes with LISTEN and NOTIFY. Signals only save time, so a lost connection is reopened and every
 * topic is woken once to make up for missed signals. A node that is `alone` listens (commands send signals) but never sends: under
 * load it would send forty notifications a second without a receiver.
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
      // close() has released it already.
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

  // Signals come in bursts, one per commit; they are combined into at most 50 notifications a second.
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

/** For a command: sends signals and does not listen. Closing waits until they are sent. */
export function sendSignals(pool: Pool, wake: Wake): Signals {
  const sent = new Set<Promise<unknown>>();
  wake.relayTo((topic) => {
    const sending = pool.query('select pg_notify($1, $2)', [channel, `${topic} ${process.pid}`]).catch(() => {});
    sent.add(sending);
    void sending.finally(() => sent.delete(sending));
  });
  return { close: async () => void (await Promise.all(sent)) };
}
