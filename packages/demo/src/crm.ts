import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A CRM that can be down, and that always refuses a few reservations. */
export interface Crm {
  readonly url: string;
  isDown: boolean;
  stop(): Promise<void>;
}

/** One reservation in so many lacks what the CRM requires. */
const refusedOneIn = 40;

export async function startCrm(): Promise<Crm> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id } = (JSON.parse(text) as { data: { id: string } }).data;
    const isRefused = Number(id.replace(/\D/g, '')) % refusedOneIn === 0;
    const [status, answer] = crm.isDown
      ? [503, { error: 'maintenance' }]
      : isRefused
        ? [422, { error: 'loyalty tier is required' }]
        : [200, {}];
    response.writeHead(status as number, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const crm: Crm = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/stays`,
    isDown: false,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return crm;
}
