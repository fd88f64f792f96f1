import { broken, holds, type Rule, unseen, type Verdict } from '../rule.ts';
import { type Attempts, type Delivery, eventIdOf, type Role } from './delivery.ts';
import { type Plan, triesExpected, waitSeconds } from './plan.ts';

interface RetryEvidence {
  readonly plan: Plan;
}

/** What a sender does when it is refused. */
export const retryRules: readonly Rule<RetryEvidence>[] = [
  {
    id: 'retry.four',
    level: 'must',
    title: 'A refused event is tried four times more',
    change:
      'Retry four times on every answer that is not 2xx, and on no answer, before the event goes to your dead letter queue.',
    judge: ({ plan }) =>
      within(plan, 'fail', ({ deliveries }) => {
        const retries = deliveries.length - 1;
        return retries >= triesExpected - 1
          ? holds(`${retries} retries.`, deliveries[0].number)
          : broken(`${retries} retries came after a 503, within the time of the check.`, deliveries[0].number);
      }),
  },
  {
    id: 'retry.stops',
    level: 'should',
    title: 'After four retries the event is given up',
    change: 'Stop after the fourth retry and put the event aside, to be looked at and sent again later.',
    judge: ({ plan }) =>
      within(plan, 'fail', ({ deliveries }) => {
        if (deliveries.length < triesExpected) return unseen('Fewer retries were seen.');
        return deliveries.length === triesExpected
          ? holds('No fifth retry.')
          : broken(`${deliveries.length - 1} retries.`, deliveries.at(-1)?.number);
      }),
  },
  {
    id: 'retry.backoff',
    level: 'must',
    title: 'The waits between retries grow',
    change: 'Back off exponentially: let each wait be a multiple of the one before, with some chance in it.',
    judge: ({ plan }) =>
      within(plan, 'fail', ({ deliveries }) => {
        const waits = gaps(deliveries.slice(0, triesExpected));
        const [first, last] = [waits[0], waits.at(-1)];
        if (first === undefined || last === undefined || waits.length < 2)
          return unseen('Fewer than two retries were seen.');
        const said = `Waits: ${waits.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ')}.`;
        return last >= first * 1.5 ? holds(said, deliveries[0].number) : broken(said, deliveries[0].number);
      }),
  },
  {
    id: 'retry.resigned',
    level: 'must',
    title: 'Each retry is signed anew with its own time',
    change: 'Take a new timestamp and sign again at each retry; an old one is refused after five minutes.',
    judge: ({ plan }) =>
      retried(plan, (deliveries) => {
        const stale = deliveries.find((delivery, index) => {
          const before = deliveries[index - 1];
          return (
            before !== undefined && delivery.timestamp === before.timestamp && delivery.atMs - before.atMs >= 1_500
          );
        });
        return stale === undefined
          ? undefined
          : broken('A retry came later with the timestamp of the try before.', stale.number);
      }),
  },
  {
    id: 'retry.same_id',
    level: 'must',
    title: 'A retry carries the event id of the first try',
    change: 'Make the event id once, when the event is made, and keep it in all retries.',
    judge: ({ plan }) =>
      retried(plan, (deliveries) => {
        const ids = deliveries.map(eventIdOf);
        if (ids[0] === undefined) return unseen('There is no event id.');
        return ids.every((id) => id === ids[0])
          ? undefined
          : broken('It has another one.', deliveries[ids.findIndex((id) => id !== ids[0])]?.number);
      }),
  },
  {
    id: 'retry.same_body',
    level: 'should',
    title: 'A retry has the bytes of the first try',
    change: 'Keep the body as it was sent and send it again; only timestamp and signature are new.',
    judge: ({ plan }) =>
      retried(plan, (deliveries) => {
        const ids = new Set(deliveries.map(eventIdOf));
        if (ids.size > 1) return unseen('The event ids differ.');
        const other = deliveries.find(({ raw }) => deliveries[0] !== undefined && !raw.equals(deliveries[0].raw));
        return other === undefined ? undefined : broken('The body differs.', other.number);
      }),
  },
  {
    id: 'retry.retry_after',
    level: 'should',
    title: 'Retry-After of a 429 is waited for',
    change: 'Wait at least as long as Retry-After says before the next try.',
    judge: ({ plan }) =>
      within(plan, 'wait', ({ deliveries }) => {
        const [wait] = gaps(deliveries);
        if (wait === undefined) return unseen('The event that was told to wait did not come again.');
        const said = `It came again after ${(wait / 1000).toFixed(1)} s, asked for ${waitSeconds} s.`;
        return wait >= waitSeconds * 1000 - 50
          ? holds(said, deliveries[1]?.number)
          : broken(said, deliveries[1]?.number);
      }),
  },
  {
    id: 'retry.accepted_once',
    level: 'must',
    title: 'An accepted event is not sent again',
    change: 'Take any 2xx as accepted, and read the whole answer before the time runs out.',
    judge: ({ plan }) => {
      const taken = plan.events.filter(({ deliveries }) => deliveries.some(({ status }) => status < 300));
      if (taken.length === 0) return unseen('No event was accepted yet.');
      for (const { deliveries } of taken) {
        const after = deliveries.slice(deliveries.findIndex(({ status }) => status < 300) + 1);
        if (after[0] !== undefined)
          return broken('An event came again after it was answered with 202.', after[0].number);
      }
      return holds(`${taken.length} events, each once.`);
    },
  },
];

type Tried = Attempts & { readonly deliveries: readonly [Delivery, ...Delivery[]] };

function within(plan: Plan, role: Role, rule: (event: Tried) => Verdict): Verdict {
  const event = plan.events.find((one) => one.role === role);
  const needed = role === 'fail' ? 'A second' : 'A third';
  return event === undefined ? unseen(`${needed} event is needed for this, and none came.`) : rule(event as Tried);
}

/** A rule over all tries of every event that was tried again. */
function retried(plan: Plan, rule: (deliveries: readonly Delivery[]) => Verdict | undefined): Verdict {
  const several = plan.events.filter(({ role, deliveries }) => role !== 'accept' && deliveries.length > 1);
  if (several.length === 0) return unseen('No retry was seen.');
  for (const { deliveries } of several) {
    const verdict = rule(deliveries);
    if (verdict !== undefined) return verdict;
  }
  return holds(`${several.reduce((sum, { deliveries }) => sum + deliveries.length - 1, 0)} retries.`);
}

function gaps(deliveries: readonly Delivery[]): number[] {
  return deliveries.slice(1).map((delivery, index) => delivery.atMs - (deliveries[index]?.atMs ?? 0));
}
