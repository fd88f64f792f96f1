import type { LookupAddress, LookupOptions } from 'node:dns';
import { connect, Socket, type TcpNetConnectOpts } from 'node:net';
import { BlockedAddress, isBlockedLiteral, publicLookup } from './http/connect.ts';

/** A TCP connection, to public addresses only unless allowed. It is cut after `lifeMs`, if given, whatever happens on it. */
export function openSocket(
  host: string,
  port: number,
  {
    allowPrivate,
    timeoutMs,
    lifeMs,
  }: { readonly allowPrivate: boolean; readonly timeoutMs: number; readonly lifeMs?: number },
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
      resolve(socket);
      if (lifeMs === undefined) return;
      const late = setTimeout(() => socket.destroy(new Error('the time of the connection is over')), lifeMs);
      socket.once('close', () => clearTimeout(late));
    });
  });
}

/** For a library that connects by itself: a socket that checks the address before it connects. A path is a Unix socket, which counts as private. */
export function guardedSocket(): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket) as (options: TcpNetConnectOpts) => Socket;
  const guarded = (portOrPath: number | string, host?: string): Socket => {
    if (typeof portOrPath === 'string' || host === undefined || isBlockedLiteral(host)) {
      process.nextTick(() => socket.destroy(new BlockedAddress(host ?? 'a Unix socket')));
      return socket;
    }
    return connect({ port: portOrPath, host, lookup: publicLookup as TcpNetConnectOpts['lookup'] });
  };
  socket.connect = guarded as typeof socket.connect;
  return socket;
}

/**
 * For a library that connects by itself and takes no socket: throws unless it may connect to this host. The name is judged by
 * `publicLookup`, which goes with the other options of the socket. Without TLS only where private networks are allowed.
 */
export function checkTarget(host: string, isEncrypted: boolean, allowPrivate: boolean): void {
  if (allowPrivate) return;
  if (isBlockedLiteral(host)) throw new BlockedAddress(host);
  if (!isEncrypted) {
    throw new BlockedAddress(host, 'is not asked without TLS: only private networks are, where they are allowed');
  }
}

/** An address of the host, for a library that takes no lookup either. */
export function publicAddress(host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    publicLookup(host, {} as LookupOptions, (error, address: string | LookupAddress[]) => {
      if (error) reject(error);
      else resolve(String(address));
    });
  });
}
