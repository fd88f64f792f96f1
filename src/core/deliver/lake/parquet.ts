import { parquetMetadata, parquetReadObjects, type SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { parseJson } from '../../../kit/json.ts';
import { entriesOf, kinds, type Table } from '../../canonical/fields.ts';
import { reservationWithoutMentions } from '../../canonical/mentions.ts';
import { decimal, type Guest } from '../../canonical/reservation.ts';
import type { Delivery, Message, MessageData } from '../message.ts';
import { encodeMessage } from '../message.ts';
import { type Format, guestsAfter, isOlderThan, UnfitValue } from './format.ts';

/**
 * One row per change: the envelope, the fields of the record, its guests, rooms and charges as lists of structs. Money is
 * DECIMAL(38, 9), dates are DATE. A guest record fills the column `guest`.
 */

type Kind = 'text' | 'key' | 'date' | 'int' | 'bool' | 'decimal' | 'time' | 'json';
type Columns = Readonly<Record<string, Kind>>;

const columnsOf = (table: Table): Columns =>
  Object.fromEntries(entriesOf(table).map(([name, { kind }]) => [name, kinds[kind].parquet]));
const guestColumns = columnsOf('guests');
const envelopeColumns: Columns = {
  type: 'text',
  integration: 'text',
  brand_id: 'text',
  event: 'text',
  removed: 'bool',
  epoch: 'int',
  version: 'int',
  idempotency_key: 'key',
  changed_at: 'time',
  stated_at: 'time',
};
const recordColumns = columnsOf('reservation');
const listColumns = { guests: guestColumns, rooms: columnsOf('rooms'), charges: columnsOf('charges') } as const;

const physical: Record<Kind, Omit<SchemaElement, 'name'>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  key: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
  date: { type: 'INT32', converted_type: 'DATE' },
  int: { type: 'INT32' },
  bool: { type: 'BOOLEAN' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  decimal: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, converted_type: 'DECIMAL', precision: 38, scale: 9 },
};

const leaves = (columns: Columns): SchemaElement[] =>
  Object.entries(columns).map(([name, kind]) => ({ name, repetition_type: 'OPTIONAL', ...physical[kind] }));

const schema: SchemaElement[] = [
  { name: 'root', num_children: Object.keys({ ...envelopeColumns, ...recordColumns, ...listColumns }).length + 1 },
  ...leaves(envelopeColumns),
  ...leaves(recordColumns),
  { name: 'guest', repetition_type: 'OPTIONAL', num_children: Object.keys(guestColumns).length },
  ...leaves(guestColumns),
  ...Object.entries(listColumns).flatMap(([name, columns]): SchemaElement[] => [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', num_children: Object.keys(columns).length },
    ...leaves(columns),
  ]),
];

type Row = Readonly<Record<string, unknown>>;

function columnValue(kind: Kind, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (kind === 'date') return Date.parse(`${String(value)}T00:00:00Z`) / 86_400_000;
  if (kind === 'decimal') return unscaled(String(value));
  if (kind === 'int' && (value as number) !== ((value as number) | 0))
    throw new UnfitValue('a count does not fit INT32');
  if (kind === 'time') return BigInt(Math.round(Number(value)));
  return value;
}

/** Throws if DECIMAL(38, 9) cannot hold every digit: an inexact amount is worse than none. */
function unscaled(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  if (fraction.length > 9 || whole.length > 29) throw new UnfitValue('an amount does not fit DECIMAL(38, 9)');
  return BigInt(whole + fraction.padEnd(9, '0'));
}

function struct(columns: Columns, from: object): Row {
  const row: Record<string, unknown> = {};
  const fields = from as Record<string, unknown>;
  for (const [name, kind] of Object.entries(columns)) row[name] = columnValue(kind, fields[name]);
  return row;
}

function rowOf({ message, changedAt, statedAt = changedAt }: Delivery): Row {
  const { data } = message;
  const list = (name: keyof typeof listColumns): Row[] | undefined =>
    (data[name] as MessageData['guests'] | undefined)?.map((item) => struct(listColumns[name], item));
  return {
    ...struct(envelopeColumns, { epoch: 1, ...message, changed_at: changedAt, stated_at: statedAt }),
    ...struct(recordColumns, data),
    guest: message.type === 'guest' ? struct(guestColumns, data) : undefined,
    guests: list('guests'),
    rooms: list('rooms'),
    charges: list('charges'),
  };
}

/** Rows as `rowOf` makes them: the reader's own conversions would turn decimals into doubles and days into instants. */
async function readRows(bytes: Uint8Array): Promise<Row[]> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const metadata = parquetMetadata(file);
  for (const element of metadata.schema) if (element.converted_type === 'DECIMAL') delete element.converted_type;
  const asStored = { dateFromDays: (days: number) => days, timestampFromMilliseconds: (ms: bigint) => ms };
  const rows = await parquetReadObjects({ file, metadata, parsers: asStored as object });
  const decimals = (columns: Columns, row: Row): Row => ({
    ...row,
    ...Object.fromEntries(
      Object.entries(columns).flatMap(([name, kind]) => (kind === 'decimal' ? [[name, decimalOf(row[name])]] : [])),
    ),
  });
  return rows.map((row) => ({
    ...decimals(recordColumns, row),
    ...Object.fromEntries(
      Object.entries(listColumns).map(([name, columns]) => [
        name,
        (row[name] as Row[] | null)?.map((item) => decimals(columns, item)),
      ]),
    ),
  }));
}

/** Big-endian two's complement. */
function decimalOf(value: unknown): bigint | undefined {
  if (!(value instanceof Uint8Array)) return undefined;
  return BigInt.asIntN(value.length * 8, BigInt(`0x${Buffer.from(value).toString('hex')}`));
}

/** The inverse of `rowOf`. */
function messageOf(row: Row): Message {
  const { guest, ...own } = row;
  const lists = Object.entries(listColumns).map(([name, columns]) => [
    name,
    ((row[name] as Row[] | null) ?? []).map((item) => values(columns, item)),
  ]);
  const isGuest = row.type === 'guest';
  const fields = isGuest ? values(guestColumns, (guest ?? {}) as Row) : Object.fromEntries(lists);
  const data = { ...values(recordColumns, own), ...fields };
  return { ...values(envelopeColumns, own), data } as unknown as Message;
}

const values = (columns: Columns, row: Row) =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, kind]) => {
      const value = row[name] ?? undefined;
      return value === undefined ? [] : [[name, plain(kind, value)]];
    }),
  );

function plain(kind: Kind, value: unknown): unknown {
  if (kind === 'date') return new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);
  if (kind === 'decimal') return decimal(`${value}e-9`);
  return kind === 'json' && typeof value === 'string' ? parseJson(value) : value;
}

/** Parquet has null where a record has no value. */
const withoutNulls = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

function eraseFromRow(row: Row, erasure: Delivery): Row | undefined {
  const { type, integration, id, epoch, version } = row;
  if (!isOlderThan({ type, integration, id, epoch, version }, erasure)) return undefined;
  if (row.type === 'guest') return row.guest ? { ...row, guest: undefined } : undefined;
  const kept = guestsAfter(
    ((row.guests as Row[] | null) ?? []).map((guest) => withoutNulls(guest) as Guest),
    erasure,
  );
  const texts = reservationWithoutMentions(row, erasure.erased ?? []);
  if (kept === undefined && (row.extra ?? undefined) === undefined && texts === row) return undefined;
  return { ...texts, extra: undefined, ...(kept && { guests: kept }) };
}

const columnNames = [
  ...Object.keys(envelopeColumns),
  ...Object.keys(recordColumns),
  'guest',
  ...Object.keys(listColumns),
];

export const parquet: Format<Row> = {
  extension: '.parquet',
  encode: (delivery) => ({ row: rowOf(delivery), size: encodeMessage(delivery.message).length / 4 }),
  read: readRows,
  message: messageOf,
  erase: eraseFromRow,
  file: (rows) =>
    new Uint8Array(
      parquetWriteBuffer({
        schema,
        columnData: columnNames.map((name) => ({
          name,
          data: rows.map((row) => row[name]),
          // Plain bytes, so that a key can be found without a Parquet reader after a crash.
          ...(name === 'idempotency_key' && { encoding: 'PLAIN' as const, codec: 'UNCOMPRESSED' as const }),
        })),
      }),
    ),
};
