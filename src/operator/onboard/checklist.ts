import { type Booking, deliberateFailures, type PullFacts, type PushFacts, type RetryFacts } from './facts.ts';

export const asks = ['push', 'pull'] as const;
export type Ask = (typeof asks)[number];

/** One line of the checklist. The page has the words for its id, and `seen` fills them. */
export interface Check {
  readonly id: string;
  /** done: it was seen; wrong: it was seen, but not as it must be; missing: it was not seen yet. */
  readonly state: 'done' | 'wrong' | 'missing';
  readonly seen: { readonly [name: string]: string | number };
  /** Without it the brand can still go live. */
  readonly isOptional?: true;
}

/** Without them a booking can be stored, and its guest cannot be written to. */
export const contactFields = ['guests.email', 'guests.phone'];

const eventTypes = ['reservation.created', 'reservation.updated', 'reservation.cancelled', 'guest.updated'] as const;
/** The endpoint refuses what is further off; a clock that is half of it off will soon be. */
const clockToleranceS = 150;

/** What was shown and what is missing, derived from what arrived; nobody can tick it. */
export function checklist(
  asked: readonly Ask[],
  push: PushFacts,
  pull: PullFacts | undefined,
): { readonly checks: readonly Check[]; readonly isComplete: boolean } {
  const checks = [
    ...(asked.includes('push') ? pushChecks(push) : []),
    ...(asked.includes('pull') ? pullChecks(pull) : []),
    ...(asked.length > 1 ? [agreement(pull)] : []),
  ];
  return { checks, isComplete: checks.every(({ state, isOptional }) => state === 'done' || isOptional) };
}

function pushChecks(facts: PushFacts): Check[] {
  const accepted = facts.requests - facts.refused;
  return [
    {
      id: 'push.signed',
      state: accepted > 0 ? 'done' : facts.refused > 0 ? 'wrong' : 'missing',
      seen: { accepted, refused: facts.refused },
    },
    ...eventTypes.map((type): Check => {
      const { right, wrong } = facts.types[type] ?? { right: 0, wrong: 0 };
      return {
        id: `push.${type}`,
        state: right > 0 ? 'done' : wrong > 0 ? 'wrong' : 'missing',
        seen: { right, wrong },
        // Not every system knows guests outside of bookings.
        ...(type === 'guest.updated' && { isOptional: true }),
      };
    }),
    life(facts.bookings),
    {
      id: 'push.duplicate',
      state: facts.duplicates > 0 ? 'done' : 'missing',
      seen: { count: facts.duplicates },
    },
    retries(facts.retry),
    clock(facts.skews),
  ];
}

/** An update and a cancellation of one booking. */
function life(bookings: readonly Booking[]): Check {
  const has = (booking: Booking, type: string) => booking.events.includes(`reservation.${type}`);
  const whole = bookings.find((one) => has(one, 'updated') && has(one, 'cancelled'));
  return { id: 'push.life', state: whole ? 'done' : 'missing', seen: whole ? { booking: whole.id } : {} };
}

function retries(retry: RetryFacts | undefined): Check {
  const id = 'push.retry';
  if (retry === undefined) return { id, state: 'missing', seen: {} };
  const delays = retry.attempts.slice(1).map((at, i) => Math.round((at - (retry.attempts[i] ?? at)) / 1000));
  const seen = { attempts: retry.attempts.length, delays: delays.join(' s, ') };
  if (retry.attempts.length <= deliberateFailures) return { id, state: 'missing', seen };
  return { id, state: (delays[1] ?? 0) > (delays[0] ?? 0) ? 'done' : 'wrong', seen };
}

function clock(skews: readonly number[]): Check {
  const worst = skews.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0];
  if (worst === undefined) return { id: 'push.clock', state: 'missing', seen: {} };
  const isRight = Math.abs(worst) <= clockToleranceS;
  return { id: 'push.clock', state: isRight ? 'done' : 'wrong', seen: { seconds: worst } };
}

function pullChecks(facts: PullFacts | undefined): Check[] {
  const unseen = (id: string): Check => ({ id: `pull.${id}`, state: 'missing', seen: {} });
  // The list is the same at every time, so that its length says something.
  const ids = ['complete', 'bounds', 'readable', 'status', 'fields', 'contact', 'volume'];
  const read = ids.map((id): Check => ({ ...unseen(id), ...(id === 'contact' && { isOptional: true }) }));
  const none = [...read, ...ruleChecks(undefined)];
  if (facts === undefined) return [unseen('answers'), ...none];
  const { failure, isComplete, bookings, pages, unreadable, unknown, isShort, missing, rooms } = facts;
  const judged = (id: string, isRight: boolean, seen: Check['seen'] = {}): Check => ({
    id,
    state: isRight ? 'done' : 'wrong',
    seen,
  });
  const answers = judged('pull.answers', failure === undefined, failure === undefined ? {} : { code: failure });
  // A list without a booking has shown nothing but that it answers.
  if (failure !== undefined || bookings === 0) return [answers, ...none];
  const [lacking, reached] = [
    missing.filter((one) => !contactFields.includes(one)),
    missing.filter((one) => contactFields.includes(one)),
  ];
  return [
    answers,
    judged('pull.complete', isComplete, { pages }),
    judged('pull.bounds', !isShort),
    judged('pull.readable', unreadable === 0, { unreadable }),
    judged('pull.status', unknown.length === 0, { unknown: unknown.join(', ') }),
    judged('pull.fields', lacking.length === 0, { fields: lacking.join(', ') }),
    { ...judged('pull.contact', reached.length === 0, { fields: reached.join(', ') }), isOptional: true },
    // A day can hardly have more bookings than twice the rooms: one leaves, one arrives.
    judged('pull.volume', bookings <= 2 * (rooms ?? Number.POSITIVE_INFINITY), { bookings }),
    ...ruleChecks(facts.check),
  ];
}

/** Pages that cannot be followed lose bookings; the other rules save questions later. `shows`: the rule without which nothing was seen. */
const ruleGroups: readonly (Pick<Check, 'id' | 'isOptional'> & { readonly rules: RegExp; readonly shows?: string })[] =
  [
    { id: 'pull.paging', rules: /^paging/, shows: 'paging.advances' },
    { id: 'pull.dates', rules: /^(list|single|search)/, isOptional: true },
    { id: 'pull.errors', rules: /^(auth|answers)/, isOptional: true },
  ];

function ruleChecks(check: PullFacts['check']): Check[] {
  const judged = check?.rules;
  return ruleGroups.flatMap(({ rules, shows, ...group }): Check[] => {
    // A system that is known needs no such check.
    if (judged === undefined)
      return [{ ...group, state: 'missing', seen: { rules: '' }, ...(!check && { isOptional: true }) }];
    const own = judged.filter(({ id }) => rules.test(id));
    if (own.length === 0) return [{ ...group, state: 'missing', seen: { rules: '' }, isOptional: true }];
    const broken = own.filter(({ outcome }) => outcome === 'fail').map(({ id }) => id);
    const seen = { rules: broken.join(', ') };
    if (broken.length > 0) return [{ ...group, state: 'wrong', seen }];
    // A list that fits on one page shows nothing about the next, and need not grow for the test.
    const isUnseen = shows !== undefined && !own.some(({ id }) => id === shows);
    return [isUnseen ? { ...group, state: 'missing', seen, isOptional: true } : { ...group, state: 'done', seen }];
  });
}

/** The list and the events say the same about the same bookings. */
function agreement(pull: PullFacts | undefined): Check {
  const { shared = 0, differing = [] } = pull ?? {};
  const seen = { shared, differing: differing.join(', ') };
  return { id: 'both.agree', state: differing.length > 0 ? 'wrong' : shared > 0 ? 'done' : 'missing', seen };
}

/** The bookings that two feeds both have, and what they say differently about them: the event's value, then the list's. */
export function compare(
  events: readonly Booking[],
  list: readonly Omit<Booking, 'events'>[],
): Pick<PullFacts, 'shared' | 'differing'> {
  const listed = new Map(list.map((one) => [one.id, one]));
  const both = events.flatMap((one) => {
    const other = listed.get(one.id);
    return other === undefined ? [] : [{ one, other }];
  });
  const differing = both.flatMap(({ one, other }) => [
    ...(['check_in', 'check_out', 'status'] as const)
      .filter((name) => one[name] !== other[name])
      .map((name) => `${one.id} ${name}: ${one[name] ?? '–'} ≠ ${other[name] ?? '–'}`),
    ...(['guest', 'email', 'rooms'] as const)
      .filter((name) => one[name] !== other[name])
      .map((name) => `${one.id} ${name}`),
  ]);
  return { shared: both.length, differing: differing.slice(0, 5) };
}
