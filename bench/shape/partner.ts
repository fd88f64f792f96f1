import { parse } from 'yaml';
import { type Connector, connectorSchema } from '../../src/core/documents/connector.ts';
import { type Integration, integrationSchema } from '../../src/core/documents/integration.ts';
import type { Json, JsonObject } from '../../src/terms.ts';

/** The partner of the shape benchmark: no two guests share a name, an address or a phone number, as in a backfill. */

const shared = `
pull: { request: { method: GET, path: /r, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }, pagination: { type: none } }
values:
  status: { confirmed: [CONF], checked_in: [INHOUSE] }
  board: { half_board: [HB] }
`;
const guestFields = '{ first_name: given, last_name: family, email: contact.mail, phone: contact.phone }';

export const nested: Connector = connectorSchema.parse(
  parse(`
connector: nested
shape: { root_path: reservations }
map:
  total_amount: totals.gross
  guests: { from: guests, fields: ${guestFields} }
  rooms: { from: rooms, fields: { room_type: type, board: meal_plan } }
${shared}`),
);
export const flat: Connector = connectorSchema.parse(
  parse(`
connector: flat
shape: { flat: { key: id, guests: { key: guest_id }, rooms: { key: type }, charges: { key: code } } }
map:
  total_amount: totals.gross
  guests: { fields: ${guestFields} }
  rooms: { fields: { room_type: type, board: meal_plan } }
${shared}`),
);
export const transforms = [
  { when: 'channel == "BDC"', set: { source: '"OTA"' } },
  { when: 'guests.size() > 4', set: { 'extra.group': 'true' } },
];
export const integration: Integration = integrationSchema.parse({
  integration: 'bench',
  connector: 'nested',
  brand_id: 'B1',
  timezone: 'Europe/Lisbon',
  country: 'PT',
  transforms,
});

/** Nationality, calling code, and a mobile number in national format; each # is a varying digit. */
const homes = [
  ['PT', '351', '91# ### ###', ''],
  ['PT', '351', '93#######', ''],
  ['GB', '44', '7400 ######', '0'],
  ['DE', '49', '1512 #######', '0'],
  ['FR', '33', '6 ## ## ## ##', '0'],
  ['ES', '34', '61# ### ###', ''],
  ['US', '1', '(212) 5##-####', ''],
  ['TR', '90', '532 ### ## ##', '0'],
] as const;
const starts = [
  'Fer',
  'Lun',
  'Oka',
  'Ber',
  'Gar',
  'Mor',
  'Yıl',
  'Sil',
  'Wag',
  'Ross',
  'Kow',
  'Ait',
  'Nov',
  'Per',
  'Hol',
];
const middles = [
  're',
  'do',
  'fo',
  'ga',
  'ci',
  'au',
  'ma',
  've',
  'nè',
  'si',
  'als',
  'ta',
  'ák',
  'ei',
  'lan',
  'zu',
  'mi',
];
const ends = [
  'ra',
  'sen',
  'r',
  'mann',
  'a',
  'x',
  'z',
  'ira',
  'ner',
  'i',
  'ki',
  'nen',
  'k',
  'ro',
  'd',
  'ton',
  'li',
  'es',
  'os',
];

function word(number: number): string {
  const at = (list: readonly string[], by: number) => list[Math.floor(number / by) % list.length] ?? '';
  return at(starts, 1) + at(middles, 7) + at(ends, 31) + (number % 3 === 0 ? at(ends, 523) : at(middles, 977));
}

/** Of eight guests, two are in upper case, one in lower case, one has a particle or a hyphen; the others are in mixed case. */
function written(name: string, number: number): string {
  const form = number % 8;
  if (form < 2) return name.toUpperCase();
  if (form === 2) return name.toLowerCase();
  if (form === 3) return number % 16 === 3 ? `van der ${name}` : `${name}-Lund`;
  return name;
}

function phone(number: number): { nationality: string; text: string } {
  const [nationality, code, pattern, trunk] = homes[number % homes.length] ?? homes[0];
  let digits = String(10_000_000 + ((number * 7919) % 89_999_999));
  const home = pattern.replace(/#/g, () => {
    const digit = digits.slice(-1);
    digits = digits.slice(0, -1);
    return digit;
  });
  const international = Math.floor(number / homes.length) % 2 === 0;
  // One in a hundred is a digit short and invalid.
  if (number % 100 === 50) return { nationality, text: home.slice(0, -1) };
  return { nationality, text: international ? `+${code}${home.replace(/\D/g, '')}` : trunk + home };
}

const mailHosts = ['mail.example', 'post.example', 'inbox.example', 'guest.booking.com'];

function mail(number: number): string {
  const local = `${word(number * 13 + 5)}.${word(number)}`.normalize('NFD').replace(/[^a-z.]/gi, '');
  const host = mailHosts[number % mailHosts.length] ?? '';
  return number % 10 === 0 ? `${local}${number}@${host}` : `${local}${number}@${host}`.toLowerCase();
}

function guest(number: number): JsonObject {
  const { nationality, text } = phone(number);
  return {
    guest_id: `G${number}`,
    given: written(word(number * 13 + 5), number),
    family: written(word(number), number),
    contact: { mail: mail(number), phone: text },
    date_of_birth: `19${50 + (number % 50)}-02-${10 + (number % 18)}`,
    nationality,
    document_type: 'passport',
    document_number: `P${1_000_000 + number}`,
    marketing_consent: number % 3 === 0,
  };
}

function reservation(number: number): JsonObject {
  const month = String(1 + (number % 12)).padStart(2, '0');
  return {
    id: `R${100_000 + number}`,
    confirmation_number: `CN-${number}`,
    check_in: `2026-${month}-01`,
    check_out: number % 5 === 0 ? `2026-${month}-04T11:00:00Z` : `2026-${month}-04`,
    booking_date: '2026-01-15',
    status: number % 3 === 0 ? 'checked-in' : 'CONF',
    channel: number % 2 === 0 ? 'BDC' : 'web',
    source: 'direct',
    totals: { gross: 120.5 + number, net: 100.25 + number },
    currency: 'EUR',
    guests: [guest(2 * number), guest(2 * number + 1)],
    rooms: [
      {
        type: 'DBL',
        meal_plan: 'HB',
        rate_code: 'BAR',
        start_date: `2026-${month}-01`,
        end_date: `2026-${month}-04`,
        adults: 2,
        children: 0,
      },
    ],
    charges: [
      { code: 'ROOM', description: 'Accommodation', amount: 110.25, quantity: 3 },
      { code: 'TAX', description: 'City tax', amount: 2, quantity: 6 },
      { code: 'SPA', description: 'Spa', amount: '45.90', quantity: 1 },
    ],
  };
}

export function pageText(page: number, count: number): string {
  const reservations = Array.from({ length: count }, (_, index) => reservation(page * count + index));
  return JSON.stringify({ reservations, total: count, page });
}

/** The same reservations as flat rows: one per guest and charge. */
export function rowsOf(text: string): Json {
  const { reservations } = JSON.parse(text) as { reservations: JsonObject[] };
  return reservations.flatMap(({ guests, rooms, charges, ...record }) =>
    (guests as JsonObject[]).flatMap((one) =>
      (charges as JsonObject[]).map(
        (charge): JsonObject => ({ ...record, ...(rooms as JsonObject[])[0], ...one, ...charge }),
      ),
    ),
  );
}
