import type { Json } from '../../terms.ts';

/** Values by placeholder. An absent, null or empty value removes the parameter that uses it. */
export type Values = Readonly<Record<string, Json | undefined>>;

/** A name, and for a date the notation to write it in. */
const placeholder = /\{([A-Za-z_][\w.]*(?::[^{}]+)?)\}/g;
const alone = /^\{([A-Za-z_][\w.]*(?::[^{}]+)?)\}$/;

/**
 * Fills in a template's placeholders. A text that is a single placeholder becomes the value with its type: a list stays a list,
 * a number a number. Keys and items whose placeholder has no value are removed, and so are objects and lists left empty by that.
 */
export function fill(template: Json, values: Values): Json | undefined {
  if (typeof template === 'string') return fillText(template, values);
  if (Array.isArray(template)) {
    const items = template.flatMap((item) => {
      const made = fill(item, values);
      if (made === undefined) return [];
      // A list inside a list is spliced: ["{sync.status}"] is one list whatever the number of statuses.
      return typeof item === 'string' && Array.isArray(made) ? made : [made];
    });
    return items.length === 0 && template.length > 0 ? undefined : items;
  }
  if (typeof template === 'object' && template !== null) {
    const entries = Object.entries(template);
    const filled = entries.flatMap(([key, value]) => {
      const made = fill(value, values);
      return made === undefined ? [] : [[key, made] as const];
    });
    return filled.length === 0 && entries.length > 0 ? undefined : Object.fromEntries(filled);
  }
  return template;
}

function fillText(text: string, values: Values): Json | undefined {
  const single = alone.exec(text)?.[1];
  if (single !== undefined && Object.hasOwn(values, single)) {
    const value = values[single];
    return isEmpty(value) ? undefined : value;
  }
  let vanished = false;
  const filled = text.replace(placeholder, (whole, name: string) => {
    if (!Object.hasOwn(values, name)) return whole;
    const value = values[name];
    if (value === undefined || isEmpty(value)) vanished = true;
    return plainText(value);
  });
  return vanished ? undefined : filled;
}

function isEmpty(value: Json | undefined): value is undefined {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** The value as text; a list is joined with commas. */
export function plainText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(plainText).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** As fill, for a path: each value is encoded as one segment, so that an id with a slash cannot change the path. */
export function fillPath(path: string, values: Values): string {
  return path.replace(placeholder, (whole, name: string) =>
    Object.hasOwn(values, name) ? encodeURIComponent(plainText(values[name])) : whole,
  );
}

/** Repeats each item of a list that uses {id}: [{ BookingId: "{id}" }] becomes one object for each id. */
export function repeatForIds(template: Json, ids: readonly string[]): Json {
  if (Array.isArray(template)) {
    return template.flatMap((item) =>
      usesId(item) ? ids.map((id) => fill(item, { id }) ?? null) : [repeatForIds(item, ids)],
    );
  }
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, repeatForIds(value, ids)]));
}

export function usesId(template: Json | Readonly<Record<string, Json>> | undefined): boolean {
  if (typeof template === 'string') return template.includes('{id}');
  return typeof template === 'object' && template !== null && Object.values(template).some(usesId);
}
