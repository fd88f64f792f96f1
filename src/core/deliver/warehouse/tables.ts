import { entriesOf, type FieldKind, type ListName, listNames } from '../../canonical/fields.ts';
import type { Charge } from '../../canonical/reservation.ts';
import type { Delivery } from '../message.ts';

/**
 * The tables of a warehouse, and the rows that deliveries become. Every cell is text or absent, and the engine casts it: an amount keeps
 * every digit, and one encoding serves all engines.
 */

export type Kind = 'key' | 'text' | 'int' | 'decimal' | 'date' | 'time' | 'boolean' | 'json';

export interface Column {
  readonly name: string;
  readonly kind: Kind;
}

export interface Table {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  /**
   * What a row does to the stored one with its key. `newest`: replaces it if its epoch and version are not older. `once`: nothing.
   * `always`: replaces it.
   */
  readonly replaces: 'newest' | 'once' | 'always';
}

const kindOf: Record<FieldKind, Kind> = {
  text: 'text',
  verbatim: 'text',
  date: 'date',
  birth_date: 'date',
  decimal: 'decimal',
  count: 'int',
  integer: 'int',
  boolean: 'boolean',
  flag: 'boolean',
  country: 'text',
  currency: 'text',
  status: 'text',
  json: 'json',
};
type Source = Parameters<typeof entriesOf>[0];
const canonical = (source: Source): Column[] =>
  entriesOf(source).map(([name, { kind }]) => ({ name, kind: kindOf[kind] }));
const each = (kind: Kind, ...names: string[]): Column[] => names.map((name) => ({ name, kind }));

const record = ['integration', 'id'];
const version = [...record, 'epoch', 'version'];
const envelope = [
  ...each('key', ...record),
  ...each('text', 'brand_id'),
  ...each('int', 'epoch', 'version'),
  ...each('text', 'event', 'idempotency_key'),
  ...each('time', 'changed_at', 'loaded_at'),
];
const fieldsOfReservation = canonical('reservation').filter(({ name }) => name !== 'id');
/** `reservation_versions` holds no personal data: guests are only counted, charges have no text. */
const fieldsOfVersion = fieldsOfReservation.filter(({ kind }) => kind !== 'json');
/** The fields of a version whose text may name a guest. */
export const versionTexts: readonly string[] = entriesOf('reservation').flatMap(([name, { kind }]) =>
  kind === 'text' && name !== 'id' ? [name] : [],
);

export const tables = {
  reservations: {
    name: 'reservations',
    key: record,
    replaces: 'newest',
    columns: [...envelope, ...each('time', 'removed_at'), ...fieldsOfReservation, ...each('json', ...listNames)],
  },
  reservation_versions: {
    name: 'reservation_versions',
    key: version,
    replaces: 'once',
    columns: [
      ...envelope,
      ...fieldsOfVersion,
      ...each('time', 'stated_at'),
      ...each('int', 'guest_count', 'room_count'),
      ...each('json', 'rooms', 'charges'),
    ],
  },
  guest_profiles: {
    name: 'guest_profiles',
    key: record,
    replaces: 'newest',
    columns: [...envelope, ...each('time', 'removed_at'), ...canonical('guests')],
  },
  brands: {
    name: 'brands',
    key: ['integration'],
    replaces: 'always',
    columns: [
      ...each('key', 'integration'),
      ...each('text', 'brand_id', 'timezone', 'currency', 'country'),
      ...each('json', 'capacity'),
      ...each('time', 'last_event_at', 'last_run_at'),
      ...each('date', 'complete_from', 'complete_until'),
      ...each('time', 'compared_at'),
      ...each('int', 'compared', 'compared_equal'),
      ...each('time', 'loaded_at'),
    ],
  },
  runs: {
    name: 'runs',
    key: ['integration', 'run_id'],
    replaces: 'always',
    columns: [
      ...each('key', 'integration', 'run_id'),
      ...each('text', 'brand_id', 'kind', 'sync', 'state'),
      ...each('date', 'from_date', 'to_date'),
      ...each('int', 'fetched', 'changed', 'unchanged', 'held', 'dead_lettered'),
      ...each('json', 'dead_letters'),
      ...each('time', 'began_at', 'ended_at', 'loaded_at'),
    ],
  },
} as const satisfies Record<string, Table>;
export type TableName = keyof typeof tables;

/** A view of the list of each reservation that has not left: one row per item. */
export const listViews: readonly { readonly name: ListName; readonly columns: readonly Column[] }[] = listNames.map(
  (name) => ({ name, columns: canonical(name) }),
);

export type Cells = Readonly<Record<string, string>>;

/** A value that no engine takes: the record alone is refused. */
export class UnfitValue extends Error {}

/** What all engines keep: 29 digits before the point and 9 after it. */
const fitting = /^-?\d{1,29}(?:\.\d{1,9}0*)?$/;

function cell(value: unknown, { name, kind }: Column): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (kind === 'json') return JSON.stringify(value);
  const text = String(value);
  if (kind === 'decimal' && !fitting.test(text)) {
    throw new UnfitValue(
      `${name} has more than 29 digits before the point or 9 after it, which the warehouse would round`,
    );
  }
  return text;
}

export function cellsOf(table: Table, values: object): Cells {
  const row: Record<string, string> = {};
  for (const column of table.columns) {
    const text = cell((values as Record<string, unknown>)[column.name], column);
    if (text !== undefined) row[column.name] = text;
  }
  return row;
}

export const timeText = (ms: number): string => new Date(ms).toISOString();

/** The rows of one delivery, in the order of their writing: a version is harmless without its reservation. */
export function rowsOf(
  { message, changedAt, statedAt = changedAt }: Delivery,
  loadedAt: string,
): readonly (readonly [TableName, Cells])[] {
  const { data, type, epoch = 1, ...rest } = message;
  const changed_at = timeText(changedAt);
  const stated_at = statedAt === changedAt ? changed_at : timeText(statedAt);
  const removed_at = message.event === 'removed' ? changed_at : undefined;
  const head = { ...rest, id: data.id, epoch, changed_at, loaded_at: loadedAt };
  if (type === 'guest') return [['guest_profiles', cellsOf(tables.guest_profiles, { ...data, ...head, removed_at })]];
  const { guests = [], rooms = [], charges = [] } = data;
  const counts = { guest_count: guests.length, room_count: rooms.length };
  const stays = { rooms: listOf(rooms), charges: listOf(charges.flatMap(roomCharge)), stated_at };
  const lists = { guests: listOf(guests), rooms: listOf(rooms), charges: listOf(charges) };
  return [
    ['reservation_versions', cellsOf(tables.reservation_versions, { ...data, ...counts, ...stays, ...head })],
    ['reservations', cellsOf(tables.reservations, { ...data, ...lists, ...head, removed_at })],
  ];
}

const listOf = <Item>(items: readonly Item[]): readonly Item[] | undefined => (items.length === 0 ? undefined : items);

/** What the measures read of a charge; its text may name a guest. */
const roomCharge = ({ charge_kind, charge_date, amount, tax_amount }: Charge) =>
  charge_kind === 'room' ? [{ charge_date, amount, tax_amount }] : [];
