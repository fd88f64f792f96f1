import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { unknownEndpoint } from '../../../src/core/intake/push/answer.ts';
import { type IntakePorts, openPushIntake, type PushIntake } from '../../../src/core/intake/push/intake.ts';
import { mintEndpointId, mintSecret } from '../../../src/core/intake/push/mint.ts';
import type { Sandbox } from '../../../src/core/intake/push/sandbox.ts';
import type { PushSettings } from '../../../src/core/intake/push/settings.ts';
import { defaultVerification } from '../../../src/core/intake/push/verification.ts';
import { openPool, type Pool, transaction } from '../../../src/core/store/db/pool.ts';
import { appendEvents } from '../../../src/core/store/events/append.ts';
import { issueEndpoint, loadEndpoints, type Sealer } from '../../../src/core/store/events/endpoints.ts';
import { writeRejections } from '../../../src/core/store/events/rejections.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { holdConnections, serverLimits } from '../../../src/operator/api/server.ts';
import { registerWebhooks, type Webhooks } from '../../../src/operator/api/webhooks.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import { testDatabase } from '../../support/database.ts';

/** Bound to its place like the real one, and readable in a failing test. */
export const openSealer: Sealer = {
  seal: (plain, boundTo) => Buffer.from(`${boundTo}|${plain}`),
  open: (sealed, boundTo) => {
    const text = Buffer.from(sealed).toString();
    if (!text.startsWith(`${boundTo}|`)) throw new Error('sealed for another place');
    return text.slice(boundTo.length + 1);
  },
};

export const minter = { endpointId: mintEndpointId, secret: mintSecret };

export const brandId = 'LIS01';
export const integration = 'lisbon-grand';

export const settings: PushSettings = {
  enabled: true,
  rehearses: false,
  brandId,
  verification: defaultVerification,
  eventIdPlaces: ['event_id', 'id'],
  isThin: false,
  rate: { perSecond: 200, burst: 1_000 },
};

const noSandbox: Sandbox = {
  examine: async () => unknownEndpoint(),
  rehearse: async () => unknownEndpoint(),
  list: async () => unknownEndpoint(),
  read: async () => unknownEndpoint(),
};

export interface Service extends Address {
  readonly app: FastifyInstance;
  readonly intake: PushIntake;
  readonly webhooks: Webhooks;
  readonly errors: unknown[];
}

export async function migratedPool(): Promise<{ pool: Pool; end(): Promise<void> }> {
  const db = await testDatabase();
  const pool = openPool({ connection: db.connection, applicationName: 'test' });
  return { pool, end: () => pool.end() };
}

export interface Address {
  readonly pool: Pool;
  readonly port: number;
  readonly endpointId: string;
  readonly sandboxId: string;
  readonly secret: string;
  stop(): Promise<void>;
}

/** The intake alone on its own port, with a real store: for settings and faults that no document can express. */
export async function startIntake(
  options: {
    pool?: Pool;
    settings?: (integration: string) => PushSettings | undefined;
    ports?: Partial<IntakePorts>;
    sandbox?: (intake: PushIntake, pool: Pool) => Sandbox;
    server?: Record<string, unknown>;
    maxBodyBytes?: number;
  } = {},
): Promise<Service> {
  const own = options.pool ? undefined : await migratedPool();
  const pool = options.pool ?? (own as { pool: Pool }).pool;
  const issued = await transaction(pool, (tx) => issueEndpoint(tx, integration, openSealer, minter));
  const errors: unknown[] = [];
  const intake = openPushIntake({
    clock: systemClock,
    loadEndpoints: (ids) => loadEndpoints(pool, openSealer, ids),
    settings: options.settings ?? ((name) => (name === integration ? settings : undefined)),
    insert: (events, written) => appendEvents(pool, events, written),
    writeRejections: (batch) => writeRejections(pool, batch),
    onError: (error) => errors.push(error),
    ...options.ports,
  });
  const app = fastify({ ...serverLimits, ...options.server });
  holdConnections(app.server, { connectionsPerAddress: 2_000 });
  const webhooks = registerWebhooks(app, {
    clock: systemClock,
    intake,
    sandbox: options.sandbox?.(intake, pool) ?? noSandbox,
    maxBodyBytes: () => options.maxBodyBytes ?? 1024 * 1024,
    publicUrl: () => 'https://hotel.example/in/',
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as { port: number };
  const { endpointId, sandboxId, secret = '' } = issued;
  const stop = async () => {
    app.server.closeAllConnections();
    await app.close();
    await intake.close();
    await own?.end();
  };
  return { pool, app, intake, webhooks, port, endpointId, sandboxId, secret, errors, stop };
}

export function eventBody(more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    event: 'reservation.created',
    event_id: 'ev-1',
    timestamp: new Date().toISOString(),
    brand_id: brandId,
    data: reservationData(),
    ...more,
  });
}

export function reservationData(more: { [key: string]: Json | undefined } = {}): JsonObject {
  return {
    reservation_id: 'R-1001',
    confirmation_number: 'C-1001',
    check_in: '2036-12-01',
    check_out: '2036-12-04',
    status: 'confirmed',
    guests: [{ first_name: 'Marta', last_name: 'Quill', email: 'marta.quill@mail.example', phone: '+351912345678' }],
    stays: [{ room_type: 'DBL', board_type: 'HB', adults: 2, children: 0 }],
    ...more,
  } as JsonObject;
}

export function sign(secret: string, timestamp: string, body: string | Buffer): string {
  return `sha512=${createHmac('sha512', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}

export const nowS = (): string => String(Math.floor(Date.now() / 1000));

/** Posts a signed event to a running node, as a sender would. */
export function postEvent(
  url: string,
  { endpointId, secret }: { readonly endpointId: string; readonly secret: string },
  body = eventBody(),
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const timestamp = nowS();
  return fetch(`${url}/webhooks/${endpointId}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-webhook-timestamp': timestamp,
      'x-webhook-signature': sign(secret, timestamp, body),
      ...headers,
    },
    body,
  });
}

/** The bytes of a request as a sender would write them; `headers` replace or, with undefined, remove the usual ones. */
export function rawRequest(
  service: { secret: string; endpointId: string },
  body: string | Buffer,
  headers: Record<string, string | undefined> = {},
  address = `/webhooks/${service.endpointId}`,
  method = 'POST',
): Buffer {
  const timestamp = nowS();
  const all: Record<string, string | undefined> = {
    host: 'hooks.example',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': sign(service.secret, headers['x-webhook-timestamp'] ?? timestamp, body),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return Buffer.concat([
    Buffer.from(`${method} ${address} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`),
    Buffer.from(body),
  ]);
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** Writes the bytes to a new socket and reads the given number of answers. */
export async function exchange(port: number, bytes: Buffer | Buffer[], answers = 1): Promise<RawAnswer[]> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const reading = readAnswers(socket, answers);
  for (const part of Array.isArray(bytes) ? bytes : [bytes]) socket.write(part);
  try {
    return await reading;
  } finally {
    socket.destroy();
  }
}

export async function post(
  service: Pick<Address, 'port' | 'endpointId' | 'secret'>,
  body: string | Buffer,
  headers: Record<string, string | undefined> = {},
): Promise<RawAnswer> {
  const [answer] = await exchange(service.port, rawRequest(service, body, headers));
  if (!answer) throw new Error('no answer');
  return answer;
}

/** Parses answers as they arrive; resolves with those received when the peer closes. */
export function readAnswers(socket: import('node:net').Socket, count: number): Promise<RawAnswer[]> {
  return new Promise((resolve, reject) => {
    let rest = Buffer.alloc(0);
    const answers: RawAnswer[] = [];
    const finish = () => resolve(answers);
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf('\r\n\r\n'); end !== -1; end = rest.indexOf('\r\n\r\n')) {
        const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
        const headers = Object.fromEntries(
          lines.map((line) => [
            line.slice(0, line.indexOf(':')).toLowerCase(),
            line.slice(line.indexOf(':') + 1).trim(),
          ]),
        );
        const status = Number(first.split(' ')[1]);
        const length = Number(headers['content-length'] ?? 0);
        if (rest.length < end + 4 + length) return;
        const text = rest.toString('utf8', end + 4, end + 4 + length);
        rest = rest.subarray(end + 4 + length);
        if (status === 100) continue;
        answers.push({ status, headers, text, json: text === '' ? {} : JSON.parse(text) });
        if (answers.length === count) return finish();
      }
    });
    socket.on('close', finish);
    socket.on('error', (error) => (answers.length > 0 ? finish() : reject(error)));
  });
}
