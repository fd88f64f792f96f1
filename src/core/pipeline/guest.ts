import type { ErrorCode } from '../../errors.ts';
import { isObject, type Json, type JsonObject, type Note } from '../../terms.ts';
import type { Plan } from '../brand/compile.ts';
import { toGuest } from '../canonical/check.ts';
import { describeProblems, type Problem } from '../canonical/field-check.ts';
import type { Guest } from '../canonical/reservation.ts';
import { normalizeGuest } from '../normalize/normalize.ts';
import { isRawOnly, unreadIn } from '../reconcile/content.ts';
import type { GuestUpdate, RuledGuest } from '../reconcile/guest-update.ts';
import { idOf } from './id-prefix.ts';

export interface ReadGuest {
  readonly update: GuestUpdate;
  readonly notes: readonly Note[];
}

/** The guests of an event, several if its data is a whole reservation; or the rule that one breaks. */
export type GuestsRead =
  | { readonly kind: 'ok'; readonly updates: readonly ReadGuest[] }
  | ({ readonly kind: 'invalid' } & Failure);

type GuestRead = ({ readonly kind: 'ok' } & ReadGuest) | ({ readonly kind: 'invalid' } & Failure);

/**
 * The path of a guest event.
 *
 *   shape ─▶ check ─▶ normalize     reads the guest from the event
 *   match                           the profile, by the guest's keys and by the reservation that the event names
 *   merge                           the profile, and the guest in each upcoming or in-house reservation
 *   rules ─▶ check ─▶ normalize     the profile, by the rules that concern guests alone
 *   check ─▶ normalize ─▶ rules     each of these reservations
 */
export function readGuests(path: Plan, data: Json, isFetched: boolean): GuestsRead {
  const reservation = isFetched ? undefined : reservationIn(data);
  const read = reservation === undefined ? [readGuest(path, data, isFetched)] : guestsOf(path, reservation);
  const invalid = read.find((one) => one.kind === 'invalid');
  if (invalid) return invalid;
  return { kind: 'ok', updates: read.flatMap((one) => (one.kind === 'ok' ? [one] : [])) };
}

type WithGuests = JsonObject & { guests: JsonObject[] };

/** The whole reservation in `data` or `data.reservation`. */
function reservationIn(data: Json): WithGuests | undefined {
  const at = isObject(data) && isObject(data.reservation) ? data.reservation : data;
  if (!isObject(at) || !Array.isArray(at.guests) || at.guests.length === 0) return undefined;
  return at.guests.every(isObject) ? (at as WithGuests) : undefined;
}

function guestsOf(path: Plan, reservation: WithGuests): GuestRead[] {
  const shaped = path.shapers.push.single(reservation);
  const key = shaped.kind === 'ok' ? shaped.record.key : '';
  const named = key === '' ? {} : { reservation_id: key };
  return reservation.guests.map((guest) => readGuest(path, { ...guest, ...named }, false));
}

function readGuest({ shapers, region, idPrefix }: Plan, data: Json, isFetched: boolean): GuestRead {
  const draft = shapers[isFetched ? 'single' : 'push'].guestDraft(data);
  const guestId = draft.guestId && idOf(draft.guestId, idPrefix);
  const checked = toGuest(
    idPrefix === undefined ? draft : { ...draft, record: { ...draft.record, guest_id: guestId } },
  );
  if (checked.kind === 'invalid') return { kind: 'invalid', ...failure(checked) };
  const { guest, notes } = normalizeGuest(checked.guest, region);
  const present = new Set(draft.present);
  if (draft.guestId !== undefined) present.add('guest_id');
  const read = [...draft.notes, ...checked.notes];
  // A value that could not be read says nothing: what is stored stays.
  for (const field of [...unreadIn(read, {}), ...['email', 'phone'].filter((one) => isRawOnly(guest, one))])
    present.delete(field);
  const reservationId = draft.reservationId && idOf(draft.reservationId, idPrefix);
  return {
    kind: 'ok',
    update: { guest, present, ...(reservationId !== undefined && { reservationId }) },
    notes: [...read, ...notes],
  };
}

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly detail: Json;
}

/** A profile after the rules, with the update merged in. */
export function ruleProfile({ rules, region }: Plan, profile: Guest, { guest, present }: GuestUpdate): RuledGuest {
  const names = Object.keys(guest.extra ?? {}).map((name) => `extra.${name}`);
  const ruled = rules.applyToGuest(profile, new Set([...present, ...names]));
  if (ruled.kind === 'dropped') return { kind: 'dropped', reason: ruled.note };
  if (ruled.kind === 'failed') {
    const { code, message, rule } = ruled;
    return { kind: 'failed', code, message, detail: { problems: [{ field: rule, rule: message }] } };
  }
  if (ruled.guest === profile) return { kind: 'kept', guest: profile, notes: [] };
  const checked = toGuest({ record: ruled.guest });
  if (checked.kind === 'invalid') return { kind: 'failed', ...failure(checked) };
  const clean = normalizeGuest(checked.guest, region);
  return { kind: 'kept', guest: clean.guest, notes: [...ruled.notes, ...checked.notes, ...clean.notes] };
}

function failure({ code, problems }: { readonly code: ErrorCode; readonly problems: readonly Problem[] }): Failure {
  return { code, message: describeProblems(problems), detail: { problems: problems.map((one) => ({ ...one })) } };
}
