import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { isPublicAddress } from './address.ts';

/** Thrown inside a connection attempt: the address is not public. */
export class BlockedAddress extends Error {
  readonly code = 'INNBOUND_BLOCKED_ADDRESS';
  constructor(host: string, what = 'is or resolves to a private, loopback or link-local address') {
    super(`${host} ${what}`);
  }
}

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** dns.lookup that returns public addresses only. The socket connects to the address returned here, so nothing can change in between. */
export function publicLookup(host: string, options: LookupOptions, callback: LookupCallback): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '');
    const allowed = addresses.filter(({ address }) => isPublicAddress(address));
    const first = allowed[0];
    if (first === undefined) return callback(new BlockedAddress(host), '');
    if (options.all) return callback(null, allowed);
    callback(null, first.address, first.family);
  });
}

export interface HttpSettings {
  readonly allowPrivate: boolean;
  /** Additional certificate authorities, in PEM. */
  readonly ca?: string;
  /** http:// or https:// URL of a forward proxy; credentials in it are sent to the proxy. */
  readonly proxy?: string;
  /** Whether the proxy may resolve names that have no address here; it must then block private networks itself. */
  readonly proxyResolves?: boolean;
  readonly userAgent: string;
  /** Connections kept per origin. */
  readonly connections?: number;
}

/**
 * Connections to public addresses only, unless others are allowed, or to the proxy. `lookup` is not called for IP literals, so they are
 * checked here.
 */
export function agentFor(
  { ca, proxy, allowPrivate }: HttpSettings,
  timeout: number,
  limits: Agent.Options,
): Dispatcher {
  const { Agent, ProxyAgent, buildConnector } = client();
  // HTTP/1.1 alone: one request per connection makes a cut connection the failure of one request.
  const tls = { timeout, allowH2: false, ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }) };
  const options = tls as buildConnector.BuildOptions;
  if (proxy !== undefined) return new ProxyAgent({ ...limits, uri: proxy, requestTls: options, proxyTls: options });
  const open = buildConnector({ ...options, ...(!allowPrivate && { lookup: publicLookup }) } as typeof options);
  const connect: buildConnector.connector = (asked, callback) => {
    if (allowPrivate || !isBlockedLiteral(asked.hostname)) open(asked, callback);
    else callback(new BlockedAddress(asked.hostname), null);
  };
  return new Agent({ ...limits, connect });
}

export function isBlockedLiteral(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare.replace(/%.*$/, '')) !== 0 && !isPublicAddress(bare);
}

/**
 * Checks the host of a request that goes through a proxy, which resolves the name again by itself; undefined if nothing is to be checked. A
 * name that is private as seen from here is blocked. One that has no address here could be anything behind the proxy, so it is not allowed
 * either, unless the proxy may resolve it.
 */
export function checkBeforeProxy(
  { proxy, allowPrivate, proxyResolves }: HttpSettings,
  hostname: string,
): Promise<'allowed' | 'blocked' | 'unresolved'> | undefined {
  if (proxy === undefined || allowPrivate) return undefined;
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) {
    return Promise.resolve(isBlockedLiteral(hostname) ? 'blocked' : 'allowed');
  }
  return new Promise((resolve) => {
    publicLookup(hostname, { all: true }, (error) => {
      if (error instanceof BlockedAddress) resolve('blocked');
      else resolve(error === null || proxyResolves ? 'allowed' : 'unresolved');
    });
  });
}

const require = createRequire(import.meta.url);

/** The HTTP library, loaded for the first request: it takes 0.12 s of processor time, and most commands make no request (2 arm64 cores). */
export const client = (): typeof import('undici') => require('undici');
