// Written by scripts/receiver-types.ts from the table of canonical fields. Do not edit.

export type Status = 'confirmed' | 'checked_in' | 'checked_out' | 'cancelled' | 'no_show' | 'other';

/** A reservation as delivered. A field that the partner did not send is absent, never null. */
export interface Reservation {
  /** The partner’s id of the reservation: unique within the brand, never changes. */
  readonly id: string;
  /** The number that the guest was given. */
  readonly confirmation_number?: string;
  /** Day of arrival, in the property’s time zone. */
  readonly check_in: string;
  /** Day of departure; not before `check_in`. */
  readonly check_out: string;
  /** Day on which the booking was made. */
  readonly booking_date?: string;
  /** The state of the stay. */
  readonly status: Status;
  /** The partner’s spelling, if no value map lists it. */
  readonly status_raw?: string;
  /** Day of the cancellation, in the property’s time zone, if the partner says it. */
  readonly cancelled_at?: string;
  /** The system that the booking came through, usually as a code. */
  readonly channel?: string;
  /** Where the business comes from, in the hotel’s own words. */
  readonly source?: string;
  /** The market segment, in the hotel’s own words or code. */
  readonly segment?: string;
  /** What the whole stay costs. */
  readonly total_amount?: number;
  /** ISO 4217; for `total_amount` and all charges. */
  readonly currency?: string;
  /** Further fields of the partner, under names that the connector chooses. */
  readonly extra?: { readonly [name: string]: unknown };
  readonly guests?: readonly Guest[];
  readonly rooms?: readonly Room[];
  readonly charges?: readonly Charge[];
}

export interface Guest {
  /** The partner’s own id of the guest, if it has one. A placeholder such as 0 is left out. */
  readonly guest_id?: string;
  /** The title that stood before a last name without given names. It tells a couple with one address apart. */
  readonly title?: string;
  /** Given names. */
  readonly first_name?: string;
  /** Family name. */
  readonly last_name?: string;
  /** A valid e-mail address, trimmed and in lower case. */
  readonly email?: string;
  /** What the partner sent, if it is not a valid address; `email` is then absent. */
  readonly email_raw?: string;
  /** The address is an alias created by a booking site. It is never used to match guests. */
  readonly email_proxy?: true;
  /** The phone number in E.164. */
  readonly phone?: string;
  /** What the partner sent, if it is not a possible number; `phone` is then absent. */
  readonly phone_raw?: string;
  /** Date of birth; never converted between time zones. */
  readonly date_of_birth?: string;
  /** ISO 3166-1 alpha-2. The citizenship, not the country of residence. */
  readonly nationality?: string;
  /** The kind of identity document, in the partner’s own short code. */
  readonly document_type?: string;
  /** The number of the document. */
  readonly document_number?: string;
  /** Whether the guest agreed to marketing. Three states: true, false, and absent for unknown. */
  readonly marketing_consent?: boolean;
  /** Other fields of the guest, under names that the connector chooses: a loyalty number, a tier. */
  readonly extra?: { readonly [name: string]: unknown };
}

export interface Room {
  /** The room type or category, in the hotel’s own words or code. */
  readonly room_type?: string;
  /** The meals included: `room_only`, `bed_and_breakfast`, `half_board`, `full_board` or `all_inclusive`; other words pass unchanged. */
  readonly board?: string;
  /** The rate plan, as a code. */
  readonly rate_code?: string;
  /** `room`; `pseudo`: a room that does not exist, such as a posting master; `house`: a house account or house use. Absent: a room. */
  readonly room_kind?: string;
  /** The same for all reservations that share one room, which is then counted once. */
  readonly share_id?: string;
  /** First day of this room’s part of the stay. */
  readonly start_date?: string;
  /** Day of departure from this room. */
  readonly end_date?: string;
  /** Adults in this room. */
  readonly adults?: number;
  /** Children in this room, infants included. */
  readonly children?: number;
}

export interface Charge {
  /** The kind of charge, in the partner’s own code. */
  readonly code?: string;
  /** What was charged, as text. */
  readonly description?: string;
  /** The amount of the whole line, not of one unit, in the reservation’s currency; gross if the partner has both. */
  readonly amount?: number;
  /** `room` for the price of the room: the measures take room revenue from these charges. */
  readonly charge_kind?: string;
  /** The night or day that was charged. */
  readonly charge_date?: string;
  /** The tax that `amount` contains. */
  readonly tax_amount?: number;
  /** How many units the line covers. For information: it is already part of `amount`. */
  readonly quantity?: number;
}
