import type { Json } from './operations.ts';

/** The parts of a canonical record that pages show. The API leaves a record's content open, so it is read here, once. */
export interface Guest {
  readonly first_name: string | undefined;
  readonly last_name: string | undefined;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly guest_id: string | undefined;
  /** Undefined if nobody stated it. */
  readonly marketing_consent: boolean | undefined;
}
export interface Reservation {
  readonly confirmation_number: string | undefined;
  readonly check_in: string | undefined;
  readonly check_out: string | undefined;
  readonly status: string | undefined;
  readonly channel: string | undefined;
  readonly guests: readonly Guest[];
}

type Fields = { readonly [key: string]: Json };
const fieldsOf = (data: Json | undefined): Fields =>
  data !== null && typeof data === 'object' && !Array.isArray(data) ? data : {};
const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

export function guestOf(data: Json | undefined): Guest {
  const { first_name, last_name, email, phone, guest_id, marketing_consent } = fieldsOf(data);
  return {
    first_name: text(first_name),
    last_name: text(last_name),
    email: text(email),
    phone: text(phone),
    guest_id: text(guest_id),
    marketing_consent: typeof marketing_consent === 'boolean' ? marketing_consent : undefined,
  };
}

/** An erasure leaves a profile without fields. */
export const isErased = (profile: Json | undefined): boolean =>
  profile !== null && profile !== undefined && Object.keys(fieldsOf(profile)).length === 0;

/** The profile that an operator merged this one into. */
export const mergedInto = (profile: Json | undefined): string | undefined =>
  text(fieldsOf(fieldsOf(profile).extra).merged_into);

export function reservationOf(data: Json | undefined): Reservation {
  const { confirmation_number, check_in, check_out, status, channel, guests } = fieldsOf(data);
  return {
    confirmation_number: text(confirmation_number),
    check_in: text(check_in),
    check_out: text(check_out),
    status: text(status),
    channel: text(channel),
    guests: Array.isArray(guests) ? guests.map(guestOf) : [],
  };
}

export const fullName = ({ first_name, last_name }: Partial<Guest>): string =>
  [first_name, last_name].filter(Boolean).join(' ');
