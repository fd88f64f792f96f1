import { z } from 'zod';
import { type DocumentKind, schemas } from './kinds.ts';

/** JSON Schema of each kind of document, for editors. Draft 7: the newest that the YAML language server reads whole. */
export function jsonSchema(kind: DocumentKind): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schemas[kind], { target: 'draft-7', io: 'input' });
}

/** The files of schemas/, by name. */
export function schemaFiles(): Map<string, string> {
  const kinds = Object.keys(schemas) as DocumentKind[];
  return new Map(kinds.map((kind) => [`${kind}.json`, `${JSON.stringify(jsonSchema(kind), null, 2)}\n`]));
}
