import { z } from 'zod';
import { type DocumentKind, schemas } from './kinds.ts';

/** JSON Schema of each kind of document, for editors. Draft 7 is the newest that the YAML language server supports fully. */
export function jsonSchema(kind: DocumentKind): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schemas[kind], {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema: made }) => {
      // Our own marks, which editors do not know.
      delete (made as { credential?: unknown }).credential;
      delete (made as { folder?: unknown }).folder;
    },
  });
}

/** The files of schemas/, by name. */
export function schemaFiles(): Map<string, string> {
  const kinds = Object.keys(schemas) as DocumentKind[];
  return new Map(kinds.map((kind) => [`${kind}.json`, `${print(jsonSchema(kind), '', 0)}\n`]));
}

const lineWidth = 120;

/** As the repository's formatter lays JSON out, so that neither undoes the other: lists of plain values on one line if they fit. */
function print(value: unknown, indent: string, column: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
    const isPlain = value.every((item) => typeof item !== 'object' || item === null);
    // One more for the comma that may follow.
    if (isPlain && column + line.length < lineWidth) return line;
    return `[\n${value.map((item) => inner + print(item, inner, inner.length)).join(',\n')}\n${indent}]`;
  }
  const entries = Object.entries(value).filter(([, child]) => child !== undefined);
  if (entries.length === 0) return '{}';
  const lines = entries.map(([key, child]) => {
    const head = `${inner}${JSON.stringify(key)}: `;
    return head + print(child, inner, head.length);
  });
  return `{\n${lines.join(',\n')}\n${indent}}`;
}
