import type { DirectLeases } from '../../../src/deliver/direct-leases.ts';
import type { Lane, Settled } from '../../../src/intake/push/event-path.ts';
import type { Applied } from '../../../src/intake/push/on-arrival.ts';
import type { NewEvent } from '../../../src/intake/push/ports.ts';
import type { ArrivingLane } from '../../../src/store/events/on-arrival.ts';
import { applyPrepared } from './apply.ts';
import type { Link } from './link.ts';
import { laneOf, pendingOf, settleAtCommit } from './pending.ts';
import type { EventRow, StoreModel } from './state.ts';
import { Transaction } from './transaction.ts';

const mostPending = 50;

/** Stores and applies arriving events in one transaction. It does not wait for a lane that another transaction holds. */
export function applyOnArrival(
  model: StoreModel,
  link: Link,
  lanes: readonly ArrivingLane[],
  directLeases: DirectLeases,
): Promise<Applied> {
  return directLeases.during(async (leaseBatch) => {
    for (;;) {
      leaseBatch.begin();
      const tx = await link.begin(() => new Transaction(model));
      try {
        const admitted = await link.call('admit', () => admit(model, tx, lanes));
        if (typeof admitted === 'string') return admitted;
        const all: (readonly Settled[])[] = [];
        for (const [i, { target, work }] of lanes.entries()) {
          const { backlog, arriving } = admitted[i] as Admitted;
          const apply: Lane['apply'] = (prepared) =>
            link.call('apply', () => applyPrepared(model, tx, target, prepared, leaseBatch));
          all.push(await work(laneOf([...backlog, ...arriving], apply)));
        }
        tx.atCommit(() => {
          for (const { arriving, names } of admitted) {
            for (const [n, row] of arriving.entries()) {
              model.events.push(row);
              model.eventsById.set(names[n] as string, row);
            }
          }
        });
        for (const settled of all) settleAtCommit(model, tx, settled);
        const isNew = () => admitted.every(({ names }) => names.every((name) => !model.eventsById.has(name)));
        const result = await link.call('commit', () => tx.commit(isNew));
        if (result === 'refused') throw Object.assign(new Error('duplicate key'), { code: '23505' });
        if (result === 'committed') return all;
      } finally {
        tx.rollBack();
      }
    }
  });
}

interface Admitted {
  readonly backlog: readonly EventRow[];
  readonly arriving: readonly EventRow[];
  readonly names: readonly string[];
}

function admit(
  model: StoreModel,
  tx: Transaction,
  lanes: readonly ArrivingLane[],
): readonly Admitted[] | 'refused' | 'backlog' {
  const isLocked = lanes.every(({ target }) => tx.tryLockLane(target.integration));
  if (!isLocked) throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
  const nameOf = ({ endpointId, eventId }: NewEvent) => `${endpointId} ${eventId}`;
  const names = lanes.map(({ events }) => events.map(nameOf));
  const all = names.flat();
  if (new Set(all).size < all.length || all.some((name) => model.eventsById.has(name))) return 'refused';
  const backlogs = lanes.map(({ target }) => pendingOf(model, target.integration));
  if (backlogs.some((backlog) => backlog.length > mostPending)) return 'backlog';
  const receivedAt = Math.round(model.now());
  return lanes.map(({ events }, i) => ({
    backlog: backlogs[i] as EventRow[],
    names: names[i] as string[],
    arriving: events.map(({ integration, eventId, event, occurredAt = receivedAt, rawBody }) => ({
      seq: model.nextSeq(),
      integration,
      eventId,
      event,
      occurredAt,
      receivedAt,
      body: rawBody,
      state: 'pending' as const,
      attempt: 0,
    })),
  }));
}
