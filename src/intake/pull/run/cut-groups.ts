import type { Reservation } from '../../../canonical/reservation.ts';
import { noAskCounts } from '../../../outbound/ask/ask.ts';
import type { AskCounts } from '../../../outbound/ask/asked.ts';
import type { Statement } from '../../../reconcile/forms.ts';
import { askFor, type RunContext } from './unlisted.ts';

export interface WholeGroups {
  readonly statements: readonly Statement[];
  /** Reservations left unchanged, because it is not certain that all of their rows were listed. */
  readonly heldBack: number;
  readonly counts: AskCounts;
}

/**
 * If a partner lists the rows of a reservation by their own dates, a run sees only those inside its range. A group with fewer rooms
 * than stored is requested as a whole, or held back; it is never delivered incomplete. A cancellation is accepted in any case.
 */
export async function wholeGroups(context: RunContext, groups: readonly Statement[]): Promise<WholeGroups> {
  const { ports, plan, run } = context;
  const counts = noAskCounts();
  if (!plan.brand.shapers.pull.mayCutGroups) return { statements: groups, heldBack: 0, counts };
  const ids = groups.flatMap(({ id, record }) => (record ? [id] : []));
  const rooms = await ports.runs.storedRooms(run.integration, ids);
  const statements: Statement[] = [];
  let heldBack = 0;
  for (const one of groups) {
    let whole: Statement | undefined = one;
    if (one.record && isCut(one.record as Reservation, rooms.get(one.id))) {
      const answer = plan.settings.single && (await askFor(context, one.id, counts));
      whole = answer?.kind === 'found' ? answer.statement : undefined;
      if (whole?.record) whole = { ...whole, listed: one.listed };
    }
    if (whole === undefined) heldBack++;
    else statements.push(whole);
  }
  return { statements, heldBack, counts };
}

function isCut({ status, rooms }: Reservation, stored: number | undefined): boolean {
  return stored !== undefined && rooms.length < stored && status !== 'cancelled' && status !== 'no_show';
}
