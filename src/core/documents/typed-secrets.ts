import { type Document, isAlias, isScalar, type Node, type Scalar } from 'yaml';
import type { z } from 'zod';
import { type CredentialRule, isCredential } from './credential.ts';
import { type DocumentKind, schemas } from './kinds.ts';
import type { Path } from './path.ts';
import { nodeAt } from './positions.ts';
import { childSchema, defOf, meantSchema, type Schema } from './schema-walk.ts';
import { hasReference } from './secret-reference.ts';
import { readYaml } from './yaml-text.ts';

/**
 * Credentials in the text of a document, replaced at the place of their YAML node. Replacing the value wherever it occurs in the
 * text would miss quoted, escaped and folded values, and would turn a token `a` into a hole in every word with an a.
 */
export interface TypedSecret {
  readonly name: string;
  readonly value: string;
}

/** The text with a reference instead of each typed credential, and the credentials to seal under the references' names. */
export function withReferences(
  kind: DocumentKind,
  text: string,
  nameOf: (path: Path, value: string) => string,
): { readonly text: string; readonly secrets: readonly TypedSecret[] } {
  const secrets: TypedSecret[] = [];
  const replaced = replaceTyped(kind, text, (path, value) => {
    const name = nameOf(path, value);
    secrets.push({ name, value });
    return `\${secret:${name}}`;
  });
  return { text: replaced, secrets };
}

/** Whether a credential is typed into the text. A text that cannot be read may hold one anywhere. */
export function holdsCredentials(kind: DocumentKind, text: string): boolean {
  const read = readYaml(text);
  if (read.kind === 'refused' || read.faults.length > 0) return true;
  return literalSecrets(kind, bodyOf(read.yaml)).length > 0;
}

interface Edit {
  readonly node: Scalar;
  readonly value: string;
}

function replaceTyped(kind: DocumentKind, text: string, by: (path: Path, value: string) => string): string {
  const read = readYaml(text);
  if (read.kind === 'refused' || read.faults.length > 0) return text;
  const edits = new Map<Node, Edit>();
  for (const { path, value } of literalSecrets(kind, bodyOf(read.yaml))) {
    const node = scalarAt(read.yaml, path);
    if (node !== undefined && !edits.has(node)) edits.set(node, { node, value: by(path, value) });
  }
  return edited(text, [...edits.values()]);
}

function bodyOf(yaml: Document): unknown {
  try {
    return yaml.toJS({ maxAliasCount: 100 });
  } catch {
    return undefined;
  }
}

/** The text itself, also where the place only repeats it by an alias (*name). */
function scalarAt(yaml: Document, path: Path): Scalar | undefined {
  const alias = nodeAt(yaml, path);
  const node = isAlias(alias) ? alias.resolve(yaml) : alias;
  return isScalar(node) && node.range ? node : undefined;
}

function edited(text: string, edits: readonly Edit[]): string {
  const fromEnd = [...edits].sort((a, b) => (b.node.range?.[0] ?? 0) - (a.node.range?.[0] ?? 0));
  return fromEnd.reduce((result, { node, value }) => {
    const [start = 0, end = 0] = node.range ?? [];
    // A block text ends with its line break, which the next key needs.
    const lineBreak = result.slice(start, end).endsWith('\n') ? '\n' : '';
    return result.slice(0, start) + JSON.stringify(value) + lineBreak + result.slice(end);
  }, text);
}

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
