import { isObject, type Json, type JsonObject } from '../../../../src/terms.ts';
import { statedStatus } from '../vocabulary.ts';
import { wordsOf } from '../words.ts';
import type { Operation } from './model.ts';
import { flattened, textOf } from './schema.ts';

/** Every object in a schema with its key, each once. */
function partsOf(schema: Json | undefined, key = '', seen = new Set<Json>()): [string, JsonObject][] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return [];
  seen.add(schema);
  const inner = Object.entries(schema).flatMap(([name, one]) => partsOf(one, name, seen));
  return isObject(schema) ? [[key, schema], ...inner] : inner;
}

const isStatusName = (name: string) => wordsOf(name).some((word) => word === 'status' || word === 'state');

/** Statuses that a sentence lists: "CONF for confirmed, CXL if it was cancelled". */
export function statusesInText({ response, parameters }: Operation): string[] {
  const texts = [
    ...parameters.filter(({ name }) => isStatusName(name)).map(({ about }) => about),
    ...partsOf(response).flatMap(([key, { description }]) =>
      isStatusName(key) && typeof description === 'string' ? [description] : [],
    ),
  ];
  return texts.flatMap((text) => {
    // Codes in capitals or in quotes; ordinary words only if there are none.
    const codes = text.match(/(?<=["'`])[\w-]+(?=["'`])|\b[A-Z][A-Z_-]{1,20}\b/g) ?? [];
    const words = codes.length > 1 ? codes : /:/.test(text) ? (text.replace(/^[^:]*:/, '').match(/[\w-]+/g) ?? []) : [];
    const known = [...new Set(words)].filter((word) => word.length > 1 && statedStatus(word) !== undefined);
    return known.length > 1 ? known : [];
  });
}

const saysMinor = /\b(?:in )?(?:cents|pence|minor (?:currency )?units?|smallest (?:currency )?unit)\b/i;

/** Amounts whose description says that they are in cents, with the modifier that they need. */
export function withMinorUnits(
  map: JsonObject,
  response: JsonObject | undefined,
  rootPath: Json | undefined,
): JsonObject {
  const isMinor = (path: Json | undefined, list = ''): path is string =>
    typeof path === 'string' && saysMinor.test(aboutAt(response, `${String(rootPath ?? '')}.${list}.${path}`));
  const minor = (path: string) => ({ path, minor_units: 'currency' });
  const { total_amount: total, charges } = map;
  const fields = isObject(charges) && isObject(charges.fields) ? charges.fields : {};
  const from = isObject(charges) && typeof charges.from === 'string' ? charges.from : '';
  return {
    ...map,
    ...(isMinor(total) && { total_amount: minor(total) }),
    ...(isMinor(fields.amount, from) && {
      charges: { ...(charges as JsonObject), fields: { ...fields, amount: minor(fields.amount) } },
    }),
  };
}

/** The description of the field at a path of the answer; lists are passed through. */
function aboutAt(schema: JsonObject | undefined, path: string): string {
  const keys = path.split(/[.[\]]+/).filter((key) => key !== '' && !/^(?:\d+|\*|\$item)$/.test(key));
  const items = (one: JsonObject): JsonObject => (one.items === undefined ? one : items(flattened(one.items)));
  const end = keys.reduce<JsonObject | undefined>((at, key) => {
    const properties = at === undefined ? undefined : items(flattened(at)).properties;
    return isObject(properties) && isObject(properties[key]) ? properties[key] : undefined;
  }, schema);
  return textOf(flattened(end).description);
}
