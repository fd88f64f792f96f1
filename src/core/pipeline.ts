import type { Json, Note } from '../terms.ts';
import type { Plan } from './brand/compile.ts';
import { type ReservationDraft, toReservation } from './canonical/check.ts';
import { noteOf } from './canonical/notes.ts';
import type { Guest, Reservation } from './canonical/reservation.ts';
import { normalizeReservation } from './normalize/normalize.ts';
import { idOf, prefixed } from './pipeline/id-prefix.ts';
import { type Content, contentOf, unreadIn } from './reconcile/content.ts';
import { type DeadLetter, deadLetter, isRequestedById, type Receipt, type Statement } from './reconcile/forms.ts';
import type { RawRecord } from './shape/config.ts';
import type { Adjust, Draft } from './shape/draft.ts';

export { decide, finish } from './pipeline/decide.ts';

/**
 * The path of a reservation; pipeline/guest.ts has that of a guest. Nothing in it waits, writes or throws; every result is a value.
 *
 *   read      shape ─▶ check ─▶ normalize                                 what a message says
 *   decide    place ─▶ fold ─▶ merge ─▶ check ─▶ normalize ─▶ rules       what it changes, while the record is locked
 */

/** What a payload says about its reservation. `adjust` corrects the draft by what the event itself says, before the check. */
export function read(brand: Plan, raw: RawRecord, receipt: Receipt, adjust?: Adjust): Statement {
  const shaper = brand.shapers[receipt.mode];
  const draft = adjusted(prefixed(shaper.draft(raw), brand.idPrefix), adjust);
  const { isExcluded = false } = draft;
  const checked = toReservation(draft as Unchecked);
  const whole = checked.kind === 'ok' ? saidIn(brand, checked) : undefined;
  const isPulled = receipt.mode === 'pull';
  const isPartialRow = isPulled && brand.partialRows && whole === undefined;
  const isStatusUnknown = checked.kind === 'invalid' && checked.code === 'record.unknown_status';
  // A row of a list that breaks a rule says nothing. An event may be a part of a reservation; other sources may have said the rest.
  const isUnusable = isPulled && !isPartialRow && !isExcluded && !isStatusUnknown;
  const usable = isStatusUnknown ? toReservation(withOtherStatus(draft) as Unchecked) : checked;
  const said = whole ?? (isUnusable ? undefined : saidIn(brand, usable));
  const id = said?.record.id ?? idOf(raw.key, brand.idPrefix);
  const notes = [...(isRequestedById(receipt) ? requestedById : []), ...draft.notes, ...(said?.notes ?? [])];
  const unread = unreadIn(notes, draft.record);
  const failure =
    isExcluded || checked.kind === 'ok'
      ? undefined
      : deadLetter(receipt, shaper.selfContained(raw), checked, idOf(raw.key, brand.idPrefix));
  const isPart = failure && said && !isStatusUnknown && (receipt.mode === 'push' || raw.partial === true);
  return {
    type: 'reservation',
    id,
    receipt,
    // A partial row is not part of the list's view, so that the fields it omits are not cleared.
    source: isPartialRow ? 'single' : receipt.mode,
    scope: isPartialRow ? { fields: 'partial', lists: 'full' } : brand.scopes[receipt.mode],
    content: said && contentOf(said.record, draft.record, draft.assumed, draft.itemIds, unread),
    record: whole?.record,
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

/** What a message says, complete or not; undefined if one of its fields breaks a rule, or without an id. */
function saidIn({ region }: Plan, checked: ReturnType<typeof toReservation>) {
  const parts = checked.kind === 'ok' ? checked : checked.parts;
  if (parts?.reservation.id === undefined) return undefined;
  const { reservation: record, notes } = normalizeReservation(parts.reservation as Reservation, region);
  return { record, notes: [...parts.notes, ...notes] };
}

/** The status as it would be stored if the brand let unknown ones pass. */
function withOtherStatus(draft: Draft): Draft {
  const { status, status_raw: raw = status } = draft.record;
  return { ...draft, record: { ...draft.record, status: 'other', status_raw: raw } };
}

function guestsIn(brand: Plan, { record }: Draft): readonly Guest[] {
  const named = { id: record.id ?? '-', guests: record.guests };
  return saidIn(brand, toReservation({ record: named as ReservationDraft }))?.record.guests ?? [];
}

/** What changes some fields of a stored reservation; everything else stays as each source said it. */
interface Amendment {
  readonly id: string;
  readonly content: Content;
  /** What the partner sent; null if it cannot be processed again by itself. */
  readonly raw: Json;
  readonly notes: readonly Note[];
  readonly origins?: Statement['origins'];
}

export function amend({ id, content, raw, notes, origins = {} }: Amendment, receipt: Receipt): Statement {
  const failure: DeadLetter = {
    kind: receipt.cause === 'event' ? 'event' : 'record',
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
    receipt,
    source: receipt.by ?? receipt.mode,
    scope: { fields: 'partial', lists: 'partial' },
    content,
    failure,
    raw: { key: id, value: raw },
    notes,
    origins,
  };
}
