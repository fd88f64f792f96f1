import { listFields, type ReservationField, reservationFields, valueFields } from '../canonical/fields.ts';
import { isTimezone, statuses } from '../canonical/values.ts';
import { isObject } from '../terms.ts';
import type { FlatConfig, ShapeConfig, ValueMap } from './config.ts';
import { compileDates } from './dates.ts';
import { documentPath } from './document-path.ts';
import type { Env } from './env.ts';
import { asList } from './table.ts';
import { doubleSpellings } from './values.ts';

/** Checks the parts of a mapping outside its fields: time zone, date formats, field names, value maps. */
export function checkConfig(config: ShapeConfig, env: Env): void {
  if (!isTimezone(config.timezone))
    env.problem('timezone', `${config.timezone} is not a time zone; use an IANA name such as Europe/Lisbon`);
  checkDates(config, env);
  if (config.shape?.flat !== undefined) checkFlat(config, config.shape.flat, env);
  const known = [...Object.keys(reservationFields), ...Object.keys(listFields), 'extra', 'where'];
  for (const field of Object.keys(config.map ?? {})) {
    if (known.includes(field)) continue;
    const message = `unknown field ${field}; the fields are ${known.join(', ')}. Map anything else under extra`;
    env.problem(documentPath(env.options.mapAt, field), message);
  }
  for (const [field, map] of Object.entries(config.values ?? {})) {
    if (!(valueFields as ReadonlySet<string>).has(field))
      env.problem(
        documentPath('values', field),
        `${field} cannot have a value map; these can: ${[...valueFields].join(', ')}`,
      );
    else if (map !== undefined) checkValues(field, map, env);
  }
}

/** Flat rows are collected over several responses, each without its surroundings. */
function checkFlat({ map = {} }: ShapeConfig, flat: FlatConfig, env: Env): void {
  const check = (value: unknown, at: string): void => {
    if (typeof value === 'string') {
      const start = /^\$(?:key|parent)\b|^\$rows(?:\[\]|\.\*|\[-?\d+\]|\.\d+)\.\$(?:key|parent)\b/.exec(value)?.[0];
      if (start !== undefined)
        env.problem(at, `${start} is not known: the rows of several responses are grouped. ${remedy}`, 0);
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
const remedy = 'Add it to each row by shape.flat.add: { NAME: $key }, and map NAME';

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

function checkValues(field: string, map: ValueMap, env: Env): void {
  for (const canonical of Object.keys(map)) {
    if (field === 'status' && !(statuses as readonly string[]).includes(canonical))
      env.problem(
        documentPath('values.status', canonical),
        `${canonical} is not a status; use one of ${statuses.join(', ')}`,
      );
    if (field === 'marketing_consent' && canonical !== 'true' && canonical !== 'false')
      env.problem(documentPath('values.marketing_consent', canonical), 'must be true or false');
  }
  for (const spelling of doubleSpellings(map))
    env.problem(`values.${field}`, `the spelling ${spelling} is listed under two values`);
}
