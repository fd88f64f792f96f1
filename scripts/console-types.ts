import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApi } from './openapi-doc.ts';

/**
 * Writes console/src/api/operations.ts from the OpenAPI document: what each operation takes and answers, and where it is. The
 * console's client has no other source of types. test/api/openapi.test.ts fails when the file is out of date.
 */
export const operationsFile = fileURLToPath(new URL('../console/src/api/operations.ts', import.meta.url));

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
}
interface Content {
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly required?: boolean; readonly schema: Schema }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

const prefix = '/api/v1';

export function operationsText(): string {
  const { paths } = JSON.parse(JSON.stringify(openApi())) as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const answer = answerOf(operation);
      if (answer === undefined) return [];
      return [{ id: operation.operationId, method: method.toUpperCase(), path, input: inputOf(operation), answer }];
    }),
  );
  return `// Written by scripts/console-types.ts from the OpenAPI document. Do not edit.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What each operation of the API takes (path, query and body together) and answers, by its id. */
export interface Operations {
${operations.map(({ id, input, answer }) => `  '${id}': {\n    input: ${typeOf(input, '    ')};\n    answer: ${typeOf(answer, '    ')};\n  };`).join('\n')}
}

/** The method and path of each operation. */
export const places: { readonly [Id in keyof Operations]: readonly [method: string, path: string] } = {
${operations.map(({ id, method, path }) => `  '${id}': ['${method}', '${path.replace(prefix, '')}'],`).join('\n')}
};
`;
}

/** Undefined for answers that are not JSON, such as the stream of news. */
function answerOf({ responses }: Operation): Schema | undefined {
  const [, good] = Object.entries(responses).find(([status]) => status < '300') ?? [];
  return good?.content['application/json']?.schema;
}

/** One object; the client puts each value into the path, the query or the body. That works because no operation uses a name twice. */
function inputOf(operation: Operation): Schema {
  const body = operation.requestBody?.content['application/json']?.schema ?? {};
  // A body of several forms stays a union.
  const forms = body.oneOf ?? body.anyOf;
  return forms ? { anyOf: forms.map((form) => withParameters(operation, form)) } : withParameters(operation, body);
}

function withParameters({ operationId, parameters = [] }: Operation, body: Schema): Schema {
  const fields = [
    ...parameters.map(({ name, schema }) => [name, schema] as const),
    ...Object.entries(body.properties ?? {}),
  ];
  const properties = Object.fromEntries(fields);
  if (Object.keys(properties).length < fields.length) throw new Error(`${operationId} uses a name twice.`);
  const required = parameters.filter((one) => one.required).map(({ name }) => name);
  return { type: 'object', properties, required: [...required, ...(body.required ?? [])] };
}

function typeOf(schema: Schema, indent: string): string {
  const { type, items, properties, propertyNames, additionalProperties: others } = schema;
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
  if (type === 'object') {
    const key = propertyNames?.enum === undefined ? 'string' : typeOf(propertyNames, indent);
    return `Record<${key}, ${typeOf(typeof others === 'object' ? others : {}, indent)}>`;
  }
  if (type === 'integer') return 'number';
  return typeof type === 'string' ? type : 'Json';
}

function objectOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, schema]) => {
    // With exactOptionalPropertyTypes, an absent and an undefined property differ; the client leaves out both.
    const [mark, nothing] = required.includes(name) ? ['', ''] : ['?', ' | undefined'];
    return `${inner}${name}${mark}: ${typeOf(schema, inner)}${nothing};`;
  });
  return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n${indent}}`;
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

if (import.meta.main) writeFileSync(operationsFile, operationsText());
