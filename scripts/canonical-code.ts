/**
 * Writes src/canonical/unrolled.ts from the table of fields; test/canonical/fields.test.ts says when to run it.
 *
 * These functions run for every record. Each names its fields one by one, so that all records have one hidden class: a loop over names
 * takes twice as long to check a guest (0.96 µs instead of 0.48) and four times as long to draft one (0.47 instead of 0.12; two arm64 cores).
 */
import { writeFileSync } from 'node:fs';
import { entriesOf, type Field, listNames, type Table } from '../src/canonical/fields.ts';

export const unrolledFile = new URL('../src/canonical/unrolled.ts', import.meta.url);

const types = { reservation: 'Reservation', guests: 'Guest', rooms: 'Room', charges: 'Charge' } as const;
/** The mapping of a status also gives its raw spelling, and `extra` has names of its own. */
const isDrafted = ({ derived, kind }: Field): boolean => !derived && kind !== 'json' && kind !== 'status';
const methodOf = ({ kind, check }: Field): string => check ?? (kind === 'birth_date' ? 'date' : kind);

/** Reads the raw value of each field that a mapping fills. */
function draftOf(table: Table): string {
  const lines = entriesOf(table).flatMap(([name, field]) =>
    isDrafted(field) ? `    ${name}: reads.${name}(scope),` : [],
  );
  const type = types[table];
  const names = table === 'reservation' ? `Exclude<ReservationField, 'status'>` : `${type}Field`;
  return `export function draft${type}<Scope, Value>(reads: Reads<${names}, Scope, Value>, scope: Scope): Record<${names}, Value> {
  return {
${lines.join('\n')}
  };
}`;
}

/** Checks each field and sets those that have a value. */
function checkOf(table: Table): string {
  const type = types[table];
  const lines = entriesOf(table).flatMap(([name, field]) => [
    `  const ${name} = check.${methodOf(field)}(raw.${name}, '${name}');`,
    `  if (${name} !== undefined) item.${name} = ${name};`,
  ]);
  return `export function check${type}(raw: Raw<${type}>, check: FieldCheck): ${type} {
  const item: ${type} = {};
${lines.join('\n')}
  return item;
}`;
}

/** The status, the lists and `extra` need more than their own value, so the caller checks them between these two functions. */
function checkReservation(): string {
  const own = entriesOf('reservation').filter(([, { kind }]) => kind !== 'status' && kind !== 'json');
  const checked = own.map(([name, field]) => `    ${name}: check.${methodOf(field)}(raw.${name}, '${name}'),`);
  const place = (name: string) => (own.some(([one]) => one === name) ? `read.${name}` : `rest.${name}`);
  const names = [
    ...entriesOf('reservation')
      .map(([name]) => name)
      .filter((name) => name !== 'extra'),
    ...listNames,
    'extra',
  ];
  const set = names.map((name) => `  if (${place(name)} !== undefined) record.${name} = ${place(name)};`);
  return `export function checkFields(raw: Raw<Reservation>, check: FieldCheck) {
  return {
${checked.join('\n')}
  };
}

/** The values that are not undefined, in the order of the schema, so that equal content is equal text. */
export function inOrder(read: ReturnType<typeof checkFields>, rest: Rest): Partial<Reservation> {
  const record: Partial<Reservation> = {};
${set.join('\n')}
  return record;
}`;
}

/** A guest with every field as a property, while normalization changes some of them. */
function guestFields(): string {
  const names = entriesOf('guests').map(([name]) => name);
  return `export class GuestFields {
${names.map((name) => `  declare ${name}: Guest['${name}'];`).join('\n')}

  constructor(guest: Guest) {
${names.map((name) => `    this.${name} = guest.${name};`).join('\n')}
  }

  /** In the order of the schema. */
  toGuest(): Guest {
    const guest: Guest = {};
${names.map((name) => `    if (this.${name} !== undefined) guest.${name} = this.${name};`).join('\n')}
    return guest;
  }
}`;
}

export function unrolledCode(): string {
  const tables = Object.keys(types) as Table[];
  const parts = [
    '// Written by scripts/canonical-code.ts from fields.ts. Do not edit.',
    `import type { FieldCheck } from './field-check.ts';
import type { ChargeField, GuestField, ReservationField, RoomField } from './fields.ts';
import type { Charge, Guest, Reservation, Room } from './reservation.ts';`,
    `type Raw<Of> = { readonly [Key in keyof Of]?: unknown };
type Rest = { readonly [Key in 'status' | 'guests' | 'rooms' | 'charges' | 'extra']: Reservation[Key] | undefined };
type Reads<Field extends string, Scope, Value> = { readonly [Name in Field]: (scope: Scope) => Value };`,
    ...tables.map(draftOf),
    ...listNames.map(checkOf),
    checkReservation(),
    guestFields(),
  ];
  return `${parts.join('\n\n')}\n`;
}

if (import.meta.main) writeFileSync(unrolledFile, unrolledCode());
