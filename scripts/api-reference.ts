import { writeFileSync } from 'node:fs';
import { openApiText } from './openapi-doc.ts';

/** Writes docs/reference/api.md from the OpenAPI document; test/docs/site-pages.test.ts says when to run it. */
export const apiFile = new URL('../docs/reference/api.md', import.meta.url);

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly 'x-role'?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function about(schema: Schema, description = schema.description): string {
  const values = schema.enum === undefined ? '' : `one of ${schema.enum.map((each) => `\`${each}\``).join(', ')}`;
  const standard = schema.default === undefined ? '' : `default \`${JSON.stringify(schema.default)}\``;
  return cell([description, values, standard].filter(Boolean).join('; '));
}

function section(method: string, path: string, operation: Operation): string {
  const body = operation.requestBody?.content['application/json']?.schema;
  const rows = [
    ...(operation.parameters ?? []).map(
      (each) =>
        `| \`${each.name}\` | ${each.in}${each.required ? ', required' : ''} | ${about(each.schema, each.description)} |`,
    ),
    ...Object.entries(body?.properties ?? {}).map(
      ([name, schema]) =>
        `| \`${name}\` | body${body?.required?.includes(name) ? ', required' : ''} | ${about(schema)} |`,
    ),
  ];
  const table = rows.length === 0 ? '' : `\n| input | in | |\n|---|---|---|\n${rows.join('\n')}\n`;
  const role = operation['x-role'] === undefined ? '' : ` Role: ${operation['x-role']}.`;
  const words = [operation.summary.replace(/[.]?$/, '.'), operation.description].filter(Boolean).join(' ');
  return `### ${method.toUpperCase()} ${path}\n\n${words}${role}\n${table}`;
}

export function apiText(): string {
  const { paths } = JSON.parse(openApiText()) as { paths: Record<string, Record<string, Operation>> };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0] ?? '',
      text: section(method, path, operation),
    })),
  );
  const groups = Map.groupBy(all, ({ tag }) => tag);
  const parts = [...groups].map(([tag, operations]) => `## ${tag}\n\n${operations.map(({ text }) => text).join('\n')}`);
  return `# API reference

Every operation, made from the [OpenAPI document](api/openapi.json), which also has the schemas of the answers. Tokens, paging and errors:
[the API](../guides/api.md).

${parts.join('\n')}`;
}

if (import.meta.main) writeFileSync(apiFile, apiText());
