import { isUtf8 } from 'node:buffer';
import pg from 'pg';
import { DamagedArchive } from '../../kit/archive.ts';
import { isTooDeep, parseJson } from '../../kit/json.ts';
import { isDocumentName } from '../../terms.ts';
import { storedJson } from './stored-json.ts';

export interface TableColumns {
  readonly table: string;
  readonly columns: readonly string[];
  /** Of the columns, as PostgreSQL names them. */
  readonly types: readonly string[];
}

/**
 * Rows of a file, in COPY's text format, checked before the database gets them: each has the columns of its table, written as COPY itself
 * writes them, with values that the service can read again. The database checks the rest: its types accept more than the service reads.
 */
export async function* checkedRows(table: TableColumns, rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const lines of rows) {
    if (!isUtf8(lines) || lines.includes(0) || lines.includes(13)) throw unfit(table.table, 'text');
    for (const line of lines.toString('utf8', 0, lines.length - 1).split('\n')) checkRow(table, line);
    yield lines;
  }
}

const unfit = (table: string, column: string): DamagedArchive =>
  new DamagedArchive(`a row of the table ${table} does not fit (${column})`);

function checkRow({ table, columns, types }: TableColumns, line: string): void {
  const fields = line.split('\t');
  if (fields.length !== columns.length) throw unfit(table, 'number of columns');
  const field = (column: string): string | null => {
    const value = fields[columns.indexOf(column)];
    return value === undefined || value === '\\N' ? null : (unescaped(value) ?? null);
  };
  for (const [at, column] of columns.entries()) {
    if (fields[at] === '\\N') continue;
    const text = unescaped(fields[at] ?? '');
    if (text === undefined || !isReadable(types[at] ?? '', text) || !isContent(table, column, text, field)) {
      throw unfit(table, column);
    }
  }
}

const escapes = new Map(Object.entries({ '\\': '\\', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }));

/** Undefined for escapes that COPY reads and never writes, such as \x41. */
function unescaped(text: string): string | undefined {
  if (!text.includes('\\')) return text;
  let isSound = true;
  const plain = text.replace(/\\(.?)/gs, (_, sign: string) => {
    isSound &&= escapes.has(sign);
    return escapes.get(sign) ?? '';
  });
  return isSound ? plain : undefined;
}

const instant = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00$/;
/** The driver's parser of text[], whose number its types do not know. */
const readList = pg.types.getTypeParser(1009 as never, 'text') as (text: string) => readonly unknown[];

/** Whether the driver reads a value of this type as the code expects: no infinity, no number that loses digits, no list in a list. */
function isReadable(type: string, text: string): boolean {
  switch (type) {
    case 'timestamp with time zone':
      return instant.test(text);
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(text);
    case 'bytea':
      return /^\\x[0-9a-f]*$/.test(text);
    case 'bigint':
      return Number.isSafeInteger(Number(text));
    case 'double precision':
      return Number.isFinite(Number(text));
    case 'text[]':
    case 'integer[]':
      return isFlatList(text);
    default:
      return true;
  }
}

function isFlatList(text: string): boolean {
  try {
    return readList(text).every((one) => typeof one === 'string');
  } catch {
    return false;
  }
}

/** As deep as limits.json_depth allows, and the wrapping of our own. */
const deepest = 600;

function isContent(table: string, column: string, text: string, field: (column: string) => string | null): boolean {
  const place = `${table}.${column}`;
  if (place === 'documents.name') return isDocumentName(text);
  if (place === 'events.body' || place === 'events.hydrated') return isUtf8(Buffer.from(text.slice(2), 'hex'));
  const content = storedJson.get(place);
  if (content === undefined) return true;
  try {
    const value = parseJson(text);
    return !isTooDeep(value, deepest) && content(value, text, field);
  } catch {
    return false;
  }
}
