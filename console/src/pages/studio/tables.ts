import type { Json } from '../../api/types.ts';

/** A list beside the records, with a field that names the row and one that may be wanted. */
export interface Table {
  readonly in: string;
  readonly key: string;
  readonly value: string;
}

export const tableText = ({ in: list, value }: Table): string => `${value} of ${list.replace('$body.', '')}`;

/** Lists of the whole sample whose rows have the value as their id: the value lies outside of the record. */
export function tablesFor(sample: string, value: Json | undefined): Table[] {
  if ((typeof value !== 'string' && typeof value !== 'number') || value === '') return [];
  let body: Json;
  try {
    body = JSON.parse(sample);
  } catch {
    return [];
  }
  return [...lists(body, '$body')].flatMap(({ path, rows }) => {
    const row = rows.find((one) => idKeys.some((key) => key in one && String(one[key]) === String(value)));
    const key = row && idKeys.find((one) => one in row && String(row[one]) === String(value));
    if (row === undefined || key === undefined) return [];
    return Object.entries(row)
      .filter(([name, inner]) => name !== key && typeof inner === 'string')
      .map(([name]) => ({ in: path, key, value: name }));
  });
}

const idKeys = ['id', 'Id', 'ID', 'code', 'uuid', 'key', '_id'];

function* lists(value: Json, path: string): Generator<{ path: string; rows: readonly { [key: string]: Json }[] }> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    const at = `${path}.${key}`;
    if (Array.isArray(inner)) {
      const rows = inner.filter((one) => one !== null && typeof one === 'object' && !Array.isArray(one));
      yield { path: at, rows: rows as { [key: string]: Json }[] };
    } else yield* lists(inner, at);
  }
}

/** The value at a path such as guests[0].family. */
export function valueAt(value: Json, path: string): Json | undefined {
  let at: Json | undefined = value;
  for (const step of path.split(/[.[\]]+/).filter((one) => one !== '')) {
    if (at === null || typeof at !== 'object') return undefined;
    at = (at as { [key: string]: Json })[step];
  }
  return at;
}
