import type { Pool } from '../../src/core/store/db/pool.ts';
import { appendEvents } from '../../src/core/store/events/append.ts';
import { putEventsBack, setEventAside } from '../../src/core/store/events/set-aside.ts';
import { workEvents } from '../../src/core/store/events/work-events.ts';
import { outboxStore } from '../../src/core/store/outbox/settle.ts';
import { openPartnerStore } from '../../src/core/store/runs/partner-accounts.ts';
import { openRunStore } from '../../src/core/store/runs/runs.ts';
import type { StorePorts } from './store-ports.ts';

/** The same ports on PostgreSQL. */
export function realPorts(pool: Pool): StorePorts {
  return {
    insert: (events, written, applying) => appendEvents(pool, events, written, applying),
    putBack: () => putEventsBack(pool),
    batch: (store, batching, work) => workEvents({ pool, ...store }, batching, work),
    setAside: (target, error) => setEventAside(pool, target, error),
    runs: (handover) => openRunStore(pool, handover),
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
