import type { ErrorCode } from '../../errors.ts';
import type { Note } from '../../terms.ts';
import { FieldCheck, mostItems, mustBeThere, type Problem } from './field-check.ts';
import { entriesOf, type ListName, requiredFields, reservationOrder, type Table } from './fields.ts';
import type { Charge, Guest, Reservation, Room } from './reservation.ts';
import { type Status, statuses } from './values.ts';

type Fields<Of> = { readonly [Key in keyof Of]?: unknown };
/** Canonical keys with unchecked values. Other keys are ignored. */
export type ReservationDraft = Fields<Reservation>;
type GuestDraft = Fields<Guest>;

interface Invalid {
  readonly kind: 'invalid';
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  /** What it says, if it only lacks something: other messages may have said the rest. */
  readonly parts?: { readonly reservation: Partial<Reservation>; readonly notes: readonly Note[] };
}

type Checked<Name extends string, Of> =
  | ({ readonly kind: 'ok'; readonly notes: readonly Note[] } & { readonly [Key in Name]: Of })
  | Invalid;

const knownStatuses: ReadonlySet<string> = new Set(statuses);
/** The status has its own rule. */
const required = [...requiredFields].filter((name) => name !== 'status') as Exclude<keyof Reservation, 'status'>[];

/** Each field with its method of FieldCheck, in the order of the schema. */
function methodsOf(table: Table) {
  return entriesOf(table).flatMap(([name, { kind, check }]) =>
    kind === 'status' ? [] : [[name, check ?? (kind === 'birth_date' ? 'date' : kind)] as const],
  );
}
const methods = {
  reservation: methodsOf('reservation').filter(([name]) => name !== 'extra'),
  guests: methodsOf('guests'),
  rooms: methodsOf('rooms'),
  charges: methodsOf('charges'),
};

/** A record of values that were checked already: only what concerns several fields is left. */
export const toMerged = (record: ReservationDraft): Checked<'reservation', Reservation> =>
  toReservation({ record }, true);

/**
 * Turns a draft into the canonical record, or lists every rule it breaks. Keys are in the order of the schema, so that equal
 * content is equal text. A canonical record passes unchanged.
 */
export function toReservation(
  draft: { readonly record: ReservationDraft; readonly strict?: ReadonlySet<string> | undefined },
  isClean = false,
): Checked<'reservation', Reservation> {
  const raw = draft.record;
  const check = new FieldCheck(draft.strict, isClean);
  const read = checkEach<Reservation>('reservation', raw, check);
  const guests = list<Guest>(check, raw.guests, 'guests');
  const rooms = list<Room>(check, raw.rooms, 'rooms');
  const charges = list<Charge>(check, raw.charges, 'charges');
  const extra = isClean ? raw.extra : check.json(raw.extra, 'extra');

  const status = typeof raw.status === 'string' && knownStatuses.has(raw.status) ? (raw.status as Status) : undefined;
  const { check_in: checkIn, check_out: checkOut, status_raw: statusRaw } = read;
  const isReversed = checkIn !== undefined && checkOut !== undefined && checkOut < checkIn;
  const isSound = check.problems.length === 0 && !isReversed;
  let isIncomplete = false;
  for (const name of required) {
    if (read[name] !== undefined) continue;
    isIncomplete = true;
    if (isEmpty(raw[name])) check.fail(name, mustBeThere, raw[name]);
  }
  if (isReversed) check.conflict('check_out', 'must not be before check_in');
  // A record whose only fault is its status has its own code: the fix is a line under `values`.
  const otherwiseSound = check.problems.length === 0;
  if (status === undefined) {
    const given = statusRaw ?? raw.status_raw ?? raw.status;
    if (!isEmpty(given)) {
      check.failStatus(given);
      return invalid(check, otherwiseSound ? 'record.unknown_status' : 'record.invalid');
    }
    check.fail('status', mustBeThere, given);
  }
  if (!isSound) return invalid(check, 'record.invalid');

  const rest: Record<string, unknown> = { status, guests, rooms, charges, extra };
  const reservation: Record<string, unknown> = {};
  for (const name of reservationOrder) {
    const value = read[name as keyof Reservation] ?? rest[name];
    if (value !== undefined) reservation[name] = value;
  }
  const made = { reservation: reservation as unknown as Reservation, notes: check.notes };
  const isWhole = check.problems.length === 0 && !isIncomplete;
  return isWhole ? { kind: 'ok', ...made } : { ...invalid(check, 'record.invalid'), parts: made };
}

/** `strict` names fields without a list: nationality. */
export function toGuest(draft: {
  readonly record: GuestDraft;
  readonly strict?: ReadonlySet<string> | undefined;
}): Checked<'guest', Guest> {
  const check = new FieldCheck(draft.strict);
  const guest = checkEach<Guest>('guests', draft.record, check);
  return check.problems.length > 0 ? invalid(check, 'record.invalid') : { kind: 'ok', guest, notes: check.notes };
}

function invalid(check: FieldCheck, code: ErrorCode): Invalid {
  return { kind: 'invalid', code: check.code ?? code, problems: check.problems };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** The fields that have a value. */
function checkEach<Of>(table: Table, raw: object, check: FieldCheck): Partial<Of> {
  const item: Record<string, unknown> = {};
  for (const [name, method] of methods[table]) {
    const given = (raw as Record<string, unknown>)[name];
    if (given === undefined || given === null) continue;
    const value = check.isClean ? given : check[method](given, name);
    if (value !== undefined) item[name] = value;
  }
  return item as Partial<Of>;
}

function list<Of extends object>(check: FieldCheck, value: unknown, name: ListName): Of[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    check.fail(name, 'must be a list', value);
    return [];
  }
  if (value.length > mostItems[name]) {
    check.refuse(name, `must have at most ${mostItems[name]} items`, value, 'record.too_many_items');
    return [];
  }
  const items: Of[] = [];
  for (let index = 0; index < value.length; index++) {
    const item: unknown = value[index];
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      check.fail(`${name}[${index}]`, 'must be an object', item);
      continue;
    }
    check.at(name, index);
    const made = checkEach<Of>(name, item, check) as Of;
    // A guest that was sent without any field is an erased one; its place stays.
    if (name === 'guests' && isEmptyGuest(made as Guest) && !isEmptyGuest(item)) check.leaveOut(`guests[${index}]`);
    else items.push(made);
  }
  check.at(undefined);
  return items;
}

export function isEmptyGuest(guest: Guest): boolean {
  for (const _ in guest) return false;
  return true;
}
