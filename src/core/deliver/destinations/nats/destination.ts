import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { urlPart } from '../../../../kit/plain-url.ts';
import { checkTarget, publicAddress } from '../../../outbound/socket.ts';
import { type BusMessage, headers, headerText } from '../../bus/cloud-event.ts';
import { busDestination, delivered, each } from '../../bus/publisher.ts';
import { tlsOptions } from '../../bus/tls.ts';
import type { DestinationServices } from '../../destination.ts';
import { type Settings, settingsSchema } from './settings.ts';

const confirmMs = 10_000;

/** A token of a subject: without the characters that separate and match tokens. */
const token = (text: string): string => urlPart(text).replace(/[.*]/g, (one) => (one === '.' ? '%2E' : '%2A'));

const subjectOf = (prefix: string, { integration, kind, record }: BusMessage): string =>
  [prefix, token(integration), kind, token(record)].join('.');

export const destinationType = busDestination<Settings>({
  type: 'nats',
  label: 'NATS',
  settings: settingsSchema,
  batch: { standard: 500, most: 10_000 },
  // All of a call are on their way at once, and each is to be confirmed in time.
  call: { messages: 1_000, bytes: 16 * 1_024 * 1_024 },
  mostBytes: () => 1_024 * 1_024,
  // Its headers hold the key twice, percent-encoded.
  sizeOf: ({ body, order }) => Buffer.byteLength(body) + 6 * Buffer.byteLength(order) + 600,
  grants: ({ subject }) => [
    `publish to ${subject}.>`,
    'subscribe to _INBOX.>',
    'publish to $JS.API.STREAM.NAMES (prepare)',
  ],
  codes: {
    auth: /AuthorizationError|UserAuthenticationExpired|PermissionViolation/,
    mismatch: /NoResponders|JetStreamNotEnabled|StreamNotFound/,
    // The limit of the stream.
    tooLarge: /\b10054\b/,
    refused: /JetStreamApiError/,
  },
  async connect(settings, services) {
    const [{ jetstream, jetstreamManager }, { headers: newHeaders }] = await Promise.all([
      import('@nats-io/jetstream'),
      import('@nats-io/transport-node'),
    ]);
    const connection = await connectTo(settings, services);
    const stream = jetstream(connection);
    const publishOne = async (message: BusMessage) => {
      const named = newHeaders();
      for (const [name, value] of Object.entries(headers(message, 'ce-', 'content-type', headerText)))
        named.set(name, value);
      const subject = subjectOf(settings.subject, message);
      // `duplicate` in the answer: the stream has it from an earlier try.
      await stream.publish(subject, message.body, { msgID: message.id, headers: named, timeout: confirmMs });
      return delivered;
    };
    return {
      mostBytes: connection.info?.max_payload ?? 1_024 * 1_024,
      isClosed: () => connection.isClosed(),
      publish: (messages) => each(messages, publishOne),
      check: async () => {
        const what = `stream for ${settings.subject}.>`;
        const manager = await jetstreamManager(connection);
        const name = await manager.streams.find(`${settings.subject}.integration.reservation.id`);
        const { config } = await manager.streams.info(name);
        const seconds = Math.round(Number(config.duplicate_window ?? 0) / 1e9);
        return [{ what, result: 'exists', message: `${name}; it recognizes repetitions for ${seconds} s.` }];
      },
      close: () => connection.close(),
    };
  },
});

/** The first server that answers. The next connection is made for the next delivery after this one ended. */
async function connectTo(
  { servers, tls, credentials }: Settings,
  { allowPrivate, workspaceDir }: DestinationServices,
): Promise<NatsConnection> {
  const { connect, credsAuthenticator } = await import('@nats-io/transport-node');
  const login =
    credentials === undefined
      ? {}
      : 'token' in credentials
        ? { token: credentials.token }
        : 'user' in credentials
          ? { user: credentials.user, pass: credentials.password }
          : { authenticator: credsAuthenticator(await readFile(path.resolve(workspaceDir, credentials.file))) };
  let failure: unknown;
  for (const server of servers) {
    try {
      const { protocol, hostname, port } = new URL(server.includes('://') ? server : `nats://${server}`);
      const host = hostname.replace(/^\[(.*)\]$/, '$1');
      const isEncrypted = protocol === 'tls:' || (tls ?? !allowPrivate) !== false;
      checkTarget(host, isEncrypted, allowPrivate);
      const address = allowPrivate ? host : await publicAddress(host);
      return await connect({
        ...login,
        servers: `${address.includes(':') ? `[${address}]` : address}:${port || '4222'}`,
        name: 'innbound',
        reconnect: false,
        ignoreClusterUpdates: true,
        resolve: allowPrivate,
        timeout: confirmMs,
        ...(isEncrypted && { tls: { ...tlsOptions(tls), ...(isIP(host) === 0 && { servername: host }) } }),
        ...(tls === false && { tls: null }),
      } as Parameters<typeof connect>[0]);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
