import { isObject } from '../../terms.ts';
import { listFields, type ReservationField, reservationFields } from '../canonical/fields.ts';
import type { FlatConfig, ShapeConfig } from './config.ts';
import { compileDates } from './dates.ts';
import { documentPath, type Env } from './env.ts';
import { asList } from './table.ts';
import { doubleSpellings } from './values.ts';

/** Checks what the schema of a mapping cannot, outside its fields: date formats, paths of flat rows, spellings. */
export function checkConfig(config: ShapeConfig, env: Env): void {
  checkDates(config, env);
  if (config.shape?.flat !== undefined) checkFlat(config, config.shape.flat, env);
  for (const [field, map = {}] of Object.entries(config.values ?? {}))
    for (const spelling of doubleSpellings(map))
      env.problem(`values.${field}`, `the spelling ${spelling} is listed under two values`);
}

/** Flat rows are collected over several responses, each without its surroundings. */
function checkFlat({ map = {} }: ShapeConfig, flat: FlatConfig, env: Env): void {
  const check = (value: unknown, at: string): void => {
    if (typeof value === 'string') {
      const start = /^\$(?:key|parent)\b|^\$rows(?:\[\]|\.\*|\[-?\d+\]|\.\d+)\.\$(?:key|parent)\b/.exec(value)?.[0];
      if (start !== undefined) env.problem(at, `${start} is not known: the rows of several responses are grouped`, 0);
    } else if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) check(one, `${at}[${index}]`);
    } else if (isObject(value)) {
      // Below `from` and `join` a path starts at an item, which has a key and a parent.
      const isList = 'from' in value || ('join' in value && !Array.isArray(value.join));
      for (const name of isList ? ['from'] : sources) check(value[name], `${at}.${name}`);
    }
  };
  check(flat.key, 'shape.flat.key');
  for (const field of Object.keys(reservationFields) as ReservationField[]) {
    check(map[field], documentPath(env.options.mapAt, field));
  }
  for (const list of Object.keys(listFields) as (keyof typeof listFields)[]) {
    check(flat[list]?.key, `shape.flat.${list}.key`);
    const one = map[list];
    // Without `from` each row is an item.
    if (!isObject(one) || 'from' in one || 'join' in one || !isObject(one.fields)) continue;
    for (const [field, source] of Object.entries(one.fields))
      check(source, documentPath(`${documentPath(env.options.mapAt, list)}.fields`, field));
  }
}

/** Where a field has a path, or fields with paths. */
const sources = ['path', 'first', 'join', 'sum', 'product', 'min', 'max', 'count', 'add_days'];

function checkDates(config: ShapeConfig, env: Env): void {
  const dates = config.shape?.dates;
  if (dates === undefined) return;
  const compiled = compileDates(asList(dates), 'UTC');
  if (compiled.kind === 'bad')
    env.problem(
      typeof dates === 'string' ? 'shape.dates' : `shape.dates[${compiled.index}]`,
      compiled.message,
      compiled.offset,
    );
}
