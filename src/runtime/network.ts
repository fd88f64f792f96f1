import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { strayPath } from '../core/documents/host-references.ts';
import type { Bodies } from '../core/documents/kinds.ts';
import type { Resolve } from '../core/documents/secret-reference.ts';
import type { HttpSettings } from '../core/outbound/http/connect.ts';
import { type Http, openHttp } from '../core/outbound/http.ts';
import { type OpenSocket, socketsOf } from '../core/outbound/web-socket.ts';
import { InnboundError } from '../errors.ts';
import { systemClock } from '../kit/clock.ts';
import { version } from '../kit/version.ts';

/** The connection to partners and destinations. */
export interface Network {
  /** Public addresses only, unless the settings allow private ones. */
  readonly http: Http;
  readonly openSocket: OpenSocket;
  readonly allowPrivate: boolean;
  /** Further certificate authorities, in PEM. */
  readonly ca: string | undefined;
}

/**
 * Sends nothing, and says why. For a service whose settings cannot be read: without its proxy or its authorities, guest data would take another
 * way. What must be sent waits, as when the other side is away.
 */
export const closedNetwork = (why: string): Network => ({
  http: {
    request: async () => ({ kind: 'failed', reason: 'refused', message: why, durationMs: 0 }),
    close: async () => {},
  },
  openSocket: (_url, _protocol, events) => {
    queueMicrotask(() => events.closed(1006, why));
    return { send: () => false, hold: () => {}, close: () => {} };
  },
  allowPrivate: false,
  ca: undefined,
});

export async function openNetwork(
  settings: Bodies['workspace']['network'],
  resolve: Resolve,
  { workspaceDir, env }: { readonly workspaceDir: string; readonly env: NodeJS.ProcessEnv },
): Promise<Network> {
  const resolved = await resolve(settings);
  if (resolved.kind === 'missing') {
    const places = resolved.missing.map(({ path: at, reference }) => `${reference} (network.${at})`).join(', ');
    throw new InnboundError('documents.secret_missing', `innbound.yaml needs ${places}.`);
  }
  const stray = strayPath({ network: settings }, { network: resolved.body });
  if (stray !== undefined)
    throw new InnboundError('documents.invalid', `The secret in ${stray} names a path outside the workspace.`);
  const { allow_private, ca: caFile, proxy, proxy_resolves: proxyResolves } = resolved.body;
  const allowPrivate = allow_private || env.INNBOUND_ALLOW_PRIVATE_NETWORK === '1';
  const ca = caFile === undefined ? undefined : await readAuthorities(workspaceDir, caFile);
  const client: HttpSettings = {
    allowPrivate,
    userAgent: `innbound/${version}`,
    ...(proxy !== undefined && { proxy, proxyResolves }),
    ...(ca !== undefined && { ca }),
  };
  return { http: openHttp(client), openSocket: socketsOf(client, systemClock), allowPrivate, ca };
}

/** Further certificate authorities, from a file in PEM. */
export async function readAuthorities(workspaceDir: string, file: string): Promise<string> {
  const text = await readFile(path.resolve(workspaceDir, file), 'utf8').catch((error: NodeJS.ErrnoException) => error);
  if (typeof text === 'string' && text.includes('-----BEGIN CERTIFICATE-----')) return text;
  const why = typeof text === 'string' ? 'it holds no certificate in PEM' : `it cannot be read (${text.code})`;
  throw new InnboundError('documents.invalid', `network.ca names ${file}: ${why}.`);
}
