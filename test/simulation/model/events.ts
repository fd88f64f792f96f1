import type { Lane } from '../../../src/intake/push/event-path.ts';
import type { NewEvent, Stored } from '../../../src/intake/push/ports.ts';
import type { StorePorts } from '../store-ports.ts';
import { applyPrepared } from './apply.ts';
import type { Link } from './link.ts';
import { laneOf, pendingOf, settleAtCommit } from './pending.ts';
import type { EventRow, StoreModel } from './state.ts';
import { Transaction } from './transaction.ts';

const triesBeforeDead = 5;

/** Accepted events and their lanes. Retired endpoints, expired secrets, thin events and guests' own events are not modelled. */
export function eventPorts(
  model: StoreModel,
  link: Link,
): Pick<StorePorts, 'insert' | 'lanes' | 'putBack' | 'lane' | 'setAside'> {
  return {
    insert: async (events, written) => {
      const stored = await link.call('insert', () => appendAll(model, events));
      written();
      return stored;
    },
    lanes: () =>
      link.call('lanes', () => [...new Set(pendingOf(model).map(({ integration }) => integration as string))].sort()),
    putBack: () =>
      link.call('putBack', () => {
        for (const event of model.events) {
          if (event.state === 'waiting' && (event.dueAt ?? 0) <= model.now()) event.state = 'pending';
        }
      }),
    lane: (target, limit, work, directLeases) =>
      directLeases.during(async (leaseBatch) => {
        for (;;) {
          leaseBatch.begin();
          const tx = await link.begin(() => new Transaction(model));
          try {
            const isMine = await link.call('lockLane', () => tx.tryLockLane(target.integration));
            if (!isMine) return 'busy';
            const events = pendingOf(model, target.integration).slice(0, limit);
            if (events.length === 0) return 'drained';
            const apply: Lane['apply'] = (prepared) =>
              link.call('apply', () => applyPrepared(model, tx, target, prepared, leaseBatch));
            settleAtCommit(model, tx, await work(laneOf(events, apply)));
            const result = await link.call('commit', () => tx.commit());
            if (result === 'committed') return events.length === limit ? 'more' : 'drained';
          } finally {
            tx.rollBack();
          }
        }
      }),
    setAside: (target) =>
      link.call('setAside', () => {
        const [event] = pendingOf(model, target.integration);
        if (event === undefined || model.laneLocks.has(target.integration)) return;
        event.attempt += 1;
        event.state = event.attempt >= triesBeforeDead ? 'dead' : 'waiting';
        event.dueAt = model.now() + event.attempt * event.attempt * 1_000;
      }),
  };
}

/** Of equal ids in one batch the first counts; the others are compared with it. */
function appendAll(model: StoreModel, events: readonly NewEvent[]): Stored[] {
  const first = new Map<string, NewEvent>();
  return events.map((event) => {
    const name = `${event.endpointId} ${event.eventId}`;
    const known = first.get(name);
    if (known) return { kind: 'duplicate', sameBody: known.rawBody.equals(event.rawBody) };
    first.set(name, event);
    return append(model, event);
  });
}

function append(model: StoreModel, { endpointId, eventId, occurredAt, ...event }: NewEvent): Stored {
  const name = `${endpointId} ${eventId}`;
  const known = model.eventsById.get(name);
  const seq = model.nextSeq();
  if (known) return { kind: 'duplicate', sameBody: known.body.equals(event.rawBody) };
  const receivedAt = Math.round(model.now());
  const row: EventRow = {
    seq,
    integration: event.integration,
    eventId,
    event: event.event,
    occurredAt: occurredAt ?? receivedAt,
    receivedAt,
    body: event.rawBody,
    state: 'pending',
    attempt: 0,
  };
  model.events.push(row);
  model.eventsById.set(name, row);
  return { kind: 'stored' };
}
