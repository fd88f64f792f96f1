import type { z } from 'zod';
import type { Path } from './path.ts';

/** Reading a zod schema as data: which keys an object has, which values an enum, which option of a union a value was meant as. */

export type Schema = z.core.$ZodType;
type Def = z.core.$ZodTypes['_zod']['def'];

export function defOf(schema: Schema): Def {
  return (schema as z.core.$ZodTypes)._zod.def;
}

/** The schema under optional, default and the like. */
export function unwrap(schema: Schema): Schema {
  const def = defOf(schema);
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return unwrap(def.innerType);
    case 'lazy':
      return unwrap(def.getter());
    case 'pipe':
      return unwrap(def.in);
    default:
      return schema;
  }
}

/** The schema for the value at the path; the value decides which option of a union applies. */
export function schemaAt(schema: Schema, path: Path, value: unknown): Schema | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return schema;
  const parent = meantSchema(schema, value);
  const next = parent === undefined ? undefined : childSchema(parent, key);
  const child =
    typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? (value as Record<string | number, unknown>)[key]
      : undefined;
  return next === undefined ? undefined : schemaAt(next, rest, child);
}

/** The schema without wrappers, and of a union the option that the value was meant as. */
export function meantSchema(schema: Schema, value: unknown): Schema | undefined {
  const plain = unwrap(schema);
  if (defOf(plain).type !== 'union') return plain;
  const option = meantOption(plain, value);
  return option === undefined ? undefined : meantSchema(option, value);
}

export function childSchema(schema: Schema, key: string | number): Schema | undefined {
  const def = defOf(schema);
  if (def.type === 'object') return Object.hasOwn(def.shape, key) ? def.shape[key] : undefined;
  if (def.type === 'record') return def.valueType;
  if (def.type === 'array') return def.element;
  if (def.type === 'tuple') return def.items[Number(key)];
  return undefined;
}

/** The keys that an object may have, or a record with a fixed set of keys; of a union, those of any option. */
export function keysOf(schema: Schema): string[] {
  const def = defOf(unwrap(schema));
  if (def.type === 'object') return Object.keys(def.shape);
  if (def.type === 'record') return valuesOf(def.keyType);
  return def.type === 'union' ? [...new Set(def.options.flatMap(keysOf))] : [];
}

/** The texts that an enum or a literal lets through. */
export function valuesOf(schema: Schema): string[] {
  const def = defOf(unwrap(schema));
  if (def.type === 'enum') return Object.values(def.entries).map(String);
  if (def.type === 'literal') return def.values.map(String);
  return [];
}

export function discriminatorOf(schema: Schema): string | undefined {
  return (defOf(schema) as { discriminator?: string }).discriminator;
}

/** The option of a union that fits the value best: by discriminator, then by type, then (for objects) by shared keys. */
export function meantOption(union: Schema, value: unknown): Schema | undefined {
  const options = optionsOf(union);
  const discriminator = discriminatorOf(union);
  if (discriminator !== undefined) {
    if (typeof value !== 'object' || value === null) return undefined;
    const word = (value as Record<string, unknown>)[discriminator];
    return options.find((option) => discriminatorValues(option, discriminator).includes(String(word)));
  }
  const fitting = options.filter((option) => typeNames(option).includes(typeName(value)));
  const shared = (option: Schema) => keysOf(option).filter((key) => Object.hasOwn(value as object, key)).length;
  return typeName(value) === 'object' ? fitting.sort((a, b) => shared(b) - shared(a))[0] : fitting[0];
}

export function optionsOf(union: Schema): readonly Schema[] {
  const def = defOf(unwrap(union));
  return def.type === 'union' ? def.options : [];
}

function discriminatorValues(option: Schema, discriminator: string): string[] {
  const plain = unwrap(option);
  const nested = optionsOf(plain);
  if (nested.length > 0) return nested.flatMap((inner) => discriminatorValues(inner, discriminator));
  const key = childSchema(plain, discriminator);
  return key === undefined ? [] : valuesOf(key);
}

export type TypeName = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object' | 'undefined';

export function typeName(value: unknown): TypeName {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as TypeName;
}

/** The types of values that a schema may accept. */
export function typeNames(schema: Schema): TypeName[] {
  const def = defOf(unwrap(schema));
  switch (def.type) {
    case 'object':
    case 'record':
      return ['object'];
    case 'array':
    case 'tuple':
      return ['array'];
    case 'enum':
      return ['string'];
    case 'literal':
      return [...new Set(def.values.map(typeName))];
    case 'number':
      return ['number'];
    case 'union':
      return [...new Set(def.options.flatMap(typeNames))];
    case 'string':
    case 'boolean':
    case 'null':
      return [def.type];
    default:
      return ['string', 'number', 'boolean', 'null', 'array', 'object'];
  }
}
