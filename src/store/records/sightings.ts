import type { EpochMs, IntegrationName } from '../../terms.ts';
import { float8s, texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import type { Arriving } from './decide.ts';

/** One row for all unchanged reservations of a page, instead of a write to each. */
export async function insertSighting(
  tx: Tx,
  integration: IntegrationName,
  requestedAt: EpochMs,
  runId: string,
  ids: readonly string[],
): Promise<void> {
  await tx.query({
    name: 'insert-sighting',
    text: 'insert into sightings (integration, requested_at, run_id, ids) values ($1, to_timestamp($2 / 1000.0), $3, $4::text[])',
    values: [integration, requestedAt, runId, texts(ids)],
  });
}

/** For each event's reservation: when a list requested after the event last showed it unchanged. */
export async function lastSighted(
  tx: Tx,
  integration: IntegrationName,
  arrivals: readonly Arriving[],
): Promise<ReadonlyMap<string, Date>> {
  const events = arrivals.filter(({ arrival }) => arrival.cause !== 'run');
  if (events.length === 0) return new Map();
  const { rows } = await tx.query<{ id: string; requested_at: Date }>({
    name: 'last-sighted',
    text: `select t.id, max(s.requested_at) as requested_at
             from unnest($2::text[], $3::float8[]) as t (id, ms)
             join sightings s on s.integration = $1 and s.requested_at > to_timestamp(t.ms / 1000.0) and t.id = any(s.ids)
            group by t.id`,
    values: [integration, texts(events.map(({ id }) => id)), float8s(events.map(({ arrival }) => arrival.effectiveAt))],
  });
  return new Map(rows.map((row) => [row.id, row.requested_at]));
}
