import { isObject, type Json, type JsonObject } from '../../../../src/terms.ts';

/** A schema with allOf merged; of several alternatives, the first. */
export function flattened(schema: Json | undefined, depth = 0): JsonObject {
  if (!isObject(schema) || depth > 8) return {};
  const parts = Array.isArray(schema.allOf) ? schema.allOf.map((part) => flattened(part, depth + 1)) : [];
  const choices = Array.isArray(schema.oneOf) ? schema.oneOf : Array.isArray(schema.anyOf) ? schema.anyOf : [];
  const chosen = choices.map((one) => flattened(one, depth + 1)).find((one) => one.type !== 'null');
  const whole: JsonObject = {};
  const properties: JsonObject = {};
  for (const part of [...(chosen === undefined ? [] : [chosen]), ...parts, schema]) {
    Object.assign(whole, part);
    Object.assign(properties, propertiesOf(part));
  }
  return Object.keys(properties).length > 0 ? { ...whole, properties } : whole;
}

export function propertiesOf(schema: JsonObject): JsonObject {
  return isObject(schema.properties) ? schema.properties : {};
}

/** OpenAPI 3.1 writes a nullable type as a list. */
export function typeOf(schema: JsonObject): string | undefined {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => typeof type === 'string');
  const named = types.find((type) => type !== 'null');
  if (named !== undefined) return named;
  if (isObject(schema.properties) || isObject(schema.additionalProperties)) return 'object';
  return schema.items === undefined ? undefined : 'array';
}

export function enumOf(schema: JsonObject): Json[] {
  return Array.isArray(schema.enum) ? schema.enum.filter((one) => one !== null && one !== '') : [];
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Values that the description gives for a field: an example, or the first of several. */
export function exampleOf(schema: JsonObject): Json | undefined {
  if (schema.example !== undefined) return schema.example;
  return Array.isArray(schema.examples) ? schema.examples[0] : undefined;
}

/** Sets a value at a path of keys, and creates missing objects. */
export function setAt(target: JsonObject, [key, ...rest]: readonly string[], value: Json): void {
  if (key === undefined) return;
  const inner = target[key];
  const next: JsonObject = isObject(inner) ? inner : {};
  target[key] = rest.length === 0 ? value : next;
  setAt(next, rest, value);
}
