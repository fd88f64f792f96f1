import { hash } from 'node:crypto';
import { parseJson } from '../../../kit/json.ts';
import type { Json, JsonObject } from '../../../terms.ts';
import { decimal } from '../../canonical/reservation.ts';
import { type HeldRow, type Holdings, type RecordsOf, Unreadable } from '../destination.ts';
import type { Delivery } from '../message.ts';
import {
  type CallLimits,
  EngineFailure,
  encoded,
  type Row,
  type Statement,
  selectSql,
  sourceSql,
  storedRows,
  withRows,
} from './dialect.ts';
import type { Engine } from './loader.ts';
import { type Cells, type Column, rowsOf, type Table, tables, UnfitValue } from './tables.ts';

/** Reads a warehouse back: the engine hashes the cells of a row as text, and we those of the row that a delivery would write. */
export function warehouseHoldings(open: () => Promise<Engine>, deadlineMs: number): Holdings {
  let opened: Promise<Engine> | undefined;
  const limits: CallLimits = { deadlineMs, signal: new AbortController().signal, extend: async () => true };
  async function read(statements: (engine: Engine) => readonly Statement[]): Promise<readonly Row[]> {
    try {
      opened ??= open();
      const engine = await opened;
      return await engine.connection.run(statements(engine), limits);
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error;
      // Nothing was delivered yet, or somebody dropped the tables.
      if (error.meaning === 'missing') return [];
      throw new Unreadable(error.message);
    }
  }
  return {
    async rows({ integration, type }, ids, what) {
      const table = tableOf(type);
      const keys = encoded(ids.map((id) => ({ integration, id })));
      const columns = table.columns.filter(({ name }) => head.has(name) || isContent(name));
      const rows = await read(({ dialect: d }) => {
        if (what === 'contents' || d.digest === undefined) return selectSql(d, table, columns, table.key, keys);
        const { text, of } = d.digest;
        const cells = table.columns.filter(({ name }) => isContent(name));
        const texts = cells.map(({ name, kind }) => `COALESCE(${text(`t.${d.quote(name)}`, kind)}, '${absent}')`);
        const named = [...head].map((name) => `t.${d.quote(name)} AS ${d.quote(name)}`);
        const digest = `${of(`CONCAT_WS('${separator}', ${texts.join(', ')})`)} AS digest`;
        const source = sourceSql(d, keyColumns(table));
        const on = table.key.map((name) => `t.${d.quote(name)} = s.${d.quote(name)}`).join(' AND ');
        const sql = `SELECT ${[...named, digest].join(', ')} FROM ${storedRows(d, table)} t JOIN (${source}) s ON ${on}`;
        return withRows(d, keyColumns(table), keys, sql);
      });
      return rows.map((row) => heldRow(table, row));
    },
    digestOf(delivery) {
      const table = tableOf(delivery.message.type);
      const cells = cellsFor(delivery, table);
      // Its value was refused: no row has it.
      if (cells === undefined) return '';
      const texts = table.columns
        .filter(({ name }) => isContent(name))
        .map((column) => spelled(cells[column.name], column));
      return hash('sha256', texts.join(separator));
    },
    async ids({ integration, type }, after, limit) {
      const table = tableOf(type);
      const rows = await read(({ dialect: d }) => {
        const [t, s] = ['t.', 's.'].map((of) => (name: string) => `${of}${d.quote(name)}`) as [Name, Name];
        const on = `${t('integration')} = ${s('integration')} AND ${t('id')} > ${s('id')}`;
        const from = `${storedRows(d, table)} t JOIN (${sourceSql(d, keyColumns(table))}) s ON ${on}`;
        const first = d.limit?.(limit) ?? `LIMIT ${limit}`;
        const sql = `SELECT ${t('id')} AS ${d.quote('id')} FROM ${from} WHERE ${t('removed_at')} IS NULL ORDER BY ${t('id')} ${first}`;
        return withRows(d, keyColumns(table), encoded([{ integration, id: after }]), sql);
      });
      return rows.map(({ id }) => id ?? '');
    },
    async integrations() {
      const rows = await read(({ dialect: d }) => {
        const of = (table: Table) =>
          `SELECT DISTINCT t.${d.quote('integration')} AS integration FROM ${storedRows(d, table)} t WHERE t.${d.quote('removed_at')} IS NULL`;
        return [{ sql: `${of(tables.reservations)} UNION ALL ${of(tables.guest_profiles)}` }];
      });
      return [...new Set(rows.map(({ integration }) => integration ?? ''))];
    },
    close: async () => (await opened?.catch(() => undefined))?.connection.close(),
  };
}

type Name = (column: string) => string;
const separator = '\u001f';
const absent = '\u001e';
const head: ReadonlySet<string> = new Set(['id', 'epoch', 'version', 'removed_at']);
const ofDelivery: ReadonlySet<string> = new Set(['integration', 'event', 'idempotency_key', 'changed_at', 'loaded_at']);
const isContent = (name: string): boolean => !head.has(name) && !ofDelivery.has(name);
const tableOf = (type: RecordsOf['type']): Table => (type === 'guest' ? tables.guest_profiles : tables.reservations);
const keyColumns = (table: Table) => table.columns.filter(({ name }) => table.key.includes(name));

function cellsFor(delivery: Delivery, table: Table): Cells | undefined {
  try {
    return rowsOf(delivery, '').find(([name]) => name === table.name)?.[1] ?? {};
  } catch (error) {
    if (error instanceof UnfitValue) return undefined;
    throw error;
  }
}

function spelled(text: string | undefined, { kind }: Column): string {
  if (text === undefined) return absent;
  if (kind !== 'decimal') return text;
  const [whole = '', fraction = ''] = text.split('.');
  return `${whole}.${fraction.slice(0, 9).padEnd(9, '0')}`;
}

function heldRow(table: Table, row: Row): HeldRow {
  const { id, epoch, version, removed_at, digest } = row;
  const about = {
    id: id ?? '',
    epoch: Number(epoch ?? 1),
    version: Number(version),
    isRemoved: (removed_at ?? null) !== null,
  };
  if (typeof digest === 'string') return { ...about, digest: digest.toLowerCase() };
  const columns = table.columns.filter(({ name }) => isContent(name));
  return {
    ...about,
    content: Object.fromEntries(columns.map((one) => [one.name, cellValue(row[one.name] ?? null, one)])) as JsonObject,
  };
}

/** Engines spell numbers, truth and days in their own ways. */
function cellValue(text: string | null, { kind }: Column): Json {
  if (text === null) return null;
  if (kind === 'boolean') return /^(?:t|true|1)$/i.test(text);
  if (kind === 'json') return parseJson(text);
  if (kind === 'int') return Number(text);
  if (kind === 'date') return text.slice(0, 10);
  return kind === 'decimal' ? (decimal(text) ?? text) : text;
}
