import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { buildConnector } from 'undici';
import { isPublicAddress } from './address.ts';
import { client } from './client.ts';

/** Thrown inside a connection attempt: the address is not public. */
export class BlockedAddress extends Error {
  readonly code = 'INNBOUND_BLOCKED_ADDRESS';
  constructor(host: string) {
    super(`${host} is or resolves to a private, loopback or link-local address`);
  }
}

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** dns.lookup that returns public addresses only. The socket connects to the address returned here, so nothing can change in between. */
export function publicLookup(host: string, options: LookupOptions, callback: LookupCallback): void {
  lookup(host, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, '');
    const allowed = found.filter(({ address }) => isPublicAddress(address));
    const first = allowed[0];
    if (first === undefined) return callback(new BlockedAddress(host), '');
    if (options.all) return callback(null, allowed);
    callback(null, first.address, first.family);
  });
}

export interface TlsSettings {
  /** Additional certificate authorities, in PEM. */
  readonly ca?: string;
  readonly connectTimeoutMs: number;
}

export function tlsOptions({ ca, connectTimeoutMs }: TlsSettings): buildConnector.BuildOptions {
  return {
    timeout: connectTimeoutMs,
    // HTTP/1.1 alone: one request per connection makes a cut connection the failure of one request.
    allowH2: false,
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
  } as buildConnector.BuildOptions;
}

/** A connector that refuses non-public addresses. `lookup` is not called for IP literals, so they are checked here. */
export function guardedConnector(settings: TlsSettings, allowPrivate: boolean): buildConnector.connector {
  const { buildConnector } = client();
  if (allowPrivate) return buildConnector(tlsOptions(settings));
  const connect = buildConnector({ ...tlsOptions(settings), lookup: publicLookup } as buildConnector.BuildOptions);
  return (options, callback) => {
    if (isBlockedLiteral(options.hostname)) return callback(new BlockedAddress(options.hostname), null);
    connect(options, callback);
  };
}

export function isBlockedLiteral(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare.replace(/%.*$/, '')) !== 0 && !isPublicAddress(bare);
}

export type ProxyVerdict = 'allowed' | 'blocked' | 'unresolved';

/**
 * Checks the host of a request that goes through a proxy, which resolves the name again by itself. A name that is private as
 * seen from here is blocked. One that has no address here could be anything behind the proxy, so it is not allowed either.
 */
export function checkBeforeProxy(hostname: string): Promise<ProxyVerdict> {
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) {
    return Promise.resolve(isBlockedLiteral(hostname) ? 'blocked' : 'allowed');
  }
  return new Promise((resolve) => {
    publicLookup(hostname, { all: true }, (error) => {
      resolve(error === null ? 'allowed' : error instanceof BlockedAddress ? 'blocked' : 'unresolved');
    });
  });
}
