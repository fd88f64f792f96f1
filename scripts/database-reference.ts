/** Writes docs/reference/database.md from src/core/store/schema.sql; test/store/database-reference.test.ts compares the two. */
import { readFileSync, writeFileSync } from 'node:fs';

export interface Table {
  readonly group: string;
  readonly name: string;
  readonly comment: string | undefined;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly key: readonly string[];
  readonly references: readonly string[];
  readonly indexes: readonly string[];
}

export function tablesOf(schema: string): Table[] {
  const groups = [...schema.matchAll(/^\n-- ([A-Z].*)\n$/gm)].map(({ 1: name = '', index }) => ({ name, index }));
  return [...schema.matchAll(/^create (?:unlogged )?table (\w+) \(\n([\s\S]*?)\n\)/gm)].map(
    ({ 1: name = '', 2: body = '', index }) => {
      const lines = body.split('\n').map((line) => line.trim());
      const columns = lines.flatMap((line) => {
        const [, column, type = ''] = /^(?!primary |foreign )(\w+) (\w+(?: precision)?(?:\[\])?)/.exec(line) ?? [];
        return column === undefined ? [] : [{ name: column, type }];
      });
      const listed = /^\s*primary key \(([^)]*)\)/m.exec(body)?.[1]?.split(', ');
      const inline = lines.filter((line) => line.includes(' primary key')).map((line) => line.split(' ')[0] ?? '');
      const comment = new RegExp(`^comment on table ${name} is '((?:[^']|'')*)'`, 'm').exec(schema)?.[1];
      return {
        group: groups.findLast((group) => group.index < index)?.name ?? '',
        name,
        comment: comment?.replaceAll("''", "'"),
        columns,
        key: listed ?? inline,
        references: [...body.matchAll(/references (\w+)\(/g)].map(([, other = '']) => other),
        indexes: [...schema.matchAll(new RegExp(`^create (?:unique )?index \\w+ on ${name} (.*);`, 'gm'))].map(
          ([, what = '']) => what,
        ),
      };
    },
  );
}

export function databaseReference(schema: string): string {
  const groups = Map.groupBy(tablesOf(schema), ({ group }) => group);
  const parts = [...groups].map(([group, tables]) => {
    const drawn = tables.map(({ name, columns, key }) => {
      const rows = columns.map((column) => {
        const type = column.type.replace('double precision', 'float8');
        return `    ${type} ${column.name}${key.includes(column.name) ? ' PK' : ''}`;
      });
      return `  ${name} {\n${rows.join('\n')}\n  }`;
    });
    const links = tables.flatMap(({ name, references }) => references.map((other) => `  ${other} ||--o{ ${name} : ""`));
    const told = tables.map(({ name, comment, indexes }) => {
      const also = indexes.map((one) => `\`${one}\``).join(', ');
      return `- **${name}**: ${comment}${also && ` Indexes: ${also}.`}`;
    });
    return `## ${group}\n\n\`\`\`mermaid\nerDiagram\n${[...drawn, ...links].join('\n')}\n\`\`\`\n\n${told.join('\n')}\n`;
  });
  return `<!-- Written by scripts/database-reference.ts from the schema; edits are lost. -->

# The database

Innbound keeps everything in one PostgreSQL schema, \`innbound_service\`. This page is drawn from
[schema.sql](../../src/core/store/schema.sql); it is for operators who read the tables. Programs use the [API](../guides/api.md): tables change
with every version.

${parts.join('\n')}`;
}

export const schemaFile = new URL('../src/core/store/schema.sql', import.meta.url);
export const databaseFile = new URL('../docs/reference/database.md', import.meta.url);

if (import.meta.main) writeFileSync(databaseFile, databaseReference(readFileSync(schemaFile, 'utf8')));
