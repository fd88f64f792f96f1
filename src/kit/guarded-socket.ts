import { connect, type Socket } from 'node:net';
import { BlockedAddress, isBlockedLiteral, publicLookup } from './http/connect.ts';

/** A TCP connection, to public addresses only unless allowed. It is cut after `lifeMs`, whatever happens on it. */
export function openSocket(
  host: string,
  port: number,
  {
    allowPrivate,
    timeoutMs,
    lifeMs,
  }: { readonly allowPrivate: boolean; readonly timeoutMs: number; readonly lifeMs: number },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // `lookup` is not called for IP literals.
    if (!allowPrivate && isBlockedLiteral(host)) return reject(new BlockedAddress(host));
    const socket = connect({ host, port, ...(!allowPrivate && { lookup: publicLookup }) });
    socket.setTimeout(timeoutMs, () => socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      const late = setTimeout(() => socket.destroy(new Error('the time of the connection is over')), lifeMs);
      socket.once('close', () => clearTimeout(late));
      resolve(socket);
    });
  });
}
