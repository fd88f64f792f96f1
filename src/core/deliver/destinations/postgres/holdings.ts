import { hash } from 'node:crypto';
import type pg from 'pg';
import { parseJson } from '../../../../kit/json.ts';
import { isSqlState } from '../../../../kit/sql-state.ts';
import { isObject, type Json, type JsonObject } from '../../../../terms.ts';
import type { FieldKind } from '../../../canonical/fields.ts';
import { type HeldRow, type Holdings, type RecordsOf, Unreadable } from '../../destination.ts';
import type { Delivery } from '../../message.ts';
import { failureOf } from './failure.ts';
import { inTransaction } from './schema.ts';
import { canonicalOf, children, columns, rowsOf, type Table } from './tables.ts';

/**
 * Reads the tables back. A record is one JSON array: its brand, its fields, and an array of rows for each list. The server hashes it, and we
 * spell the same array from the rows that a delivery would write; so only the contents of rows that differ travel.
 */
export function postgresHoldings(pool: pg.Pool, schema: string, limitMs: number): Holdings {
  async function read<Row extends pg.QueryResultRow>(sql: string, values: unknown[]): Promise<readonly Row[]> {
    try {
      return await inTransaction(pool, limitMs, async (client) => (await client.query<Row>(sql, values)).rows);
    } catch (error) {
      // Nothing was delivered yet, or somebody dropped the tables.
      if (isSqlState(error, 'undefinedTable') || isSqlState(error, 'undefinedSchema')) return [];
      throw new Unreadable(failureMessage(error));
    }
  }
  return {
    async rows({ integration, type }, ids, what) {
      const table = tableOf(type);
      const content = `${recordSql(schema, table)}::text`;
      const wanted = what === 'contents' ? content : `encode(sha256(convert_to(${content}, 'UTF8')), 'hex')`;
      const rows = await read<{ id: string; epoch: number; version: number; removed: boolean; read: string }>(
        `select t.id, t.epoch, t.version, t.removed_at is not null as removed, ${wanted} as read
           from ${schema}.${table} t where t.integration = $1 and t.id = any($2)`,
        [integration, ids],
      );
      return rows.map(({ id, epoch, version, removed: isRemoved, read: text }): HeldRow => {
        const head = { id, epoch, version, isRemoved };
        return what === 'contents' ? { ...head, content: contentIn(table, text) } : { ...head, digest: text };
      });
    },
    digestOf: (delivery) => hash('sha256', recordText(delivery)),
    async ids({ integration, type }, after, limit) {
      const rows = await read<{ id: string }>(
        `select id from ${schema}.${tableOf(type)} where integration = $1 and id > $2 and removed_at is null order by id limit $3`,
        [integration, after, limit],
      );
      return rows.map(({ id }) => id);
    },
    async integrations() {
      const named = ['reservations', 'guest_profiles'].map(
        (table) => `select distinct integration from ${schema}.${table} where removed_at is null`,
      );
      return (await read<{ integration: string }>(named.join(' union '), [])).map(({ integration }) => integration);
    },
    close: () => pool.end(),
  };
}

function failureMessage(error: unknown): string {
  const outcome = failureOf(error);
  return outcome.kind === 'delivered' ? '' : outcome.message;
}

const tableOf = (type: RecordsOf['type']) => (type === 'guest' ? 'guest_profiles' : 'reservations');
const listsOf = (table: Table) => (table === 'reservations' ? children : []);

function recordSql(schema: string, table: Table): string {
  const fields = canonicalOf[table].map(([name]) => `t.${name}`);
  const lists = listsOf(table).map((list) => {
    const item = canonicalOf[list].map(([name]) => `c.${name}`).join(', ');
    return `(select json_agg(json_build_array(${item}) order by c.position) from ${schema}.${list} c
              where c.integration = t.integration and c.reservation_id = t.id)`;
  });
  return `json_build_array(t.brand_id, ${[...fields, ...lists].join(', ')})`;
}

const brandAt = columns.reservations.indexOf('brand_id');
const fieldsAt = columns.reservations.indexOf('removed_at') + 1;
const itemAt = columns.guests.indexOf('position') + 1;

/** As the server spells it. */
function recordText(delivery: Delivery): string {
  const rows = rowsOf([delivery]);
  const table = tableOf(delivery.message.type);
  const [own = []] = rows[table];
  const texts = (of: Table, cells: readonly unknown[]) =>
    canonicalOf[of].map(([, { kind }], i) => cellText(kind, cells[i]));
  const lists = listsOf(table).map((list) => {
    const items = rows[list].map((row) => `[${texts(list, row.slice(itemAt)).join(', ')}]`);
    return items.length === 0 ? 'null' : `[${items.join(', ')}]`;
  });
  return `[${[cellText('text', own[brandAt]), ...texts(table, own.slice(fieldsAt)), ...lists].join(', ')}]`;
}

function cellText(kind: FieldKind, cell: unknown): string {
  if (cell === undefined) return 'null';
  if (kind === 'json') return jsonbText(parseJson(String(cell)));
  return kind === 'decimal' ? String(cell) : JSON.stringify(cell);
}

/** jsonb orders keys by their length in bytes, then by their bytes. */
function jsonbText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).map((key) => Buffer.from(key));
  const ordered = keys.sort((a, b) => a.length - b.length || a.compare(b)).map(String);
  return `{${ordered.map((key) => `${JSON.stringify(key)}: ${jsonbText(value[key] ?? null)}`).join(', ')}}`;
}

function contentIn(table: Table, text: string): JsonObject {
  const [brand_id = null, ...cells] = parseJson(text) as Json[];
  const named = (of: Table, values: readonly Json[]) =>
    Object.fromEntries(canonicalOf[of].map(([name], i) => [name, values[i] ?? null]));
  const lists = listsOf(table).map((list, i) => {
    const items = (cells[canonicalOf[table].length + i] ?? []) as Json[][];
    return [list, items.map((item) => named(list, item))] as const;
  });
  return { brand_id, ...named(table, cells), ...Object.fromEntries(lists) };
}
