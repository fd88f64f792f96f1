import type { Reservation } from '../../canonical/reservation.ts';
import type { Prepared } from '../../reconcile/incoming.ts';
import { noAskCounts } from './ask.ts';
import type { AskCounts } from './asked.ts';
import type { Pulled } from './run-state.ts';
import { askFor, type RunContext } from './unlisted.ts';

export interface Groups {
  readonly prepared: readonly Prepared[];
  readonly pulled: readonly (Pulled | undefined)[];
}

export interface WholeGroups extends Groups {
  /** Reservations left unchanged, because it is not certain that all of their rows were listed. */
  readonly heldBack: number;
  readonly counts: AskCounts;
}

/**
 * If a partner lists the rows of a reservation by their own dates, a run sees only those inside its range. A group with fewer rooms
 * than stored is requested as a whole, or held back; it is never delivered incomplete. A cancellation is accepted in any case.
 */
export async function wholeGroups(context: RunContext, groups: Groups): Promise<WholeGroups> {
  const { ports, plan, run } = context;
  const counts = noAskCounts();
  if (!plan.shaper.mayCutGroups) return { ...groups, heldBack: 0, counts };
  const ids = groups.prepared.flatMap((one) => (one.kind === 'record' ? [one.incoming.id] : []));
  const rooms = await ports.runs.storedRooms(run.integration, ids);
  const prepared: Prepared[] = [];
  const pulled: (Pulled | undefined)[] = [];
  let heldBack = 0;
  for (const [index, one] of groups.prepared.entries()) {
    let whole: Prepared | undefined = one;
    if (one.kind === 'record' && isCut(one.incoming.record as Reservation, rooms.get(one.incoming.id))) {
      const answer = plan.settings.single && (await askFor(context, one.incoming.id, counts));
      whole = answer?.kind === 'found' ? answer.prepared : undefined;
    }
    if (whole === undefined) {
      heldBack++;
      continue;
    }
    prepared.push(whole);
    pulled.push(groups.pulled[index]);
  }
  return { prepared, pulled, heldBack, counts };
}

function isCut({ status, rooms }: Reservation, stored: number | undefined): boolean {
  return stored !== undefined && rooms.length < stored && status !== 'cancelled' && status !== 'no_show';
}
