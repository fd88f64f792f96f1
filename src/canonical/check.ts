import type { ErrorCode } from '../errors.ts';
import type { Json, Note } from '../terms.ts';
import { FieldCheck, mustBeThere, type Problem, storable } from './field-check.ts';
import type { ListName } from './fields.ts';
import { mostItems } from './limits.ts';
import { type Charge, type Guest, type Reservation, type Room, type Status, statuses } from './reservation.ts';

type Fields<Of> = { readonly [Key in keyof Of]?: unknown };
/** Canonical keys with unchecked values. Other keys are ignored. */
export type ReservationDraft = Fields<Reservation>;
export type GuestDraft = Fields<Guest>;

type EveryField<Of> = { readonly [Key in keyof Required<Of>]: Of[Key] };

interface Invalid {
  readonly kind: 'invalid';
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
}

type Checked<Name extends string, Of> =
  | ({ readonly kind: 'ok'; readonly notes: readonly Note[] } & { readonly [Key in Name]: Of })
  | Invalid;

const knownStatuses: ReadonlySet<string> = new Set(statuses);
const noNotes: readonly Note[] = [];

/**
 * Turns a draft into the canonical record, or lists every rule it breaks. Keys are in the order of the schema, so that equal
 * content is equal text. A canonical record passes unchanged.
 *
 * `sound` is a canonical record of which the draft is a changed copy: items that are the same objects are not checked again. After a
 * rule that sets one top-level field the second check takes 0.9 µs instead of 3.9 (bench shape, two arm64 cores).
 */
export function toReservation(
  draft: { readonly record: ReservationDraft; readonly strict?: ReadonlySet<string> | undefined },
  sound?: Reservation,
): Checked<'reservation', Reservation> {
  return checked(draft, sound, true);
}

/** Checks the fields that a message carries; none is required, because other messages may have sent the rest. */
export function toParts(draft: Parameters<typeof toReservation>[0]): Checked<'reservation', Partial<Reservation>> {
  return checked(draft, undefined, false);
}

function checked(
  draft: Parameters<typeof toReservation>[0],
  sound: Reservation | undefined,
  isWhole: boolean,
): Checked<'reservation', Reservation> {
  const raw = draft.record;
  const check = new FieldCheck(draft.strict);
  const id = check.id(raw.id, 'id');
  const confirmation = check.text(raw.confirmation_number, 'confirmation_number');
  const checkIn = check.date(raw.check_in, 'check_in');
  const checkOut = check.date(raw.check_out, 'check_out');
  const booked = check.date(raw.booking_date, 'booking_date');
  // An object or list is not a spelling: the status check reports it once.
  const statusRaw = typeof raw.status_raw === 'object' ? undefined : check.text(raw.status_raw, 'status_raw');
  const channel = check.text(raw.channel, 'channel');
  const source = check.text(raw.source, 'source');
  const total = check.decimal(raw.total_amount, 'total_amount');
  const currency = check.currency(raw.currency, 'currency');
  const guests = list(check, raw.guests, 'guests', guestOf, sound?.guests);
  const rooms = list(check, raw.rooms, 'rooms', roomOf, sound?.rooms);
  const charges = list(check, raw.charges, 'charges', chargeOf, sound?.charges);
  const extra = extraOf(check, raw.extra);

  const status = typeof raw.status === 'string' && knownStatuses.has(raw.status) ? (raw.status as Status) : undefined;
  if (isWhole && id === undefined && isEmpty(raw.id)) check.fail('id', mustBeThere, raw.id);
  if (isWhole && checkIn === undefined && isEmpty(raw.check_in)) check.fail('check_in', mustBeThere, raw.check_in);
  if (isWhole && checkOut === undefined && isEmpty(raw.check_out)) check.fail('check_out', mustBeThere, raw.check_out);
  if (checkIn !== undefined && checkOut !== undefined && checkOut < checkIn)
    check.conflict('check_out', 'must not be before check_in');
  // A record whose only fault is its status has its own code: the fix is a line under `values`.
  const otherwiseSound = check.problems.length === 0;
  if (status === undefined) {
    const given = statusRaw ?? raw.status_raw ?? raw.status;
    const unknown = !isEmpty(given);
    if (unknown) check.failStatus(given);
    else if (isWhole) check.fail('status', mustBeThere, given);
    if (unknown || isWhole)
      return invalid(check, unknown && otherwiseSound ? 'record.unknown_status' : 'record.invalid');
  }
  const isIncomplete = isWhole && (id === undefined || checkIn === undefined || checkOut === undefined);
  if (check.problems.length > 0 || isIncomplete) return invalid(check, 'record.invalid');

  const reservation = inSchemaOrder({
    id: id as string,
    confirmation_number: confirmation,
    check_in: checkIn as string,
    check_out: checkOut as string,
    booking_date: booked,
    status: status as Status,
    status_raw: statusRaw,
    channel,
    source,
    total_amount: total,
    currency,
    guests,
    rooms,
    charges,
    extra,
  });
  return { kind: 'ok', reservation, notes: check.notes.length === 0 ? noNotes : check.notes };
}

/** Leaves absent fields out; the keys follow the order of the schema. */
function inSchemaOrder(read: EveryField<Reservation>): Reservation {
  const record: Partial<Reservation> = { id: read.id };
  if (read.confirmation_number !== undefined) record.confirmation_number = read.confirmation_number;
  record.check_in = read.check_in;
  record.check_out = read.check_out;
  if (read.booking_date !== undefined) record.booking_date = read.booking_date;
  record.status = read.status;
  if (read.status_raw !== undefined) record.status_raw = read.status_raw;
  if (read.channel !== undefined) record.channel = read.channel;
  if (read.source !== undefined) record.source = read.source;
  if (read.total_amount !== undefined) record.total_amount = read.total_amount;
  if (read.currency !== undefined) record.currency = read.currency;
  record.guests = read.guests;
  record.rooms = read.rooms;
  record.charges = read.charges;
  if (read.extra !== undefined) record.extra = read.extra;
  return record as Reservation;
}

/** `strict` names fields without a list: nationality. */
export function toGuest(draft: {
  readonly record: GuestDraft;
  readonly strict?: ReadonlySet<string> | undefined;
}): Checked<'guest', Guest> {
  const check = new FieldCheck(draft.strict);
  const guest = guestOf(draft.record, check);
  return check.problems.length > 0 ? invalid(check, 'record.invalid') : { kind: 'ok', guest, notes: check.notes };
}

function invalid(check: FieldCheck, code: ErrorCode): Invalid {
  return { kind: 'invalid', code: check.code ?? code, problems: check.problems };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function list<Of>(
  check: FieldCheck,
  value: unknown,
  name: ListName,
  of: (raw: object, check: FieldCheck) => Of,
  sound: readonly Of[] | undefined,
): Of[] {
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
    if (sound !== undefined && item === sound[index]) {
      items.push(item as Of);
      continue;
    }
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      check.fail(`${name}[${index}]`, 'must be an object', item);
      continue;
    }
    check.at(name, index);
    const made = of(item, check);
    // A guest that was sent without any field is an erased one; its place stays.
    if (name === 'guests' && isEmptyGuest(made as Guest) && !isEmptyGuest(item)) check.leaveOut(`guests[${index}]`);
    else items.push(made);
  }
  check.at(undefined);
  return items;
}

function isEmptyGuest(guest: Guest): boolean {
  for (const _ in guest) return false;
  return true;
}

function guestOf(raw: GuestDraft, check: FieldCheck): Guest {
  const guest: Guest = {};
  const id = check.guestId(raw.guest_id, 'guest_id');
  if (id !== undefined) guest.guest_id = id;
  const first = check.verbatim(raw.first_name, 'first_name');
  if (first !== undefined) guest.first_name = first;
  const last = check.verbatim(raw.last_name, 'last_name');
  if (last !== undefined) guest.last_name = last;
  const email = check.verbatim(raw.email, 'email');
  if (email !== undefined) guest.email = email;
  const emailRaw = check.verbatim(raw.email_raw, 'email_raw');
  if (emailRaw !== undefined) guest.email_raw = emailRaw;
  if (raw.email_proxy === true) guest.email_proxy = true;
  const phone = check.verbatim(raw.phone, 'phone');
  if (phone !== undefined) guest.phone = phone;
  const phoneRaw = check.verbatim(raw.phone_raw, 'phone_raw');
  if (phoneRaw !== undefined) guest.phone_raw = phoneRaw;
  const born = check.date(raw.date_of_birth, 'date_of_birth');
  if (born !== undefined) guest.date_of_birth = born;
  const nationality = check.country(raw.nationality, 'nationality');
  if (nationality !== undefined) guest.nationality = nationality;
  const documentType = check.text(raw.document_type, 'document_type');
  if (documentType !== undefined) guest.document_type = documentType;
  const documentNumber = check.text(raw.document_number, 'document_number');
  if (documentNumber !== undefined) guest.document_number = documentNumber;
  const consent = check.boolean(raw.marketing_consent, 'marketing_consent');
  if (consent !== undefined) guest.marketing_consent = consent;
  const extra = extraOf(check, raw.extra);
  if (extra !== undefined) guest.extra = extra;
  return guest;
}

function roomOf(raw: Fields<Room>, check: FieldCheck): Room {
  const room: Room = {};
  const type = check.text(raw.room_type, 'room_type');
  if (type !== undefined) room.room_type = type;
  const board = check.text(raw.board, 'board');
  if (board !== undefined) room.board = board;
  const rate = check.text(raw.rate_code, 'rate_code');
  if (rate !== undefined) room.rate_code = rate;
  const start = check.date(raw.start_date, 'start_date');
  if (start !== undefined) room.start_date = start;
  const end = check.date(raw.end_date, 'end_date');
  if (end !== undefined) room.end_date = end;
  const adults = check.count(raw.adults, 'adults');
  if (adults !== undefined) room.adults = adults;
  const children = check.count(raw.children, 'children');
  if (children !== undefined) room.children = children;
  return room;
}

function chargeOf(raw: Fields<Charge>, check: FieldCheck): Charge {
  const charge: Charge = {};
  const code = check.text(raw.code, 'code');
  if (code !== undefined) charge.code = code;
  const description = check.text(raw.description, 'description');
  if (description !== undefined) charge.description = description;
  const amount = check.decimal(raw.amount, 'amount');
  if (amount !== undefined) charge.amount = amount;
  const quantity = check.integer(raw.quantity, 'quantity');
  if (quantity !== undefined) charge.quantity = quantity;
  return charge;
}

function extraOf(check: FieldCheck, value: unknown): Reservation['extra'] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) return check.fail('extra', 'must be an object', value);
  const kept: [string, Json][] = [];
  for (const [name, field] of Object.entries(value as { [name: string]: Json | undefined })) {
    const clean = field === undefined || field === null ? undefined : cleanJson(field);
    if (clean !== undefined) kept.push([storable(name) ?? '', clean]);
  }
  // Not by assignment: a field named __proto__ would become the prototype.
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** The value unchanged, except for text that PostgreSQL cannot store. */
function cleanJson(value: Json): Json | undefined {
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => cleanJson(item) ?? null);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key) ?? '', cleanJson(item) ?? null]));
}
