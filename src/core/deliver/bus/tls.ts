import { publicLookup } from '../../outbound/http/connect.ts';
import type { TlsSetting } from './settings.ts';

/** TLS and addresses of a connection that is not HTTP. */
export function tlsOptions(tls: TlsSetting | undefined): { ca?: string; cert?: string; key?: string } {
  const { ca, cert, key } = typeof tls === 'object' ? tls : {};
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}

/** Options for `net.connect` and `tls.connect`: names that are private get no connection. */
export const guardedNames = (allowPrivate: boolean) => (allowPrivate ? {} : { lookup: publicLookup });

export const isLoopback = (host: string): boolean => /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
