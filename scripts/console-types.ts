import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiText } from './openapi-doc.ts';

/** Writes console/src/api/answers.ts from the OpenAPI document; test/api/openapi.test.ts tells when it is to be run. */
export const answersFile = fileURLToPath(new URL('../console/src/api/answers.ts', import.meta.url));

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, { schema: Schema }>> }>>;
}

export function answersText(): string {
  const { paths } = JSON.parse(openApiText()) as { paths: Record<string, Record<string, Operation>> };
  const lines = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses }) => {
      const [, good] = Object.entries(responses).find(([status]) => status < '300') ?? [];
      const schema = good?.content['application/json']?.schema;
      return schema === undefined ? [] : [`  '${operationId}': ${typeOf(schema, '  ')};`];
    });
  return `// Written by scripts/console-types.ts from the OpenAPI document; not to be edited.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What each operation of the API answers, by the operation's id. */
export interface Answers {
${lines.join('\n')}
}
`;
}

function typeOf(schema: Schema, indent: string): string {
  const { type, items, properties, additionalProperties: others } = schema;
  const choices =
    schema.anyOf ?? schema.oneOf ?? (Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : undefined);
  if (choices) return union(choices.map((choice) => typeOf(choice, indent)));
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  if (type === 'array') {
    const each = typeOf(items ?? {}, indent);
    return items?.properties || /^\w+$/.test(each) ? `${each}[]` : `(${each})[]`;
  }
  if (properties) return objectOf(schema, indent);
  if (type === 'object') return `Record<string, ${typeOf(typeof others === 'object' ? others : {}, indent)}>`;
  if (type === 'integer') return 'number';
  return typeof type === 'string' ? type : 'Json';
}

function objectOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)};`,
  );
  return `{\n${fields.join('\n')}\n${indent}}`;
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

if (import.meta.main) writeFileSync(answersFile, answersText());
