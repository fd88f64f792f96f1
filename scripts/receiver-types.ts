import { writeFileSync } from 'node:fs';
import { entriesOf, type Field, type FieldKind, type Table } from '../src/core/canonical/fields.ts';
import { statuses } from '../src/core/canonical/values.ts';

/** Writes packages/receiver/src/record.ts from the table of fields; test/packages/receiver/types.test.ts says when to run it. */
export const recordFile = new URL('../packages/receiver/src/record.ts', import.meta.url);

const types: Readonly<Record<FieldKind, string>> = {
  text: 'string',
  verbatim: 'string',
  date: 'string',
  birth_date: 'string',
  decimal: 'number',
  count: 'number',
  integer: 'number',
  boolean: 'boolean',
  flag: 'true',
  country: 'string',
  currency: 'string',
  status: 'Status',
  json: '{ readonly [name: string]: unknown }',
};

function property([name, { about, kind, required }]: readonly [string, Field]): string {
  return `  /** ${about} */\n  readonly ${name}${required ? '' : '?'}: ${types[kind]};`;
}

const properties = (table: Table): string => entriesOf(table).map(property).join('\n');

export function recordText(): string {
  return `// Written by scripts/receiver-types.ts from the table of canonical fields. Do not edit.

export type Status = ${statuses.map((status) => `'${status}'`).join(' | ')};

/** A reservation as delivered. A field that the partner did not send is absent, never null. */
export interface Reservation {
${properties('reservation')}
  readonly guests?: readonly Guest[];
  readonly rooms?: readonly Room[];
  readonly charges?: readonly Charge[];
}

export interface Guest {
${properties('guests')}
}

export interface Room {
${properties('rooms')}
}

export interface Charge {
${properties('charges')}
}
`;
}

if (import.meta.main) writeFileSync(recordFile, recordText());
