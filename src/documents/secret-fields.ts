import type { z } from 'zod';
import { type CredentialRule, isCredential } from './credential.ts';
import { type DocumentKind, schemas } from './kinds.ts';
import type { Path } from './path.ts';
import { childSchema, defOf, meantSchema, type Schema } from './schema-walk.ts';
import { hasReference } from './secret-reference.ts';

type Rule = 'always' | CredentialRule;

/** Credentials typed into a document, found by its schema (credential.ts). They are sealed when the document is applied. */
export function literalSecrets(kind: DocumentKind, body: unknown): { path: Path; value: string }[] {
  return [...find(schemas[kind], body, [], undefined)];
}

function* find(
  schema: Schema,
  value: unknown,
  path: Path,
  inherited: Rule | undefined,
): Generator<{ path: Path; value: string }> {
  const rule = inherited === 'always' ? inherited : (ruleOf(schema) ?? inherited);
  if (typeof value === 'string') {
    if (rule === undefined || value === '' || hasReference(value)) return;
    if (rule === 'always' || isCredential(rule, lastKey(path), value)) yield { path, value };
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const meant = meantSchema(schema, value);
  if (meant === undefined) return;
  for (const [key, child] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key;
    yield* find(childSchema(meant, step) ?? meant, child, [...path, step], rule);
  }
}

/** The nearest key above a text: an item of a list goes by the name of its list. */
function lastKey(path: Path): string {
  return String(path.findLast((step) => typeof step === 'string') ?? '');
}

function ruleOf(schema: Schema): Rule | undefined {
  const said = (schema as z.ZodType).meta?.();
  if (said?.writeOnly === true) return 'always';
  if (said?.credential !== undefined) return said.credential as CredentialRule;
  const def = defOf(schema);
  return 'innerType' in def ? ruleOf(def.innerType as Schema) : undefined;
}
