import type { Reservation } from '../../canonical/reservation.ts';
import type { Prepared } from '../../reconcile/incoming.ts';
import { noAskCounts } from './ask.ts';
import type { AskCounts } from './asked.ts';
import { askFor, type RunContext } from './unlisted.ts';

export interface WholeGroups {
  readonly prepared: readonly Prepared[];
  /** Reservations left unchanged, because it is not certain that all of their rows were listed. */
  readonly heldBack: number;
  readonly counts: AskCounts;
}

/**
 * If a partner lists the rows of a reservation by their own dates, a run sees only those inside its range. A group with fewer rooms
 * than stored is requested as a whole, or held back; it is never delivered incomplete. A cancellation is accepted in any case.
 */
export async function wholeGroups(context: RunContext, groups: readonly Prepared[]): Promise<WholeGroups> {
  const { ports, plan, run } = context;
  const counts = noAskCounts();
  if (!plan.shaper.mayCutGroups) return { prepared: groups, heldBack: 0, counts };
  const ids = groups.flatMap((one) => (one.kind === 'record' ? [one.incoming.id] : []));
  const rooms = await ports.runs.storedRooms(run.integration, ids);
  const prepared: Prepared[] = [];
  let heldBack = 0;
  for (const one of groups) {
    let whole: Prepared | undefined = one;
    if (one.kind === 'record' && isCut(one.incoming.record as Reservation, rooms.get(one.incoming.id))) {
      const answer = plan.settings.single && (await askFor(context, one.incoming.id, counts));
      whole = answer?.kind === 'found' ? answer.prepared : undefined;
      if (whole?.kind === 'record') whole = { ...whole, listed: one.listed };
    }
    if (whole === undefined) heldBack++;
    else prepared.push(whole);
  }
  return { prepared, heldBack, counts };
}

function isCut({ status, rooms }: Reservation, stored: number | undefined): boolean {
  return stored !== undefined && rooms.length < stored && status !== 'cancelled' && status !== 'no_show';
}
