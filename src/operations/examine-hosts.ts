import { lookup as systemLookup } from 'node:dns/promises';
import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls, rootCertificates, TLSSocket } from 'node:tls';
import { isPublicAddress } from '../outbound/http/address.ts';
import type { HostFacts } from '../watch/diagnosis.ts';

export interface HostRules {
  readonly allowPrivate: boolean;
  readonly ca?: string;
  readonly now: number;
  readonly lookup?: (host: string) => Promise<readonly { readonly address: string }[]>;
}

const timeoutMs = 5_000;

/** Resolves a host and opens a connection to it, with TLS for https. Sends no request. */
export async function examineHost(
  origin: string,
  usedBy: readonly string[],
  { allowPrivate, ca, now, lookup = (name) => systemLookup(name, { all: true }) }: HostRules,
): Promise<HostFacts> {
  const url = new URL(origin);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const failed = (kind: 'dns' | 'private' | 'unreachable' | 'tls', message: string): HostFacts => ({
    origin,
    usedBy,
    failure: { kind, message },
  });
  let addresses: readonly string[];
  try {
    addresses = isIP(host) ? [host] : (await lookup(host)).map(({ address }) => address);
  } catch {
    return failed('dns', 'the name does not resolve.');
  }
  const blocked = allowPrivate ? undefined : addresses.find((address) => !isPublicAddress(address));
  if (blocked !== undefined) return failed('private', `it resolves to the private address ${blocked}.`);
  const isTls = url.protocol === 'https:';
  const port = Number(url.port || (isTls ? 443 : 80));
  return new Promise<HostFacts>((resolve) => {
    const socket = isTls
      ? connectTls({
          host,
          port,
          timeout: timeoutMs,
          ...(isIP(host) === 0 && { servername: host }),
          ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
        })
      : connectPlain({ host, port, timeout: timeoutMs });
    const end = (facts: HostFacts) => {
      socket.destroy();
      resolve(facts);
    };
    socket.once('timeout', () => end(failed('unreachable', `no answer within ${timeoutMs / 1000} s.`)));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const isRefused = /^(?:ECONN|EHOST|ENET|ETIMEDOUT|EPIPE)/.test(error.code ?? '');
      end(isRefused ? failed('unreachable', `${error.code}.`) : failed('tls', `${error.code ?? 'no code'}.`));
    });
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      if (!(socket instanceof TLSSocket)) return end({ origin, usedBy });
      const until = Date.parse(socket.getPeerCertificate().valid_to);
      end({ origin, usedBy, certificateDays: Math.floor((until - now) / 86_400_000) });
    });
  });
}
