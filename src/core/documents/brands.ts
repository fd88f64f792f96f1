import { stringify } from 'yaml';
import { z } from 'zod';
import { isObject } from '../../terms.ts';
import { integrationSchema } from './integration.ts';
import { inOrder, type Mistake, type Problem } from './mistake.ts';
import { checkValue, nothing, type ParsedFile, parseFile, readSource, type SourceFile } from './parse.ts';
import { type Path, pathFromText, valueAt } from './path.ts';
import { positionAt, type TextPosition } from './positions.ts';
import { readThrough } from './repair.ts';
import { nameText } from './scalars.ts';
import { schemaAt, typeNames } from './schema-walk.ts';

export interface Cell extends TextPosition {
  readonly text: string;
}

export type Table =
  | {
      readonly kind: 'table';
      readonly separator: string;
      readonly columns: readonly Cell[];
      readonly rows: readonly (readonly Cell[])[];
    }
  | ({ readonly kind: 'broken'; readonly message: string } & TextPosition);

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
    const match = cell.exec(text);
    if (match === null) return { kind: 'broken', ...position, message: 'a quote is not closed, or is inside a cell' };
    const [, quoted, plain = '', end] = match;
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

/**
 * A file of many brands of one system. It becomes one ordinary integration for each row when the workspace is read, so nothing beyond this
 * room knows of it: versions, runs and edits are those of the single brands.
 */
const values = () => z.record(z.string(), z.json());
export const brandsSchema = z.strictObject({
  group: nameText().describe('The name under which the console shows these brands together.'),
  defaults: values()
    .default({})
    .describe('Keys of an integration that hold for all these brands: connector, pull, deliver and others.'),
  brands: z
    .union([z.array(values()).min(1), z.string().regex(/^[\w-][\w.-]*\.csv$/)], {
      error: 'must be a list of brands, or the name of a CSV file in the same folder, such as mews.csv',
    })
    .describe(
      'One entry for each brand: its name (`integration`), `brand_id`, `timezone`, and whatever differs from the defaults. A key may be a path, such as `pull.auth.token`. Or the name of a CSV file in the same folder, whose first line has these keys; an empty cell leaves the default.',
    ),
});

/** The documents of a file: one, or one for each of its brands. */
export function parseSource(source: SourceFile): ParsedFile[] {
  return source.lists === undefined ? [parseFile(source)] : parseBrands(source);
}

/** A file that lists the brands of another table with the same defaults. */
export function tableFile(list: SourceFile, table: { readonly file: string; readonly text: string }): SourceFile {
  const read = readSource(list);
  const raw = read.kind === 'read' && isObject(read.raw) ? read.raw : {};
  return { kind: list.kind, file: list.file, text: stringify({ ...raw, brands: 'table.csv' }), lists: { table } };
}

/** A value of a row, and where it is written. */
interface RowValue {
  readonly steps: Path;
  readonly value: unknown;
  readonly placed: Placed;
}

interface Row {
  readonly entries: readonly RowValue[];
  readonly placed: Placed;
}

/** `rest`: the path inside the value. */
type Placed = (problem: Problem, rest: Path) => Mistake;

function parseBrands(source: SourceFile): ParsedFile[] {
  const read = readSource(source);
  if (read.kind === 'failed') return [read.file];
  const { mistakeAt } = read;
  const { problems, body } = readThrough(brandsSchema, read.raw);
  if (body === undefined) return [refused(source, problems.map(mistakeAt), mistakeAt)];
  const { group, defaults, brands } = body as z.infer<typeof brandsSchema>;
  const rows =
    typeof brands === 'string' ? tableRows(source, brands, defaults, mistakeAt) : listedRows(brands, mistakeAt);
  if (!Array.isArray(rows)) return [refused(source, [rows], mistakeAt)];
  return rows.map((row) => {
    const merged = row.entries.reduce<unknown>((base, { steps, value }) => put(base, steps, value), defaults);
    const { integration, ...rest } = merged as Record<string, unknown>;
    const raw = { ...(integration !== undefined && { integration }), group, ...rest };
    const text = stringify(raw, { lineWidth: 0 });
    return checkValue({ kind: source.kind, file: source.file, text, isRow: true }, raw, (problem) =>
      placeOf(problem, row, defaults, mistakeAt),
    );
  });
}

function refused(source: SourceFile, mistakes: readonly Mistake[], mistakeAt: ParsedFile['mistakeAt']): ParsedFile {
  return { source, ...nothing, mistakes: inOrder(mistakes), mistakeAt };
}

function listedRows(brands: readonly Record<string, unknown>[], mistakeAt: ParsedFile['mistakeAt']): Row[] {
  return brands.map((brand, i) => ({
    placed: (problem) => mistakeAt({ ...problem, path: ['brands', i], at: 'value' }),
    entries: Object.entries(brand).map(([key, value]) => ({
      steps: pathFromText(key),
      value,
      placed: (problem, rest) => mistakeAt({ ...problem, path: ['brands', i, key, ...rest] }),
    })),
  }));
}

function tableRows(
  source: SourceFile,
  file: string,
  defaults: unknown,
  mistakeAt: ParsedFile['mistakeAt'],
): Row[] | Mistake {
  const { table } = source.lists ?? {};
  const atKey = (message: string) => mistakeAt({ path: ['brands'], at: 'value', message });
  if (table === undefined) return atKey(`the folder has no readable file ${file}`);
  const read = readTable(table.text);
  if (read.kind === 'broken')
    return { file: table.file, line: read.line, column: read.column, path: '', message: read.message };
  if (read.rows.length === 0)
    return atKey(`${file} has no brand: its first line names the keys, each further line is a brand`);
  const { columns } = read;
  const placedAt =
    ({ line, column }: Cell, path: string): Placed =>
    ({ message, suggestion }) => ({ file: table.file, line, column, path, message, ...(suggestion && { suggestion }) });
  for (const cells of read.rows) {
    const surplus = cells[columns.length];
    if (surplus !== undefined)
      return placedAt(surplus, '')(
        { path: [], at: 'value', message: 'the line has more cells than the first line' },
        [],
      );
  }
  return read.rows.map((cells) => ({
    placed: placedAt({ ...(cells[0] as Cell), column: 1 }, ''),
    entries: cells.flatMap((cell, i): RowValue[] => {
      const { text: key = '' } = columns[i] ?? {};
      if (cell.text === '' || key === '') return [];
      const steps = pathFromText(key);
      return [{ steps, value: typed(cell.text, steps, defaults), placed: placedAt(cell, key) }];
    }),
  }));
}

/** A cell is text, unless the key takes no text. The items of a list are separated by spaces. */
export function typed(text: string, steps: Path, defaults: unknown): unknown {
  const schema = schemaAt(integrationSchema, steps, put(defaults, steps, text));
  const types = schema === undefined ? ['string' as const] : typeNames(schema);
  if (types.includes('string')) return text;
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true';
  if (types.includes('number') && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return types.includes('array') ? text.split(/\s+/) : text;
}

/** The base with the value at the path. Mappings are merged, everything else is replaced. */
function put(base: unknown, [step, ...rest]: Path, value: unknown): unknown {
  const object = isObject(base) ? base : {};
  if (step !== undefined)
    return { ...object, [step]: put(Object.hasOwn(object, step) ? object[step] : undefined, rest, value) };
  if (!isObject(value)) return value;
  return Object.entries(value).reduce<unknown>((merged, [key, inner]) => put(merged, [key], inner), object);
}

/** Where a problem of a brand is written: in its row, in the defaults, or nowhere: then the row itself is the place. */
function placeOf(problem: Problem, row: Row, defaults: unknown, mistakeAt: ParsedFile['mistakeAt']): Mistake {
  const { path } = problem;
  const begins = (start: Path, whole: Path) => start.every((step, i) => step === whole[i]);
  const own = row.entries.findLast(({ steps, value }) => {
    const rest = path.slice(steps.length);
    return begins(steps, path) && (rest.length === 0 || valueAt(value, rest) !== undefined);
  });
  if (own !== undefined) return own.placed(problem, path.slice(own.steps.length));
  if (valueAt(defaults, path) !== undefined) return mistakeAt({ ...problem, path: ['defaults', ...path] });
  const around = row.entries.find(({ steps }) => begins(path, steps) || steps[0] === path[0]);
  if (around !== undefined) return around.placed(problem, []);
  const isInDefaults = path.length > 1 && valueAt(defaults, path.slice(0, 1)) !== undefined;
  return isInDefaults ? mistakeAt({ ...problem, path: ['defaults', ...path] }) : row.placed(problem, []);
}
