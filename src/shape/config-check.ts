import { listFields, type ReservationField, reservationFields } from '../canonical/fields.ts';
import { statuses } from '../canonical/reservation.ts';
import { type FlatConfig, type ShapeConfig, type ValueMap, valueFields } from './config.ts';
import { compileDates } from './dates.ts';
import { documentPath } from './document-path.ts';
import type { Env } from './env.ts';
import { asList } from './table.ts';
import { doubleSpellings } from './values.ts';
import { isTimezone } from './zone.ts';

/** Checks the parts of a mapping outside its fields: time zone, date formats, field names, value maps. */
export function checkConfig(config: ShapeConfig, env: Env): void {
  if (!isTimezone(config.timezone))
    env.problem('timezone', `${config.timezone} is not a time zone; use an IANA name such as Europe/Lisbon`);
  checkDates(config, env);
  if (config.shape?.flat !== undefined) checkFlat(config, config.shape.flat, env);
  const known = [...Object.keys(reservationFields), ...Object.keys(listFields), 'extra'];
  for (const field of Object.keys(config.map ?? {})) {
    if (!known.includes(field))
      env.problem(
        documentPath(env.options.mapAt, field),
        `unknown field ${field}; the fields are ${known.join(', ')}. Map anything else under extra`,
      );
  }
  for (const [field, map] of Object.entries(config.values ?? {})) {
    if (!(valueFields as readonly string[]).includes(field))
      env.problem(
        documentPath('values', field),
        `${field} cannot have a value map; these can: ${valueFields.join(', ')}`,
      );
    else if (map !== undefined) checkValues(field, map, env);
  }
}

/** Flat rows are collected over several responses, each without its surroundings. */
function checkFlat({ map = {} }: ShapeConfig, { key }: FlatConfig, env: Env): void {
  const check = (text: unknown, at: string) => {
    if (typeof text === 'string' && /^\$(?:key|parent)\b/.test(text))
      env.problem(at, '$key and $parent of a flat row are not known: its list may come from several responses', 0);
  };
  check(key, 'shape.flat.key');
  for (const field of Object.keys(reservationFields) as ReservationField[]) {
    const source = map[field];
    const at = documentPath(env.options.mapAt, field);
    if (typeof source === 'object') check(source.path, `${at}.path`);
    else check(source, at);
  }
}

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
