/** A destination that records the arrival time of each change. */
import { createServer } from 'node:http';

export interface SinkQuestion {
  readonly ask: 'port' | 'arrivals' | 'times';
}

const arrivedAt: Record<string, number> = {};
let arrivals = 0;
let since = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const now = Number(process.hrtime.bigint()) / 1e6;
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { data: { id: string } } | { data: { id: string } }[];
    for (const { data } of Array.isArray(body) ? body : [body]) {
      arrivals += 1;
      since = now;
      arrivedAt[data.id] ??= now;
    }
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
process.on('message', (what: SinkQuestion) => {
  if (what.ask === 'port')
    server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
  else process.send?.(what.ask === 'arrivals' ? { arrivals, since } : arrivedAt);
});

// The parent process is gone.
process.once('disconnect', () => process.exit(0));
