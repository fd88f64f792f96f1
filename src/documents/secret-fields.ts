import type { z } from 'zod';
import { type DocumentKind, schemas } from './kinds.ts';
import type { Path } from './path.ts';
import { childSchema, defOf, meantSchema, type Schema } from './schema-walk.ts';
import { hasReference } from './secret-reference.ts';

/** Credentials typed into a document, by its schema's word (writeOnly). To be sealed or masked, never shown or stored as they are. */
export function literalSecrets(kind: DocumentKind, body: unknown): { path: Path; value: string }[] {
  return [...find(schemas[kind], body, [], false)];
}

/** A copy of the body for people to see: literal credentials are masked, references stand as written. */
export function masked<Body>(kind: DocumentKind, body: Body): Body {
  const copy = structuredClone(body);
  for (const { path } of literalSecrets(kind, body)) {
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], copy);
    (parent as Record<string | number, unknown>)[path.at(-1) ?? ''] = '••••••';
  }
  return copy;
}

function* find(
  schema: Schema,
  value: unknown,
  path: Path,
  inherited: boolean,
): Generator<{ path: Path; value: string }> {
  const secret = inherited || isWriteOnly(schema);
  if (typeof value === 'string') {
    if (secret && value !== '' && !hasReference(value)) yield { path, value };
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const meant = meantSchema(schema, value);
  if (meant === undefined) return;
  for (const [key, child] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key;
    yield* find(childSchema(meant, step) ?? meant, child, [...path, step], secret);
  }
}

function isWriteOnly(schema: Schema): boolean {
  const said = (from: Schema) => (from as z.ZodType).meta?.()?.writeOnly === true;
  if (said(schema)) return true;
  const def = defOf(schema);
  return 'innerType' in def && isWriteOnly(def.innerType as Schema);
}
