import type pg from 'pg';
import { systemClock, type Timers } from '../../../kit/clock.ts';
import { type Random, systemRandom } from '../../../kit/ids.ts';
import type { Wake } from '../../../kit/loop.ts';
import type { Pool } from './pool.ts';

export interface Signals {
  close(): Promise<void>;
}

interface SignalOptions {
  readonly alone?: boolean;
  readonly timers?: Pick<Timers, 'schedule'>;
  readonly random?: Random;
}

const channel = 'innbound';

/**
 * Carries wake-up signals between nodes with LISTEN and NOTIFY. Signals only save time, so a lost connection is reopened and every
 * topic is woken once to make up for missed signals. A node that is `alone` listens (commands send signals) but never sends: under
 * load it would send forty notifications a second without a receiver.
 */
export async function openSignals(
  pool: Pool,
  wake: Wake,
  { alone = false, timers = systemClock, random = systemRandom }: SignalOptions = {},
): Promise<Signals> {
  const own = `${process.pid}-${random().toString(36).slice(2)}`;
  const topics = new Set<string>();
  let listener: pg.PoolClient | undefined;
  let closed = false;
  let cancelRetry = () => {};

  const listen = async (): Promise<void> => {
    const client = await pool.connect();
    client.on('notification', ({ payload = '' }) => {
      const [topic = '', from] = payload.split(' ');
      topics.add(topic);
      if (from !== own) wake.arrived(topic);
    });
    try {
      await client.query(`listen ${channel}`);
    } catch (error) {
      client.release(true);
      throw error;
    }
    if (closed) return client.release(true);
    client.once('error', (error) => {
      // close() has released it already.
      if (closed) return;
      listener = undefined;
      client.release(error);
      cancelRetry = timers.schedule(1000, retry);
    });
    listener = client;
  };
  const retry = (): void => {
    listen().then(
      () => {
        for (const topic of topics) wake.arrived(topic);
      },
      () => {
        if (!closed) cancelRetry = timers.schedule(1000, retry);
      },
    );
  };

  // Signals arrive in bursts, one per commit; they are combined into at most 50 notifications a second.
  const waiting = new Set<string>();
  let cancelSend: (() => void) | undefined;
  const send = (): void => {
    cancelSend = undefined;
    const payloads = [...waiting].map((topic) => `${topic} ${own}`);
    waiting.clear();
    pool.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [channel, payloads]).catch(() => {});
  };
  wake.relayTo((topic) => {
    topics.add(topic);
    if (alone) return;
    waiting.add(topic);
    if (!closed) cancelSend ??= timers.schedule(20, send);
  });

  await listen();
  return {
    close: async () => {
      closed = true;
      cancelRetry();
      cancelSend?.();
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
