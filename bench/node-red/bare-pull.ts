/** Reads the partner's list and posts it on, without a check, a cleaning or a memory of what was sent: the ceiling of a pull. */
import { Agent, request } from 'undici';

export interface BarePull {
  readonly url: string;
  readonly sinkPort: number;
  /** Records in one POST. */
  readonly size: number;
}

const dispatcher = new Agent({ connections: 64 });

process.on('message', async (job: BarePull | { ask: 'cpu' }) => {
  if ('ask' in job) return void process.send?.(process.cpuUsage());
  const waiting: Promise<void>[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { body } = await request(`${job.url}${cursor && `&cursor=${cursor}`}`, { dispatcher });
    const page = (await body.json()) as { reservations: { id: string }[]; next_cursor?: string };
    const envelopes = page.reservations.map((data) => ({ type: 'reservation', data }));
    for (let i = 0; i < envelopes.length; i += job.size) {
      waiting.push(post(job.sinkPort, job.size === 1 ? envelopes[i] : envelopes.slice(i, i + job.size)));
    }
    cursor = page.next_cursor;
  }
  await Promise.all(waiting);
  process.send?.('done');
});

async function post(port: number, content: unknown): Promise<void> {
  const { body } = await request(`http://127.0.0.1:${port}/changes`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(content),
  });
  await body.dump();
}

// The parent process is gone.
process.once('disconnect', () => process.exit(0));
