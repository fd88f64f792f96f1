import type { Guest } from '../canonical/reservation.ts';

const shown = [
  'first_name',
  'last_name',
  'email',
  'phone',
  'guest_id',
  'date_of_birth',
  'nationality',
  'marketing_consent',
] as const;

/** What tells an operator who a person is. Documents and other fields stay in the record. */
export type PersonView = Pick<Guest, (typeof shown)[number]>;

export const personView = (guest: Guest): PersonView =>
  Object.fromEntries(shown.flatMap((field) => (guest[field] === undefined ? [] : [[field, guest[field]]])));
