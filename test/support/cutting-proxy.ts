import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import path from 'node:path';
import type { TestDatabase } from './database.ts';

export interface CuttingProxy {
  readonly port: number;
  /** How often it still closes a connection. */
  cuts: number;
  close(): Promise<unknown>;
}

/** A proxy before a test database that closes a connection instead of sending this statement on, `cuts` times. */
export async function cuttingProxy(
  { connection }: TestDatabase,
  statement: string,
  cuts: number,
): Promise<CuttingProxy> {
  const server = createServer((from) => {
    const to = connect(path.join(connection.host, `.s.PGSQL.${connection.port}`));
    from.on('error', () => {}).on('close', () => to.destroy());
    to.on('error', () => {}).on('close', () => from.destroy());
    to.on('data', (chunk) => from.write(chunk));
    from.on('data', (chunk) => {
      if (proxy.cuts === 0 || !chunk.includes(statement)) return to.write(chunk);
      proxy.cuts -= 1;
      return from.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: CuttingProxy = {
    port: (server.address() as AddressInfo).port,
    cuts,
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
