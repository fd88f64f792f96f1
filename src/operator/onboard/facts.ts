import type { EpochMs } from '../../terms.ts';

/** What a partner's sender has shown so far: counts, ids, dates and statuses, bounded in size, without guest data. */
export interface PushFacts {
  readonly requests: number;
  readonly refused: number;
  /** How many events of each type would have become a record, and how many not. */
  readonly types: { readonly [event: string]: { readonly right: number; readonly wrong: number } };
  /** The latest bookings, with the types of their events in the order of arrival. */
  readonly bookings: readonly Booking[];
  /** The latest accepted event ids; an id that comes again is a duplicate. */
  readonly eventIds: readonly string[];
  readonly duplicates: number;
  /** How many seconds the sender's clock is behind ours, of the latest signed requests. */
  readonly skews: readonly number[];
  readonly retry?: RetryFacts;
}

export interface Booking {
  readonly id: string;
  readonly events: readonly string[];
  readonly check_in?: string;
  readonly check_out?: string;
  readonly status?: string;
  /** Of the guest's name, the address and the rooms only a mark that shows whether two are equal. */
  readonly guest?: string;
  readonly email?: string;
  readonly rooms?: string;
}

/** The test of the sender's retries, which the partner starts: one event is refused twice on purpose. */
export interface RetryFacts {
  readonly startedAt: EpochMs;
  readonly eventId?: string;
  readonly attempts: readonly EpochMs[];
}

/** One request, as its sandbox report says. */
export interface Seen {
  readonly at: EpochMs;
  readonly eventId: string;
  readonly event?: string | undefined;
  /** The live endpoint would accept it. */
  readonly isAccepted: boolean;
  /** It would become a record. */
  readonly isRight: boolean;
  readonly skewS?: number | undefined;
  readonly booking?: Omit<Booking, 'events'> | undefined;
}

export type RehearsedAnswer = 'new' | 'duplicate' | 'fail';

export const noPushFacts: PushFacts = {
  requests: 0,
  refused: 0,
  types: {},
  bookings: [],
  eventIds: [],
  duplicates: 0,
  skews: [],
};

const mostBookings = 200;
const mostEventIds = 500;
const mostSkews = 20;
/** Two refusals give two delays, the fewest that can grow. */
export const deliberateFailures = 2;
const mostAttempts = 6;

/** The facts after one more request, and how to answer it. */
export function observe(facts: PushFacts, seen: Seen): { readonly facts: PushFacts; readonly answer: RehearsedAnswer } {
  const counted = { ...facts, requests: facts.requests + 1 };
  if (!seen.isAccepted) return { facts: { ...counted, refused: facts.refused + 1 }, answer: 'new' };
  const skews = seen.skewS === undefined ? facts.skews : [...facts.skews, seen.skewS].slice(-mostSkews);
  const heard = { ...counted, skews };
  if (facts.eventIds.includes(seen.eventId)) {
    return { facts: { ...heard, duplicates: facts.duplicates + 1 }, answer: 'duplicate' };
  }
  const tried = attempted(facts.retry, seen);
  if (tried && tried.attempts.length <= deliberateFailures) {
    return { facts: { ...heard, retry: tried }, answer: 'fail' };
  }
  return {
    facts: {
      ...heard,
      types: withType(facts.types, seen),
      bookings: withBooking(facts.bookings, seen),
      eventIds: [...facts.eventIds, seen.eventId].slice(-mostEventIds),
      ...(tried && { retry: tried }),
    },
    answer: 'new',
  };
}

/** The test of retries with this attempt; undefined if the request is not part of it. */
function attempted(retry: RetryFacts | undefined, { eventId, at }: Seen): RetryFacts | undefined {
  if (retry === undefined || (retry.eventId ?? eventId) !== eventId) return undefined;
  return { ...retry, eventId, attempts: [...retry.attempts, at].slice(0, mostAttempts) };
}

function withType(types: PushFacts['types'], { event = 'unknown', isRight }: Seen): PushFacts['types'] {
  const { right, wrong } = types[event] ?? { right: 0, wrong: 0 };
  return { ...types, [event]: isRight ? { right: right + 1, wrong } : { right, wrong: wrong + 1 } };
}

function withBooking(bookings: readonly Booking[], { booking, event, isRight }: Seen): readonly Booking[] {
  if (booking === undefined || event === undefined || !isRight) return bookings;
  const before = bookings.find(({ id }) => id === booking.id);
  const events = [...(before?.events ?? []), event].slice(-10);
  return [...bookings.filter((one) => one !== before), { ...booking, events }].slice(-mostBookings);
}

/** What the last test of the partner's API has shown. */
export interface PullFacts {
  readonly testedAt: EpochMs;
  /** Hash of the settings that were tested: for others it has shown nothing. */
  readonly settings: string;
  /** The code of the failure, if the list could not be read. */
  readonly failure?: string;
  readonly isComplete: boolean;
  readonly bookings: number;
  readonly pages: number;
  readonly unreadable: number;
  /** The partner's words for a status that the mapping does not know. */
  readonly unknown: readonly string[];
  /** A day is missing at an end of the range. */
  readonly isShort: boolean;
  /** Fields that fewer than nine of ten bookings have, although a booking needs them. */
  readonly missing: readonly string[];
  readonly rooms?: number;
  /** How many bookings both the list and events have named, and what they say differently. */
  readonly shared: number;
  readonly differing: readonly string[];
  /** The check by the rules of the partner kit: how many requests it has made, and its verdicts when it has ended. Absent if it cannot be made. */
  readonly check?: { readonly requests: number; readonly rules?: readonly RuleFact[] };
}

/** What a rule of the partner kit says about the API, without guest data. */
interface RuleFact {
  readonly id: string;
  /** advice: the API can be used as it is. */
  readonly outcome: 'pass' | 'fail' | 'advice';
  readonly title: string;
  readonly seen: string;
  /** Only if something must change. */
  readonly change?: string;
  /** The request that shows it, without credentials, and the status of its answer. */
  readonly asked?: string;
  readonly status?: number;
}
