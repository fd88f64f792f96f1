import type { Reservation } from '../../../canonical/reservation.ts';
import type { PullPlan, PullPorts, Received } from '../ports.ts';
import type { PageCommit } from './run-state.ts';

/** Enough to recognise another brand's list; the cost grows with the brands of the account. */
const mostCompared = 20;

/**
 * Whether the first page of a new brand holds the bookings of another one of the same API: the account or the request does not tell the
 * two apart, and every booking would be delivered twice. A brand that delivers nowhere does no harm.
 */
export async function otherBrand(
  { runs }: Pick<PullPorts, 'runs'>,
  { brand, others, settings }: PullPlan,
  { statements, known }: Pick<PageCommit, 'statements' | 'known'>,
): Promise<string | undefined> {
  if (others === undefined || known.length > 0 || brand.destinations.reservation.length === 0) return undefined;
  const bookings = statements.flatMap(({ id, record }): Received[] => {
    if (record === undefined) return [];
    const { check_in, check_out, confirmation_number } = record as Reservation;
    return [{ id, check_in, check_out, ...(confirmation_number && { confirmation_number }) }];
  });
  if (bookings.length === 0) return undefined;
  const found = await runs.receivedElsewhere(brand.integration, others, bookings.slice(0, mostCompared));
  if (found === undefined) return undefined;
  return `the partner answers for ${settings.brandId} with the bookings that ${found} has received already`;
}
