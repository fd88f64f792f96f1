import { broken, holds, unseen, type Verdict } from '../rule.ts';
import type { Delivery } from './delivery.ts';
import type { Plan } from './plan.ts';

export interface SenderEvidence {
  readonly plan: Plan;
  readonly deliveries: readonly Delivery[];
  readonly secret: string;
  readonly path: string;
  /** The expected brand. Absent: any. */
  readonly brandId: string | undefined;
}

/** Holds if no request has a fault; otherwise reports the first. */
export function each(
  evidence: Pick<SenderEvidence, 'deliveries'>,
  fault: (delivery: Delivery) => string | undefined,
): Verdict {
  const { deliveries } = evidence;
  if (deliveries.length === 0) return unseen('There was no event.');
  const bad = deliveries.flatMap((delivery) => {
    const found = fault(delivery);
    return found === undefined ? [] : [{ found, number: delivery.number }];
  });
  const [first] = bad;
  if (first === undefined) return holds(`${deliveries.length} requests.`);
  return broken(`${first.found.replace(/\.$/, '')} (${bad.length} of ${deliveries.length}).`, first.number);
}
