/** The benchmark's partner, in a separate process: any number of reservations, 100 per day, with pages rendered once. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const perDay = 100;
const firstDay = Date.parse('2020-01-01T00:00:00Z');
const dayMs = 86_400_000;

const dateOf = (day: number): string => new Date(firstDay + day * dayMs).toISOString().slice(0, 10);

/** About 900 bytes, as typical for a PMS: two guests, a room, two charges. */
function row(no: number): string {
  const day = Math.floor(no / perDay);
  const checkIn = dateOf(day);
  const checkOut = dateOf(day + 3);
  return JSON.stringify({
    id: `RES-${no}`,
    confirmation_number: `CONF${no}`,
    check_in: checkIn,
    check_out: checkOut,
    booking_date: dateOf(day - 30),
    status: 'confirmed',
    channel: no % 3 === 0 ? 'BDC' : 'WEB',
    source: 'direct',
    total_amount: 120.5 + (no % 500),
    currency: 'EUR',
    guests: [
      {
        first_name: 'Ana',
        last_name: `Example${no % 977}`,
        email: `ana.${no}@example.com`,
        phone: `+35191${String(2_000_000 + (no % 8_000_000)).padStart(7, '0')}`,
        date_of_birth: '1980-05-17',
        nationality: 'PT',
        document_type: 'PP',
        document_number: `P${no}`,
        marketing_consent: no % 2 === 0,
      },
      { first_name: 'Rui', last_name: `Example${no % 977}`, email: `rui.${no}@example.com`, nationality: 'PT' },
    ],
    rooms: [
      {
        room_type: 'DBL',
        board: 'half_board',
        rate_code: 'BAR',
        start_date: checkIn,
        end_date: checkOut,
        adults: 2,
        children: 0,
      },
    ],
    charges: [
      { code: 'ROOM', description: 'Room', amount: 110.25, quantity: 3 },
      { code: 'TAX', description: 'City tax', amount: 2, quantity: 6 },
    ],
  });
}

const total = Number(process.argv[2]);
const server = createServer((request, response) => {
  const query = new URL(request.url ?? '/', 'http://partner').searchParams;
  const dayOf = (name: string) => Math.round((Date.parse(`${query.get(name)}T00:00:00Z`) - firstDay) / dayMs);
  const first = Math.max(0, dayOf('dateFrom') * perDay);
  const end = Math.min(total, (dayOf('dateTo') + 1) * perDay);
  const start = query.has('cursor') ? decode(query.get('cursor') ?? '') : first + Number(query.get('offset') ?? 0);
  const stop = Math.min(end, start + Number(query.get('limit')));
  const rows: string[] = [];
  for (let no = start; no < stop; no++) rows.push(row(no));
  const next = stop < end ? `,"next_cursor":"${encode(stop)}"` : '';
  response.setHeader('content-type', 'application/json');
  response.end(`{"reservations":[${rows.join(',')}],"total":${Math.max(0, end - first)}${next}}`);
});

/** An opaque token. */
const encode = (no: number) => `t${(no ^ 0x5a5a5a).toString(36)}`;
const decode = (token: string) => Number.parseInt(token.slice(1), 36) ^ 0x5a5a5a;

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
