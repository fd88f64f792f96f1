import { isObject, type Json, type JsonObject } from '../../../../src/terms.ts';
import { flattened, textOf } from './schema.ts';

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
