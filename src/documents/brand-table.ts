import { type Position, positionAt } from './positions.ts';

export interface Cell extends Position {
  readonly text: string;
}

export type Table =
  | {
      readonly kind: 'table';
      readonly separator: string;
      readonly columns: readonly Cell[];
      readonly rows: readonly (readonly Cell[])[];
    }
  | ({ readonly kind: 'broken'; readonly message: string } & Position);

/**
 * The cells of a CSV file (RFC 4180) with their positions; empty lines are skipped. Spreadsheets of some countries write semicolons: what
 * the first line has more of separates all of them.
 */
export function readTable(text: string): Table {
  const [head = ''] = text.split('\n', 1);
  const separator = head.split(';').length > head.split(',').length ? ';' : ',';
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}\\r\\n]*))(${separator}|\\r?\\n|$)`, 'y');
  const lines: Cell[][] = [];
  let line: Cell[] = [];
  cell.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  while (cell.lastIndex < text.length || line.length > 0) {
    const position = positionAt(text, cell.lastIndex);
    const found = cell.exec(text);
    if (found === null)
      return { kind: 'broken', ...position, message: 'a quote is not closed, or stands inside a cell' };
    const [, quoted, plain = '', end] = found;
    line.push({ ...position, text: (quoted?.replaceAll('""', '"') ?? plain).trim() });
    if (end === separator) continue;
    if (line.some((one) => one.text !== '')) lines.push(line);
    line = [];
  }
  const [columns = [], ...rows] = lines;
  return { kind: 'table', separator, columns, rows };
}

/** One line of the table. */
export function writeLine(cells: readonly string[], separator: string): string {
  const written = cells.map((text) => (/[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text));
  return written.join(separator);
}
