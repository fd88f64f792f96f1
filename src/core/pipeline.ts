import type { Json, Note } from '../terms.ts';
import type { Path } from './brand/compile.ts';
import { toParts, toReservation } from './canonical/check.ts';
import { noteOf } from './canonical/notes.ts';
import type { Guest, Reservation } from './canonical/reservation.ts';
import { cleaned, type Said } from './pipeline/clean.ts';
import { idOf, prefixed } from './pipeline/id-prefix.ts';
import { type Arrival, type DeadLetter, deadLetter, isRequestedById, type Statement } from './reconcile/forms.ts';
import { type Says, saysOf, unreadIn } from './reconcile/says.ts';
import type { RawRecord } from './shape/config.ts';
import type { Adjust, Draft } from './shape/draft.ts';

export { decide, finish } from './pipeline/decide.ts';

/**
 * The path of a reservation; pipeline/guest.ts states that of a guest. Nothing in it waits, writes or throws; every result is a value.
 *
 *   state     shape ─▶ check ─▶ normalize                                 what a message says
 *   decide    place ─▶ fold ─▶ merge ─▶ check ─▶ normalize ─▶ rules       what it changes, while the record is locked
 */

/** What a payload says about its reservation. `adjust` corrects the draft by what the event itself says, before the check. */
export function state(brand: Path, raw: RawRecord, arrival: Arrival, adjust?: Adjust): Statement {
  const shaper = brand.shapers[arrival.mode];
  const draft = adjusted(prefixed(shaper.draft(raw), brand.idPrefix), adjust);
  const { isExcluded = false } = draft;
  const checked = toReservation(draft as Unchecked);
  const whole = checked.kind === 'ok' ? cleaned(brand, checked.reservation, checked.notes) : undefined;
  const isPulled = arrival.mode === 'pull';
  const isPartialRow = isPulled && brand.partialRows && whole === undefined;
  const isStatusUnknown = checked.kind === 'invalid' && checked.code === 'record.unknown_status';
  // A row of a list that breaks a rule says nothing. An event may be a part of a reservation; other sources may have said the rest.
  const isUnusable = isPulled && !isPartialRow && !isExcluded && !isStatusUnknown;
  const said = whole ?? (isUnusable ? undefined : partsOf(brand, isStatusUnknown ? withOtherStatus(draft) : draft));
  const id = said?.record.id ?? idOf(raw.key, brand.idPrefix);
  const notes = [...(isRequestedById(arrival) ? requestedById : []), ...draft.notes, ...(said?.notes ?? [])];
  const unread = unreadIn(notes, draft.record);
  const failure =
    isExcluded || checked.kind === 'ok'
      ? undefined
      : deadLetter(arrival, shaper.selfContained(raw), checked, idOf(raw.key, brand.idPrefix));
  const isPart = failure && said && !isStatusUnknown && (arrival.mode === 'push' || raw.partial === true);
  return {
    type: 'reservation',
    id,
    arrival,
    // A partial row is not part of the list's view, so that the fields it omits are not cleared.
    source: isPartialRow ? 'single' : arrival.mode,
    manner: isPartialRow ? { silence: 'keep', lists: 'replace' } : brand.manners[arrival.mode],
    says: said && saysOf(said.record, draft.record, draft.assumed, shaper.itemIds(raw), unread),
    record: whole?.record as Reservation | undefined,
    ...(failure && { failure }),
    ...(isPart && { isPart }),
    ...(isExcluded && { dropped: excluded }),
    ...(failure && !said && { guests: guestsIn(brand, draft) }),
    raw,
    notes,
    drift: draft.drift,
  };
}

type Unchecked = Parameters<typeof toReservation>[0];

function adjusted(draft: Draft, adjust: Adjust | undefined): Draft {
  if (adjust === undefined) return draft;
  const { record, notes } = adjust(draft.record);
  return { ...draft, record, notes: [...draft.notes, ...notes] };
}

const excluded = 'The condition map.where of the connector does not hold.';

/** By this note the store tells such a payload from a row of a list: another mapping reads it, and fields that it omits are not cleared. */
const requestedById: readonly Note[] = [noteOf('requested_by_id', '')];

/** What a message says that is not a complete record; undefined if one of its fields breaks a rule. */
function partsOf(brand: Path, draft: Pick<Draft, 'record'> & Partial<Draft>): Said | undefined {
  const parts = toParts(draft as Unchecked);
  if (parts.kind === 'invalid' || parts.reservation.id === undefined) return undefined;
  return cleaned(brand, parts.reservation as Reservation, parts.notes);
}

/** The status as it would be stored if the brand let unknown ones pass. */
function withOtherStatus(draft: Draft): Draft {
  const { status, status_raw: raw = status } = draft.record;
  return { ...draft, record: { ...draft.record, status: 'other', status_raw: raw } };
}

function guestsIn(brand: Path, { record }: Draft): readonly Guest[] {
  const named = { id: record.id ?? '-', guests: record.guests } as Draft['record'];
  return partsOf(brand, { record: named })?.record.guests ?? [];
}

/** What changes some fields of a stored reservation; everything else stays as each source said it. */
interface Amendment {
  readonly id: string;
  readonly says: Says;
  /** What the partner sent; null if it cannot be processed again by itself. */
  readonly raw: Json;
  readonly notes: readonly Note[];
  readonly origins?: Statement['origins'];
}

export function amend({ id, says, raw, notes, origins = {} }: Amendment, arrival: Arrival): Statement {
  const failure: DeadLetter = {
    kind: arrival.cause === 'event' ? 'event' : 'record',
    type: 'reservation',
    id,
    code: 'record.unknown_reservation',
    message: 'The reservation is not stored.',
    detail: {},
    raw,
  };
  return {
    type: 'reservation',
    id,
    arrival,
    source: arrival.by ?? arrival.mode,
    manner: { silence: 'keep', lists: 'merge' },
    says,
    failure,
    raw: { key: id, value: raw },
    notes,
    origins,
  };
}
