import { entriesOf } from '../../../canonical/fields.ts';
import type { Charge } from '../../../canonical/reservation.ts';
import type { Delivery } from '../../message.ts';

/** The loaded columns in the order of COPY, and the rows that a batch becomes. */

type Cell = string | number | boolean | undefined;

/** The canonical fields of each table. The id of a reservation is in the key. */
export const canonicalOf = {
  reservations: entriesOf('reservation').filter(([name]) => name !== 'id'),
  guests: entriesOf('guests'),
  rooms: entriesOf('rooms'),
  charges: entriesOf('charges'),
  guest_profiles: entriesOf('guests'),
} as const;
const names = (table: keyof typeof canonicalOf): string[] => canonicalOf[table].map(([name]) => name);
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
/** Staged with a reservation for the merge of its child rows and for its version, with their types; not in the table. */
export const stagedOnly: ReadonlyMap<string, string> = new Map([
  ['stated_at', 'timestamptz'],
  ['guest_count', 'int'],
  ['room_count', 'int'],
  ['charge_count', 'int'],
  ['rooms', 'jsonb'],
  ['charges', 'jsonb'],
]);
const childKey = ['integration', 'reservation_id', 'position'] as const;

export const columns = {
  reservations: [...envelope, 'removed_at', ...names('reservations'), ...stagedOnly.keys()],
  guests: [...childKey, ...names('guests')],
  rooms: [...childKey, ...names('rooms')],
  charges: [...childKey, ...names('charges')],
  guest_profiles: [...envelope, 'removed_at', ...names('guest_profiles')],
} as const;
export type Table = keyof typeof columns;
/** `reservation_versions` holds no personal data: guests are only counted, charges have no text. */
const versionFields = canonicalOf.reservations.filter(([, { kind, personal }]) => kind !== 'json' && !personal);
export const versionColumns = [
  ...envelope,
  ...versionFields.map(([name]) => name),
  'stated_at',
  'guest_count',
  'room_count',
  'rooms',
  'charges',
];
/** The fields of a version whose text may name a guest. */
export const versionTexts = versionFields.flatMap(([name, { kind }]) => (kind === 'text' ? name : []));

/** The columns that we fill. */
export const ownColumns = (table: string): readonly string[] =>
  table === 'reservation_versions' ? versionColumns : (columns[table as Table] ?? []);
/** The words of the names of our tables and columns. */
export const ownWords = (): ReadonlySet<string> =>
  new Set(
    [...Object.keys(columns), ...Object.values(columns).flat(), 'innbound', 'versions'].flatMap((name) =>
      name.split('_'),
    ),
  );
export const children = ['guests', 'rooms', 'charges'] as const;

export type Rows = Readonly<Record<Table, Cell[][]>>;

export function rowsOf(batch: readonly Delivery[]): Rows {
  const rows: Rows = { reservations: [], guests: [], rooms: [], charges: [], guest_profiles: [] };
  for (const { message, changedAt, statedAt = changedAt } of batch) {
    const { type, integration, brand_id, event, epoch = 1, version, idempotency_key, data } = message;
    const at = new Date(changedAt).toISOString();
    const head: Cell[] = [
      integration,
      data.id,
      brand_id,
      epoch,
      version,
      event,
      idempotency_key,
      at,
      event === 'removed' ? at : undefined,
    ];
    if (type === 'guest') {
      rows.guest_profiles.push([...head, ...cells(data, 'guest_profiles')]);
      continue;
    }
    const { guests = [], rooms: stays = [], charges = [] } = data;
    const staged = [
      new Date(statedAt).toISOString(),
      guests.length,
      stays.length,
      charges.length,
      listText(stays),
      listText(charges.flatMap(roomCharge)),
    ];
    rows.reservations.push([...head, ...cells(data, 'reservations'), ...staged]);
    const add = (table: (typeof children)[number], items: readonly object[]) => {
      for (const [i, item] of items.entries()) rows[table].push([integration, data.id, i, ...cells(item, table)]);
    };
    add('guests', guests);
    add('rooms', stays);
    add('charges', charges);
  }
  return rows;
}

const listText = (items: readonly object[]): string | undefined =>
  items.length === 0 ? undefined : JSON.stringify(items);

/** What the measures read of a charge; its text may name a guest. */
const roomCharge = ({ charge_kind, charge_date, amount, tax_amount }: Charge) =>
  charge_kind === 'room' ? [{ charge_date, amount, tax_amount }] : [];

const cells = (item: object, table: Table): Cell[] =>
  canonicalOf[table].map(([name]) => {
    const value = (item as { readonly [name: string]: unknown })[name];
    return typeof value === 'object' ? JSON.stringify(value) : (value as Cell);
  });

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
      else
        text += special.test(cell) ? cell.replace(special, (character) => escaped.get(character) ?? character) : cell;
      special.lastIndex = 0;
    }
    text += '\n';
  }
  return text;
}
