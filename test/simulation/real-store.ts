import { systemClock } from '../../src/kit/clock.ts';
import type { Pool } from '../../src/store/db/pool.ts';
import { appendEvents } from '../../src/store/events/append.ts';
import { pendingLanes, workEventLane } from '../../src/store/events/lane.ts';
import { PendingFloors } from '../../src/store/events/pending-floors.ts';
import { putEventsBack, setEventAside } from '../../src/store/events/set-aside.ts';
import { outboxStore } from '../../src/store/outbox/outbox.ts';
import { openPartnerStore } from '../../src/store/runs/partner-states.ts';
import { openRunStore } from '../../src/store/runs/runs.ts';
import type { StorePorts } from './store-ports.ts';

/** The same ports on PostgreSQL. */
export function realPorts(pool: Pool): StorePorts {
  const pendingFloors = new PendingFloors(systemClock);
  return {
    insert: (events, written) => appendEvents(pool, events, written),
    lanes: () => pendingLanes({ pool, pendingFloors }),
    putBack: () => putEventsBack({ pool, pendingFloors }),
    lane: (target, limit, work, directLeases) =>
      workEventLane({ pool, directLeases, pendingFloors }, target, limit, work),
    setAside: (target, error) => setEventAside({ pool, pendingFloors }, target, error),
    runs: (directLeases) => openRunStore(pool, 'model', directLeases),
    partners: openPartnerStore(pool),
    outbox: outboxStore(pool),
    clock: async () => {
      const { rows } = await pool.query<{ ms: number }>(
        `select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
      );
      return rows[0]?.ms ?? 0;
    },
  };
}
