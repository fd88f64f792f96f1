import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A partner whose list has everything in one answer. */
const bytes = Number(process.argv[2]) * 1_000_000;
const row = (i: number) =>
  JSON.stringify({
    id: `B${i}`,
    arrival: '2031-05-04',
    departure: '2031-05-08',
    status: 'confirmed',
    guest: { firstName: 'Ana', lastName: 'Reis', email: `ana.${i}@guests.example` },
    rates: Array.from({ length: 10 }, (_, night) => ({ night, price: 100 + night, currency: 'EUR' })),
  });
const rows = Math.ceil(bytes / row(100_000).length);
const list = Buffer.from(`{"reservations":[${Array.from({ length: rows }, (_, i) => row(i)).join(',')}]}`);
const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end(list));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
