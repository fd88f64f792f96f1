import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { hmacSha256, type Key } from '../../src/kit/crypto.ts';

/** A file of `innbound backup` or `innbound brand export`, taken apart so that a test can forge one. Bytes are latin1 characters. */
export interface Parts {
  header: { [key: string]: unknown };
  tables: Table[];
}

export interface Table {
  head: unknown;
  /** As COPY writes them, without the line break. */
  rows: string[];
}

const end = '{"end":true}\n';

export async function takeApart(file: string): Promise<Parts> {
  const bytes = await readFile(file);
  const at = bytes.indexOf(10);
  const header = JSON.parse(bytes.toString('utf8', 0, at)) as Parts['header'];
  const lines = gunzipSync(bytes.subarray(at + 1, -32))
    .toString('latin1')
    .split('\n');
  const tables: Table[] = [];
  for (let i = 0; `${lines[i]}\n` !== end; i++) {
    const rows: string[] = [];
    const head: unknown = JSON.parse(lines[i] ?? '');
    for (i++; lines[i] !== '\\.'; i++) rows.push(lines[i] ?? '');
    tables.push({ head, rows });
  }
  return { header, tables };
}

export const textOf = ({ tables }: Parts): string =>
  `${tables.map(({ head, rows }) => [JSON.stringify(head), ...rows, '\\.\n'].join('\n')).join('')}${end}`;

/** With the seal of somebody who knows the key. */
export function sealed(key: Key, header: unknown, text: string): Buffer {
  const head = typeof header === 'string' ? header : `${JSON.stringify(header)}\n`;
  const body = Buffer.concat([Buffer.from(head), gzipSync(Buffer.from(text, 'latin1'), { level: 1 })]);
  const seal = createHmac('sha256', hmacSha256(key.bytes, 'seal of an archive')).update(body).digest();
  return Buffer.concat([body, seal]);
}

const columnsOf = ({ head }: Table): readonly string[] => (head as { columns: string[] }).columns;

export function tableOf({ tables }: Parts, name: string): Table {
  const found = tables.find(({ head }) => (head as { table?: string }).table === name);
  if (found === undefined) throw new Error(`the file has no table ${name}`);
  return found;
}

/** Replaces columns of a table's first row, or of a copy of it. */
export function setRow(parts: Parts, name: string, values: Record<string, string>, copy = false): void {
  const table = tableOf(parts, name);
  const [row] = table.rows;
  if (row === undefined) throw new Error(`the table ${name} is empty`);
  const fields = row.split('\t');
  for (const [column, value] of Object.entries(values)) {
    const at = columnsOf(table).indexOf(column);
    if (at === -1) throw new Error(`${name} has no column ${column}`);
    fields[at] = value;
  }
  if (copy) table.rows.push(fields.join('\t'));
  else table.rows[0] = fields.join('\t');
}
