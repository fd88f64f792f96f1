import type { Delivery } from '../../message.ts';

/** The loaded columns in the order of COPY, and the rows that a batch becomes. */

export type Cell = string | number | boolean | undefined;

const guestFields = [
  'guest_id',
  'first_name',
  'last_name',
  'email',
  'email_raw',
  'email_proxy',
  'phone',
  'phone_raw',
  'date_of_birth',
  'nationality',
  'document_type',
  'document_number',
  'marketing_consent',
] as const;
const roomFields = ['room_type', 'board', 'rate_code', 'start_date', 'end_date', 'adults', 'children'] as const;
const chargeFields = ['code', 'description', 'amount', 'quantity'] as const;
const reservationFields = [
  'confirmation_number',
  'check_in',
  'check_out',
  'booking_date',
  'status',
  'status_raw',
  'channel',
  'source',
  'total_amount',
  'currency',
] as const;
const envelope = [
  'integration',
  'id',
  'brand_id',
  'epoch',
  'version',
  'event',
  'idempotency_key',
  'changed_at',
] as const;
const childKey = ['integration', 'reservation_id', 'position'] as const;

export const columns = {
  reservations: [...envelope, ...reservationFields, 'extra', 'guest_count', 'room_count', 'charge_count'],
  guests: [...childKey, ...guestFields, 'extra'],
  rooms: [...childKey, ...roomFields],
  charges: [...childKey, ...chargeFields],
  guest_profiles: [...envelope, ...guestFields, 'extra'],
} as const;
export type Table = keyof typeof columns;
/** The columns that we fill; `reservation_versions` has no others than reservations. */
export const ownColumns = (table: string): readonly string[] =>
  columns[(table === 'reservation_versions' ? 'reservations' : table) as Table] ?? [];
/** The words of the names of our tables and columns. */
export const ownWords = (): ReadonlySet<string> =>
  new Set(
    [...Object.keys(columns), ...Object.values(columns).flat(), 'innbound', 'versions'].flatMap((name) =>
      name.split('_'),
    ),
  );
export const children = ['guests', 'rooms', 'charges'] as const;

/** Staged with a reservation so that the merge knows which child rows are surplus; not in the table. */
export const stagedOnly: ReadonlySet<string> = new Set(['guest_count', 'room_count', 'charge_count']);

export type Rows = Readonly<Record<Table, Cell[][]>>;

export function rowsOf(batch: readonly Delivery[]): Rows {
  const rows: Rows = { reservations: [], guests: [], rooms: [], charges: [], guest_profiles: [] };
  for (const { message, changedAt } of batch) {
    const { type, integration, brand_id, event, epoch = 1, version, idempotency_key, data } = message;
    const head: Cell[] = [
      integration,
      data.id,
      brand_id,
      epoch,
      version,
      event,
      idempotency_key,
      new Date(changedAt).toISOString(),
    ];
    if (type === 'guest') {
      rows.guest_profiles.push([...head, ...guestFields.map((field) => data[field]), jsonCell(data.extra)]);
      continue;
    }
    const { guests = [], rooms = [], charges = [], extra } = data;
    rows.reservations.push([
      ...head,
      ...reservationFields.map((field) => data[field]),
      jsonCell(extra),
      guests.length,
      rooms.length,
      charges.length,
    ]);
    for (const [i, guest] of guests.entries()) {
      rows.guests.push([integration, data.id, i, ...guestFields.map((field) => guest[field]), jsonCell(guest.extra)]);
    }
    for (const [i, room] of rooms.entries()) {
      rows.rooms.push([integration, data.id, i, ...roomFields.map((field) => room[field])]);
    }
    for (const [i, charge] of charges.entries()) {
      rows.charges.push([integration, data.id, i, ...chargeFields.map((field) => charge[field])]);
    }
  }
  return rows;
}

const jsonCell = (value: unknown): Cell => (value === undefined ? undefined : JSON.stringify(value));

const special = /[\\\t\n\r]/g;
const escaped: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({ '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }),
);

/** Rows in the text format of COPY. */
export function copyText(rows: readonly (readonly Cell[])[]): string {
  let text = '';
  for (const row of rows) {
    let separator = '';
    for (const cell of row) {
      text += separator;
      separator = '\t';
      if (cell === undefined) text += '\\N';
      else if (typeof cell !== 'string') text += cell;
      else text += special.test(cell) ? cell.replace(special, (found) => escaped.get(found) ?? found) : cell;
      special.lastIndex = 0;
    }
    text += '\n';
  }
  return text;
}
