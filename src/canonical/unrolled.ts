// Written by scripts/canonical-code.ts from fields.ts. Do not edit.

import type { FieldCheck } from './field-check.ts';
import type { ChargeField, GuestField, ReservationField, RoomField } from './fields.ts';
import type { Charge, Guest, Reservation, Room } from './reservation.ts';

type Raw<Of> = { readonly [Key in keyof Of]?: unknown };
type Rest = { readonly [Key in 'status' | 'guests' | 'rooms' | 'charges' | 'extra']: Reservation[Key] | undefined };
type Reads<Field extends string, Scope, Value> = { readonly [Name in Field]: (scope: Scope) => Value };

export function draftReservation<Scope, Value>(reads: Reads<Exclude<ReservationField, 'status'>, Scope, Value>, scope: Scope): Record<Exclude<ReservationField, 'status'>, Value> {
  return {
    id: reads.id(scope),
    confirmation_number: reads.confirmation_number(scope),
    check_in: reads.check_in(scope),
    check_out: reads.check_out(scope),
    booking_date: reads.booking_date(scope),
    cancelled_at: reads.cancelled_at(scope),
    channel: reads.channel(scope),
    source: reads.source(scope),
    segment: reads.segment(scope),
    total_amount: reads.total_amount(scope),
    currency: reads.currency(scope),
  };
}

export function draftGuest<Scope, Value>(reads: Reads<GuestField, Scope, Value>, scope: Scope): Record<GuestField, Value> {
  return {
    guest_id: reads.guest_id(scope),
    first_name: reads.first_name(scope),
    last_name: reads.last_name(scope),
    email: reads.email(scope),
    phone: reads.phone(scope),
    date_of_birth: reads.date_of_birth(scope),
    nationality: reads.nationality(scope),
    document_type: reads.document_type(scope),
    document_number: reads.document_number(scope),
    marketing_consent: reads.marketing_consent(scope),
  };
}

export function draftRoom<Scope, Value>(reads: Reads<RoomField, Scope, Value>, scope: Scope): Record<RoomField, Value> {
  return {
    room_type: reads.room_type(scope),
    board: reads.board(scope),
    rate_code: reads.rate_code(scope),
    room_kind: reads.room_kind(scope),
    share_id: reads.share_id(scope),
    start_date: reads.start_date(scope),
    end_date: reads.end_date(scope),
    adults: reads.adults(scope),
    children: reads.children(scope),
  };
}

export function draftCharge<Scope, Value>(reads: Reads<ChargeField, Scope, Value>, scope: Scope): Record<ChargeField, Value> {
  return {
    code: reads.code(scope),
    description: reads.description(scope),
    amount: reads.amount(scope),
    charge_kind: reads.charge_kind(scope),
    charge_date: reads.charge_date(scope),
    tax_amount: reads.tax_amount(scope),
    quantity: reads.quantity(scope),
  };
}

export function checkGuest(raw: Raw<Guest>, check: FieldCheck): Guest {
  const item: Guest = {};
  const guest_id = check.guestId(raw.guest_id, 'guest_id');
  if (guest_id !== undefined) item.guest_id = guest_id;
  const first_name = check.verbatim(raw.first_name, 'first_name');
  if (first_name !== undefined) item.first_name = first_name;
  const last_name = check.verbatim(raw.last_name, 'last_name');
  if (last_name !== undefined) item.last_name = last_name;
  const email = check.verbatim(raw.email, 'email');
  if (email !== undefined) item.email = email;
  const email_raw = check.verbatim(raw.email_raw, 'email_raw');
  if (email_raw !== undefined) item.email_raw = email_raw;
  const email_proxy = check.flag(raw.email_proxy, 'email_proxy');
  if (email_proxy !== undefined) item.email_proxy = email_proxy;
  const phone = check.verbatim(raw.phone, 'phone');
  if (phone !== undefined) item.phone = phone;
  const phone_raw = check.verbatim(raw.phone_raw, 'phone_raw');
  if (phone_raw !== undefined) item.phone_raw = phone_raw;
  const date_of_birth = check.date(raw.date_of_birth, 'date_of_birth');
  if (date_of_birth !== undefined) item.date_of_birth = date_of_birth;
  const nationality = check.country(raw.nationality, 'nationality');
  if (nationality !== undefined) item.nationality = nationality;
  const document_type = check.text(raw.document_type, 'document_type');
  if (document_type !== undefined) item.document_type = document_type;
  const document_number = check.text(raw.document_number, 'document_number');
  if (document_number !== undefined) item.document_number = document_number;
  const marketing_consent = check.boolean(raw.marketing_consent, 'marketing_consent');
  if (marketing_consent !== undefined) item.marketing_consent = marketing_consent;
  const extra = check.json(raw.extra, 'extra');
  if (extra !== undefined) item.extra = extra;
  return item;
}

export function checkRoom(raw: Raw<Room>, check: FieldCheck): Room {
  const item: Room = {};
  const room_type = check.text(raw.room_type, 'room_type');
  if (room_type !== undefined) item.room_type = room_type;
  const board = check.text(raw.board, 'board');
  if (board !== undefined) item.board = board;
  const rate_code = check.text(raw.rate_code, 'rate_code');
  if (rate_code !== undefined) item.rate_code = rate_code;
  const room_kind = check.text(raw.room_kind, 'room_kind');
  if (room_kind !== undefined) item.room_kind = room_kind;
  const share_id = check.text(raw.share_id, 'share_id');
  if (share_id !== undefined) item.share_id = share_id;
  const start_date = check.date(raw.start_date, 'start_date');
  if (start_date !== undefined) item.start_date = start_date;
  const end_date = check.date(raw.end_date, 'end_date');
  if (end_date !== undefined) item.end_date = end_date;
  const adults = check.count(raw.adults, 'adults');
  if (adults !== undefined) item.adults = adults;
  const children = check.count(raw.children, 'children');
  if (children !== undefined) item.children = children;
  return item;
}

export function checkCharge(raw: Raw<Charge>, check: FieldCheck): Charge {
  const item: Charge = {};
  const code = check.text(raw.code, 'code');
  if (code !== undefined) item.code = code;
  const description = check.text(raw.description, 'description');
  if (description !== undefined) item.description = description;
  const amount = check.decimal(raw.amount, 'amount');
  if (amount !== undefined) item.amount = amount;
  const charge_kind = check.text(raw.charge_kind, 'charge_kind');
  if (charge_kind !== undefined) item.charge_kind = charge_kind;
  const charge_date = check.date(raw.charge_date, 'charge_date');
  if (charge_date !== undefined) item.charge_date = charge_date;
  const tax_amount = check.decimal(raw.tax_amount, 'tax_amount');
  if (tax_amount !== undefined) item.tax_amount = tax_amount;
  const quantity = check.integer(raw.quantity, 'quantity');
  if (quantity !== undefined) item.quantity = quantity;
  return item;
}

export function checkFields(raw: Raw<Reservation>, check: FieldCheck) {
  return {
    id: check.id(raw.id, 'id'),
    confirmation_number: check.text(raw.confirmation_number, 'confirmation_number'),
    check_in: check.date(raw.check_in, 'check_in'),
    check_out: check.date(raw.check_out, 'check_out'),
    booking_date: check.date(raw.booking_date, 'booking_date'),
    status_raw: check.spelling(raw.status_raw, 'status_raw'),
    cancelled_at: check.date(raw.cancelled_at, 'cancelled_at'),
    channel: check.text(raw.channel, 'channel'),
    source: check.text(raw.source, 'source'),
    segment: check.text(raw.segment, 'segment'),
    total_amount: check.decimal(raw.total_amount, 'total_amount'),
    currency: check.currency(raw.currency, 'currency'),
  };
}

/** The values that are not undefined, in the order of the schema, so that equal content is equal text. */
export function inOrder(read: ReturnType<typeof checkFields>, rest: Rest): Partial<Reservation> {
  const record: Partial<Reservation> = {};
  if (read.id !== undefined) record.id = read.id;
  if (read.confirmation_number !== undefined) record.confirmation_number = read.confirmation_number;
  if (read.check_in !== undefined) record.check_in = read.check_in;
  if (read.check_out !== undefined) record.check_out = read.check_out;
  if (read.booking_date !== undefined) record.booking_date = read.booking_date;
  if (rest.status !== undefined) record.status = rest.status;
  if (read.status_raw !== undefined) record.status_raw = read.status_raw;
  if (read.cancelled_at !== undefined) record.cancelled_at = read.cancelled_at;
  if (read.channel !== undefined) record.channel = read.channel;
  if (read.source !== undefined) record.source = read.source;
  if (read.segment !== undefined) record.segment = read.segment;
  if (read.total_amount !== undefined) record.total_amount = read.total_amount;
  if (read.currency !== undefined) record.currency = read.currency;
  if (rest.guests !== undefined) record.guests = rest.guests;
  if (rest.rooms !== undefined) record.rooms = rest.rooms;
  if (rest.charges !== undefined) record.charges = rest.charges;
  if (rest.extra !== undefined) record.extra = rest.extra;
  return record;
}

export class GuestFields {
  declare guest_id: Guest['guest_id'];
  declare first_name: Guest['first_name'];
  declare last_name: Guest['last_name'];
  declare email: Guest['email'];
  declare email_raw: Guest['email_raw'];
  declare email_proxy: Guest['email_proxy'];
  declare phone: Guest['phone'];
  declare phone_raw: Guest['phone_raw'];
  declare date_of_birth: Guest['date_of_birth'];
  declare nationality: Guest['nationality'];
  declare document_type: Guest['document_type'];
  declare document_number: Guest['document_number'];
  declare marketing_consent: Guest['marketing_consent'];
  declare extra: Guest['extra'];

  constructor(guest: Guest) {
    this.guest_id = guest.guest_id;
    this.first_name = guest.first_name;
    this.last_name = guest.last_name;
    this.email = guest.email;
    this.email_raw = guest.email_raw;
    this.email_proxy = guest.email_proxy;
    this.phone = guest.phone;
    this.phone_raw = guest.phone_raw;
    this.date_of_birth = guest.date_of_birth;
    this.nationality = guest.nationality;
    this.document_type = guest.document_type;
    this.document_number = guest.document_number;
    this.marketing_consent = guest.marketing_consent;
    this.extra = guest.extra;
  }

  /** In the order of the schema. */
  toGuest(): Guest {
    const guest: Guest = {};
    if (this.guest_id !== undefined) guest.guest_id = this.guest_id;
    if (this.first_name !== undefined) guest.first_name = this.first_name;
    if (this.last_name !== undefined) guest.last_name = this.last_name;
    if (this.email !== undefined) guest.email = this.email;
    if (this.email_raw !== undefined) guest.email_raw = this.email_raw;
    if (this.email_proxy !== undefined) guest.email_proxy = this.email_proxy;
    if (this.phone !== undefined) guest.phone = this.phone;
    if (this.phone_raw !== undefined) guest.phone_raw = this.phone_raw;
    if (this.date_of_birth !== undefined) guest.date_of_birth = this.date_of_birth;
    if (this.nationality !== undefined) guest.nationality = this.nationality;
    if (this.document_type !== undefined) guest.document_type = this.document_type;
    if (this.document_number !== undefined) guest.document_number = this.document_number;
    if (this.marketing_consent !== undefined) guest.marketing_consent = this.marketing_consent;
    if (this.extra !== undefined) guest.extra = this.extra;
    return guest;
  }
}
