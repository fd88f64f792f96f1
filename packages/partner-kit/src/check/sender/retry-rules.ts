import { broken, holds, ruleTable, unseen, type Verdict } from '../rule.ts';
import {
  type Attempts,
  type Delivery,
  eventIdOf,
  type Role,
  type SenderEvidence,
  triesExpected,
  waitSeconds,
} from './plan.ts';

/** Rules about retries. */
export const retryRules = ruleTable<SenderEvidence>({
  'retry.four': {
    title: 'A refused event is retried four times',
    change:
      'Retry four times after any answer that is not 2xx, or no answer, before the event goes to your dead letter queue.',
    judge: within('fail', ({ deliveries }) => {
      const retries = deliveries.length - 1;
      return retries >= triesExpected - 1
        ? holds(`${retries} retries.`, deliveries[0].number)
        : broken(`${retries} retries after a 503 within the time of the check.`, deliveries[0].number);
    }),
  },
  'retry.stops': {
    level: 'should',
    title: 'After four retries the sender gives up',
    change: 'Stop after the fourth retry and keep the event in a dead letter queue, to inspect and send again later.',
    judge: within('fail', ({ deliveries }) => {
      if (deliveries.length < triesExpected) return unseen('There were fewer retries.');
      return deliveries.length === triesExpected
        ? holds('No fifth retry.')
        : broken(`${deliveries.length - 1} retries.`, deliveries.at(-1)?.number);
    }),
  },
  'retry.backoff': {
    title: 'The delays between retries grow',
    change: 'Back off exponentially, with jitter: each delay a multiple of the previous one.',
    judge: within('fail', ({ deliveries }) => {
      const waits = gaps(deliveries.slice(0, triesExpected));
      const [first, last] = [waits[0], waits.at(-1)];
      if (first === undefined || last === undefined || waits.length < 2)
        return unseen('There were fewer than two retries.');
      const said = `Waits: ${waits.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ')}.`;
      return last >= first * 1.5 ? holds(said, deliveries[0].number) : broken(said, deliveries[0].number);
    }),
  },
  'retry.resigned': {
    title: 'Each retry is signed again with its own time',
    change: 'Take a new timestamp and sign again for each retry; we refuse timestamps older than five minutes.',
    judge: retried((deliveries) => {
      const stale = deliveries.find((delivery, index) => {
        const before = deliveries[index - 1];
        return before !== undefined && delivery.timestamp === before.timestamp && delivery.atMs - before.atMs >= 1_500;
      });
      return stale === undefined ? undefined : broken('A retry has the timestamp of an earlier attempt.', stale.number);
    }),
  },
  'retry.same_id': {
    title: 'A retry has the event id of the first attempt',
    change: 'Generate the event id once, when you create the event, and keep it in all retries.',
    judge: retried((deliveries) => {
      const ids = deliveries.map(eventIdOf);
      if (ids[0] === undefined) return unseen('There is no event id.');
      return ids.every((id) => id === ids[0])
        ? undefined
        : broken('A retry has a different id.', deliveries[ids.findIndex((id) => id !== ids[0])]?.number);
    }),
  },
  'retry.same_body': {
    level: 'should',
    title: 'A retry has the same bytes as the first attempt',
    change: 'Store the body as sent and send it again; only timestamp and signature change.',
    judge: retried((deliveries) => {
      const ids = new Set(deliveries.map(eventIdOf));
      if (ids.size > 1) return unseen('The event ids differ.');
      const other = deliveries.find(({ raw }) => deliveries[0] !== undefined && !raw.equals(deliveries[0].raw));
      return other === undefined ? undefined : broken('The body differs.', other.number);
    }),
  },
  'retry.retry_after': {
    level: 'should',
    title: 'The sender honours Retry-After of a 429',
    change: 'Wait at least as long as Retry-After says before the next attempt.',
    judge: within('wait', ({ deliveries }) => {
      const [wait] = gaps(deliveries);
      if (wait === undefined) return unseen('The event that got a 429 was not sent again.');
      const said = `Retried after ${(wait / 1000).toFixed(1)} s; Retry-After was ${waitSeconds} s.`;
      return wait >= waitSeconds * 1000 - 50 ? holds(said, deliveries[1]?.number) : broken(said, deliveries[1]?.number);
    }),
  },
  'retry.accepted_once': {
    title: 'An accepted event is not sent again',
    change: 'Treat any 2xx as accepted, and allow enough time to read the answer.',
    judge: ({ plan }) => {
      const taken = plan.events.filter(({ deliveries }) => deliveries.some(({ status }) => status < 300));
      if (taken.length === 0) return unseen('No event was accepted yet.');
      for (const { deliveries } of taken) {
        const after = deliveries.slice(deliveries.findIndex(({ status }) => status < 300) + 1);
        if (after[0] !== undefined) return broken('An event was sent again after a 202.', after[0].number);
      }
      return holds(`${taken.length} events, each once.`);
    },
  },
});

type Tried = Attempts & { readonly deliveries: readonly [Delivery, ...Delivery[]] };

function within(role: Role, rule: (event: Tried) => Verdict) {
  return ({ plan }: SenderEvidence): Verdict => {
    const event = plan.events.find((one) => one.role === role);
    const needed = role === 'fail' ? 'A second' : 'A third';
    return event === undefined ? unseen(`${needed} event is needed for this, and none arrived.`) : rule(event as Tried);
  };
}

/** A rule over all attempts of every event that was retried. */
function retried(rule: (deliveries: readonly Delivery[]) => Verdict | undefined) {
  return ({ plan }: SenderEvidence): Verdict => {
    const several = plan.events.filter(({ role, deliveries }) => role !== 'accept' && deliveries.length > 1);
    if (several.length === 0) return unseen('There was no retry.');
    const verdict = several.map(({ deliveries }) => rule(deliveries)).find((one) => one !== undefined);
    return verdict ?? holds(`${several.reduce((sum, { deliveries }) => sum + deliveries.length - 1, 0)} retries.`);
  };
}

function gaps(deliveries: readonly Delivery[]): number[] {
  return deliveries.slice(1).map((delivery, index) => delivery.atMs - (deliveries[index]?.atMs ?? 0));
}
