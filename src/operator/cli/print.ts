import { printJson, say, show, table } from './io.ts';

/** How an answer of the API is shown. */
export interface Shown {
  /** The columns of a list; all that are in its first item otherwise. */
  readonly columns?: readonly string[];
  /** Instead of an empty list. */
  readonly none?: string;
  /** Below it, for people. */
  readonly next?: string;
}

/** Prints an answer of the API: as JSON, a list with a line for each item; or as a table, or a name and a value in each line. */
export function print({ json }: { readonly json?: boolean | undefined }, answer: object, shown: Shown = {}): void {
  const items = 'items' in answer && Array.isArray(answer.items) ? (answer.items as object[]) : undefined;
  if (json) {
    for (const one of items ?? [answer]) printJson(one);
    return;
  }
  if (items?.length === 0) show(shown.none ?? 'None.');
  else show(items === undefined ? linesOf(answer).join('\n') : tableOf(items, shown.columns));
  if (shown.next !== undefined) say(shown.next);
}

const isSingle = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value instanceof Date ||
  (Array.isArray(value) && value.every((one) => typeof one !== 'object'));

const isAbsent = (value: unknown): boolean => value === null || value === undefined || value === '';

function cell(value: unknown): string {
  if (isAbsent(value)) return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) && isSingle(value)) return value.join(', ') || 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const words = (name: string): string => name.replaceAll('_', ' ');

function tableOf(items: readonly object[], columns: readonly string[] = Object.keys(items[0] ?? {})): string {
  const rows = items.map((item) => columns.map((name) => cell((item as Record<string, unknown>)[name])));
  return table([columns.map(words), ...rows]);
}

/** What a partner sent: its names are its own. */
const verbatim: ReadonlySet<string> = new Set(['raw', 'data', 'body']);

/** What is absent is left out; what has parts is indented below its name. */
function linesOf(value: object): string[] {
  const present = Object.entries(value).filter(([, one]) => !isAbsent(one));
  const singles = present.filter(([, one]) => isSingle(one));
  const lines = singles.length === 0 ? [] : table(singles.map(([name, one]) => [words(name), cell(one)])).split('\n');
  for (const [name, one] of present) {
    if (isSingle(one)) continue;
    const inner = innerLines(name, one as object);
    if (inner.length > 0) lines.push(`${words(name)}:`, ...inner.map((line) => `  ${line}`));
  }
  return lines;
}

function innerLines(name: string, value: object): string[] {
  if (verbatim.has(name)) return JSON.stringify(value, null, 2).split('\n');
  return Array.isArray(value) ? value.flatMap(itemLines) : linesOf(value);
}

/** An item of a list inside an answer: its values in one line, its parts below. */
function itemLines(item: unknown): string[] {
  if (typeof item !== 'object' || item === null) return [cell(item)];
  if ('label' in item && 'count' in item) return [`${item.count} ${item.label}`];
  const present = Object.entries(item).filter(([, one]) => !isAbsent(one));
  const singles = present.filter(([, one]) => isSingle(one)).map(([name, one]) => `${words(name)} ${cell(one)}`);
  const parts = Object.fromEntries(present.filter(([, one]) => !isSingle(one)));
  return [singles.join(', '), ...linesOf(parts).map((line) => `  ${line}`)];
}
