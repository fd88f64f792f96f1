import type { Pool } from '../../src/core/store/db/pool.ts';
import type { Fate, Settled } from '../history/history.ts';
import { storedVersions } from '../support/versions.ts';
import type { Observed } from './store-ports.ts';

/** The outcome of an event, from its row. */
export function fate(eventId: string, state: string, outcome?: string | null, version?: number | null): Fate {
  const statement = eventId;
  if (state === 'pending' || state === 'waiting' || state === 'hydrate') return { statement, kind: 'pending' };
  if (state === 'dead') return { statement, kind: 'dead' };
  if (outcome === 'unchanged' || outcome === 'superseded' || outcome === 'dropped' || outcome === 'held')
    return { statement, kind: outcome };
  return { statement, kind: 'version', version: version ?? 0 };
}

/** Reads from PostgreSQL what the checker needs to know. */
export async function observeDatabase(pool: Pool): Promise<Observed> {
  const events = await pool.query<{
    event_id: string;
    state: string;
    outcome: string | null;
    version: number | null;
    seq: number;
    received_ms: number;
  }>(
    `select event_id, state, outcome, version, seq, (extract(epoch from received_at) * 1000)::bigint as received_ms
       from events order by seq`,
  );
  const versions = await storedVersions(pool, `c.type = 'reservation'`);
  const done = await pool.query<Settled>(
    `select integration || '/' || id as record, destination, version, coalesce(outcome, 'delivered') as kind
       from outbox o cross join generate_series(1, next_version - 1) as version
       left join (select * from attempts where outcome = 'skipped') a using (integration, destination, type, id, version)
      where type = 'reservation'`,
  );
  const open = await pool.query<Settled>(
    `select integration || '/' || id as record, destination, version,
            case when held_by is not null and version = next_version then 'dead' else 'pending' end as kind
       from outbox cross join generate_series(next_version, last_version) as version where type = 'reservation'`,
  );
  const runs = await pool.query<Observed['runs'][number]>(
    `select run_id as id, integration, state, fetched,
            changed + unchanged + superseded + dropped + skipped + dead as counted, held from runs`,
  );
  return {
    fates: events.rows.map(({ event_id, state, outcome, version }) => fate(event_id, state, outcome, version)),
    versions: versions.map(({ integration, id, version, text, event }) => ({
      record: `${integration}/${id}`,
      version,
      value: text,
      isErasure: event === 'erased',
    })),
    settled: [...done.rows, ...open.rows],
    runs: runs.rows,
    receipts: new Map(
      events.rows.map(({ event_id, received_ms, seq }) => [event_id, { receivedAt: received_ms, seq }]),
    ),
  };
}
