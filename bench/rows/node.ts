/** A node that receives signed events, and the processor time that they take. */
import { Pool as Connections } from 'undici';
import { signedHeaders } from '../../packages/sender/src/sign.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { postmasterUnder, serverMs } from '../pull/cpu.ts';
import { ask, end, start } from '../push/processes.ts';
import type { ServiceAddress } from '../push/service.ts';
import { idOf } from './fill.ts';

export const brands = Array.from({ length: 10 }, (_, i) => `b${i}`);

/** Kept with the database, so that a later run continues with new events. */
export interface Progress {
  /** Secrets are shown once, when they are issued. */
  endpoints: ServiceAddress['endpoints'];
  /** Number of stored reservations: every second event updates one of them, evenly distributed. */
  stored: number;
  /** Number of the next event. */
  next: number;
}

export interface Node {
  /** Returns when all changes have arrived at the destination, with the processor time used, in milliseconds. */
  send(events: number): Promise<{ readonly node: number; readonly postgres: number }>;
}

const senders = 16;

export async function withNode(
  folder: string,
  sink: ReturnType<typeof start>,
  progress: Progress,
  work: (node: Node) => Promise<unknown>,
): Promise<void> {
  const service = start('./service.ts', { INNBOUND_ALLOW_PRIVATE_NETWORK: '1' });
  const { port, endpoints } = await ask<ServiceAddress>(service, { workspaceDir: folder, integrations: brands });
  if (progress.endpoints.length === 0) progress.endpoints = endpoints;
  const connections = new Connections(`http://127.0.0.1:${port}`, { connections: senders });
  const postmaster = postmasterUnder(folder);
  const arrivals = async () => (await ask<{ arrivals: number }>(sink, { ask: 'arrivals' })).arrivals;
  const nodeMs = async () => {
    const { user, system } = await ask<NodeJS.CpuUsage>(service, { ask: 'cpu' });
    return (user + system) / 1000;
  };
  const one = async (n: number) => {
    const isUpdate = progress.stored > 0 && n % 2 === 0;
    const reservation = isUpdate ? Number((BigInt(n) * 2_654_435_761n) % BigInt(progress.stored)) : n;
    const { endpointId = '', secret = '' } = progress.endpoints[reservation % brands.length] ?? {};
    const body = bodyOf(reservation, n);
    const headers = signedHeaders(secret, Math.floor(Date.now() / 1000), body);
    const answer = await connections.request({ method: 'POST', path: `/webhooks/${endpointId}`, headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 202) throw new Error(`the node answered ${answer.statusCode}`);
  };
  await work({
    async send(events) {
      const expected = (await arrivals()) + events;
      const before = { node: await nodeMs(), postgres: serverMs(postmaster) };
      const last = progress.next + events;
      const sender = async () => {
        while (progress.next < last) await one(progress.next++);
      };
      await Promise.all(Array.from({ length: senders }, sender));
      const deadline = performance.now() + 300_000;
      while ((await arrivals()) < expected) {
        if (performance.now() > deadline) throw new Error('changes did not arrive in 300 s');
        await systemClock.wait(20);
      }
      return { node: (await nodeMs()) - before.node, postgres: serverMs(postmaster) - before.postgres };
    },
  });
  await connections.close();
  await end(service);
}

const bodyOf = (reservation: number, event: number): string =>
  JSON.stringify({
    event: 'reservation.updated',
    event_id: `e${event}`,
    timestamp: new Date().toISOString(),
    brand_id: 'BENCH',
    data: {
      reservation_id: idOf(reservation),
      check_in: '2027-03-01',
      check_out: '2027-03-05',
      status: 'confirmed',
      total_amount: event + 0.25,
      currency: 'EUR',
      guests: [{ first_name: 'Marta', last_name: 'Quill', email: `${idOf(reservation)}@mail.example` }],
    },
  });
