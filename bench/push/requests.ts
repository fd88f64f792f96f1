import { sign } from '../../packages/sender/src/sign.ts';

export interface Target {
  readonly port: number;
  readonly endpointId: string;
  readonly secret: string;
  readonly brandId: string;
}

/** A typical reservation, about 1.1 KB. */
export function eventBody(brandId: string, run: string, n: number, reservations: number): string {
  const id = n % reservations;
  return JSON.stringify({
    event: n < reservations ? 'reservation.created' : 'reservation.updated',
    event_id: `${run}-${n}`,
    timestamp: new Date().toISOString(),
    brand_id: brandId,
    data: {
      reservation_id: `${run}-R${id}`,
      confirmation_number: `C${id}`,
      check_in: '2027-03-01',
      check_out: '2027-03-05',
      booking_date: '2026-10-01',
      status: 'confirmed',
      channel: 'web',
      source: 'direct',
      total_amount: 400 + (n % 97) + 0.5,
      currency: 'EUR',
      guests: [
        {
          first_name: 'Marta',
          last_name: 'Quill',
          email: `marta${id}@mail.example`,
          phone: `+3519${String(10_000_000 + id).slice(0, 8)}`,
          nationality: 'PT',
          marketing_consent: true,
        },
        { first_name: 'Otto', last_name: 'Lind', email: `otto${id}@mail.example`, nationality: 'SE' },
      ],
      stays: [
        {
          room_type: 'DBL',
          board_type: 'HB',
          rate_code: 'BAR',
          start_date: '2027-03-01',
          end_date: '2027-03-05',
          adults: 2,
          children: 0,
        },
      ],
      charges: [
        { code: 'ROOM', description: 'Room', amount: 380, quantity: 4 },
        { code: 'CITY', description: 'City tax', amount: 2.5, quantity: 8 },
      ],
      note: `change ${n}`,
    },
  });
}

export function request(target: Target, body: string): Buffer {
  const timestamp = Math.floor(Date.now() / 1000);
  return Buffer.from(
    `POST /webhooks/${target.endpointId} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nx-webhook-timestamp: ${timestamp}\r\n` +
      `x-webhook-signature: ${sign(target.secret, timestamp, body)}\r\n\r\n${body}`,
  );
}
