import type { Guest, Reservation } from '../../core/canonical/reservation.ts';
import { workGuestEvent } from '../../core/intake/push/guest-event.ts';
import type { PersonPlace } from '../../core/reconcile/guest-update.ts';
import { transaction } from '../../core/store/db/pool.ts';
import { batchOf, lockEvent, settle } from '../../core/store/events/work-events.ts';
import { closeDeadLetter, lockDeadLetter } from '../../core/store/records/dead-letters.ts';
import { storedRecords } from '../../core/store/records/stored-record.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { showDeadLetter, type WholeDeadLetter } from '../store/dead-letters.ts';
import { personView } from './profiles.ts';

/** An address of a travel agent may have hundreds. */
const mostShown = 50;

/**
 * The persons whom the event of this dead letter may mean, as they are now. Undefined if it is not about that. `person` is null if nobody is
 * there any more.
 */
export async function guestCandidates({ pool }: Pick<Runtime, 'pool'>, id: string) {
  const letter = await showDeadLetter(pool, id);
  const ambiguity = letter && ambiguityOf(letter);
  if (ambiguity === undefined) return undefined;
  const places = ambiguity.candidates.slice(0, mostShown);
  const records = await storedRecords(pool, letter?.integration ?? '', places.map(recordOf));
  return places.map((at) => {
    const { type, id } = recordOf(at);
    const record = records.get(`${type} ${id}`);
    if (record === undefined) return { at, person: null };
    if ('profile' in at) return { at, person: personView(record as Guest) };
    const { guests, check_in, check_out, status } = record as Reservation;
    const guest = guests[at.place];
    return { at, person: guest === undefined ? null : personView(guest), stay: { check_in, check_out, status } };
  });
}

/**
 * Applies an ambiguous guest event to the person whom an operator chose, and closes its dead letter, in one transaction. `still_open`: another
 * person is there by now, or another guest of the event is not certain; the dead letter says so.
 */
export async function assignGuestEvent(runtime: Runtime, id: string, to: PersonPlace, by: string) {
  const letter = await showDeadLetter(runtime.pool, id);
  const ambiguity = letter && ambiguityOf(letter);
  if (letter === undefined || ambiguity === undefined)
    throw refused('It is not an event that may mean several persons.');
  if (!ambiguity.candidates.some((one) => placeText(one) === placeText(to))) {
    throw refused(`${placeText(to)} is not one of the persons whom the event may mean.`);
  }
  const { integration: name, cause_id: seq } = letter;
  const integration = runtime.active().integrations.get(name);
  if (integration === undefined) throw refused(`The documents of ${name} are not in force.`);
  const done = await transaction(runtime.pool, async (tx) => {
    // In the order in which the worker of events locks them.
    const event = await lockEvent(tx, name, Number(seq));
    if ((await lockDeadLetter(tx, id)) === undefined) throw refused('The dead letter is no longer open.');
    if (event === undefined) throw refused('The event is no longer kept.');
    const assigned = { guest: ambiguity.guest, to };
    const settled = await workGuestEvent(
      batchOf(tx, integration, [event], { othersAt: () => [] }),
      integration,
      event,
      assigned,
    );
    if (settled.state === 'dead') {
      const { message = '' } = (await showDeadLetter(tx, id)) ?? {};
      return { result: 'still_open', message } as const;
    }
    await settle(tx, name, [settled]);
    await closeDeadLetter(tx, id, 'replayed', { by, reason: `assigned to ${placeText(to)}` });
    return { result: 'assigned' } as const;
  });
  runtime.wake.signal('outbox');
  return done;
}

/** As operators name a person: a profile's id, or a reservation and the place in its list, from 1. */
export const placeText = (place: PersonPlace): string =>
  'profile' in place ? place.profile : `${place.reservation}:${place.place + 1}`;

interface Ambiguity {
  readonly guest: number;
  readonly candidates: readonly PersonPlace[];
}

const ambiguityOf = ({ code, detail }: WholeDeadLetter): Ambiguity | undefined =>
  code === 'push.guest_ambiguous' ? (detail as unknown as Ambiguity) : undefined;

const recordOf = (place: PersonPlace) =>
  'profile' in place
    ? ({ type: 'guest', id: place.profile } as const)
    : ({ type: 'reservation', id: place.reservation } as const);

const refused = (reason: string): InnboundError => new InnboundError('operate.conflict', reason);
