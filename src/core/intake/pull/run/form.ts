import type { ErrorCode } from '../../../../errors.ts';
import type { Reservation } from '../../../canonical/reservation.ts';
import { noAskCounts } from '../../../outbound/ask/asking.ts';
import type { Statement } from '../../../reconcile/forms.ts';
import { formedAs, stateRows } from '../page/page-commit.ts';
import { type BookingKeys, limitsOf, type PullPlan, type PullPorts } from '../ports.ts';
import { type Counters, noCounts, type PageCommit, type Position, sum } from './run-state.ts';
import type { RunContext } from './run-work.ts';
import { failedEnd, type Turn } from './turn.ts';
import { askFor } from './unlisted.ts';

/** Fenced and stopped end alike: the run is returned to the queue, if it is still ours. */
type Formed =
  | { readonly kind: 'ok'; readonly counters: Counters; readonly heldBack: number }
  | Extract<Turn, { kind: 'end' | 'stop' }>;

const keysAtOnce = 500;

/** Findings under which the lists were still read to their end. */
const readToTheEnd: ReadonlySet<ErrorCode> = new Set(['pull.total_not_reached', 'pull.list_unstable']);

/**
 * Groups staged flat rows into reservations once all pages of all windows are read, because a reservation's rows may be spread
 * over them. A run that was cut short groups nothing: a reservation with rows missing would overwrite a complete one.
 */
export async function formStaged(context: RunContext, position: Position, signal: AbortSignal): Promise<Formed> {
  const { ports, plan, run } = context;
  let counters = noCounts;
  let heldBack = 0;
  if (!plan.brand.shapers.pull.flat || position.findings.some(({ code }) => !readToTheEnd.has(code)))
    return { kind: 'ok', counters, heldBack };
  for (;;) {
    if (signal.aborted) return { kind: 'stop' };
    const staged = await ports.runs.staged(run, keysAtOnce);
    if (staged.length === 0) return { kind: 'ok', counters, heldBack };
    let counted = noCounts;
    const made = staged.map(({ rows, requestedAt }) => {
      const raws = plan.brand.shapers.pull.group(rows);
      return stateRows({ plan, run, position, requestedAt }, raws, raws.map(formedAs));
    });
    for (const one of made) counted = sum(counted, one.counted);
    const whole = made.flatMap((one) => one.statements);
    const other = await otherBrand(ports, plan, { statements: whole, known: [] });
    if (other !== undefined) return { kind: 'end', end: failedEnd('pull.other_brand', other, position) };
    const { statements, ...cut } = await wholeGroups(context, whole);
    heldBack += cut.heldBack;
    counted = sum(counted, { ...cut.counts, skipped: cut.heldBack });
    const keys = staged.map(({ key }) => key);
    const formed = { keys, statements, counted };
    const tally = await ports.runs.commitFormed(run, limitsOf(ports).leaseMs, formed, plan.brand);
    if (tally === 'fenced') return { kind: 'stop' };
    counters = sum(sum(counters, counted), tally);
  }
}

/**
 * If a partner lists the rows of a reservation by their own dates, a run sees only those inside its range. A group with fewer rooms
 * than stored is requested as a whole, or held back; it is never delivered incomplete. A cancellation is accepted in any case.
 */
async function wholeGroups(context: RunContext, groups: readonly Statement[]) {
  const { ports, plan, run } = context;
  const counts = noAskCounts();
  if (!plan.brand.shapers.pull.mayCutGroups) return { statements: groups, heldBack: 0, counts };
  const ids = groups.flatMap(({ id, record }) => (record ? [id] : []));
  const rooms = await ports.runs.storedRooms(run.integration, ids);
  const statements: Statement[] = [];
  /** Reservations left unchanged, because it is not certain that all of their rows were listed. */
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

/** Enough to recognise another brand's list; the cost grows with the brands of the account. */
const mostCompared = 20;

/**
 * Whether the first page of a new brand holds the bookings of another one of the same API: the account or the request does not tell the
 * two apart, and every booking would be delivered twice. A brand that delivers nowhere does no harm.
 */
export async function otherBrand(
  { runs, log }: Pick<PullPorts, 'runs' | 'log'>,
  { brand, others, settings }: PullPlan,
  { statements, known }: Pick<PageCommit, 'statements' | 'known'>,
): Promise<string | undefined> {
  if (others === undefined || known.length > 0 || brand.destinations.reservation.length === 0) return undefined;
  const bookings = statements.flatMap(({ id, record }): BookingKeys[] => {
    if (record === undefined) return [];
    const { check_in, check_out, confirmation_number } = record as Reservation;
    return [{ id, check_in, check_out, ...(confirmation_number && { confirmation_number }) }];
  });
  if (bookings.length === 0) return undefined;
  const numbers = await runs.receivedElsewhere(brand.integration, others, bookings.slice(0, mostCompared));
  if (numbers === undefined) return undefined;
  // Whoever may see this brand need not know the other one.
  log.error({ integration: brand.integration, other: numbers }, 'pull: another brand has received these bookings');
  return `the partner answers for ${settings.brandId} with the bookings that another brand has received already; the log names it`;
}
