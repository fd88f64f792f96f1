import type { JsonObject } from '../../../terms.ts';
import type { LaneKey } from '../../deliver/ports.ts';
import { columnsOf } from '../db/columns.ts';
import { type Pool, rowsOf, type Tx, type UnreadRow } from '../db/pool.ts';

interface DeliveryFilter {
  readonly destination?: string | undefined;
  readonly integrations?: readonly string[] | undefined;
  readonly state: 'waiting' | 'retrying' | 'held';
  readonly limit: number;
}

/** Undelivered records, longest due first, each with the answer to its last try. */
export async function listDeliveries(db: Pool, filter: DeliveryFilter): Promise<(UnreadRow & LaneKey)[]> {
  const state = {
    waiting: 'o.due_at is not null',
    retrying: 'o.due_at is not null and o.attempt > 0',
    held: 'o.held_by is not null',
  }[filter.state];
  return rowsOf(db)<UnreadRow & LaneKey>(
    `select o.integration, o.destination, o.type, o.id, o.next_version, o.last_version, o.delivered_version, o.attempt,
            o.due_at, o.held_by::text as held_by, a.code as last_code, a.message as last_message, a.at as last_at
       from (select * from outbox o
              where ${state} and o.destination not like 'innbound:%' and ($1::text is null or o.destination = $1) and ($2::text[] is null or o.integration = any($2))
              order by o.due_at limit $3) o
       left join lateral (select code, message, at from attempts a where a.integration = o.integration and a.type = o.type
           and a.id = o.id and a.destination = o.destination order by a.at desc limit 1) a on true
      order by o.due_at, o.integration, o.id`,
    [filter.destination, filter.integrations, filter.limit],
  );
}

interface DestinationRow {
  readonly destination: string;
  readonly paused_until: Date | null;
  /** Null unless the circuit is open; its failure and probe then have no meaning. */
  readonly open_since: Date | null;
  readonly circuit_failure: string;
  readonly refused: boolean;
  readonly next_probe_at: Date;
  readonly last_delivered_at: Date | null;
  readonly last_failed_at: Date | null;
  readonly last_failure: string | null;
}

/** How far back the last failure is searched. */
const recent = `interval '1 day'`;

/** With the circuit while only probes are sent. */
export async function destinationsNow(db: Pool, names: readonly string[]) {
  const { rows } = await db.query<DestinationRow>(
    `select n.name as destination, case when r.paused_until > now() then r.paused_until end as paused_until,
            r.opened_at as open_since, r.last_failure as circuit_failure, coalesce(r.refused, false) as refused, r.probe_at as next_probe_at,
            r.delivered_at as last_delivered_at, bad.at as last_failed_at, bad.code as last_failure
       from unnest($1::text[]) as n (name)
       left join remotes r on r.kind = 'destination' and r.name = n.name
       left join lateral (select at, code from attempts a where a.destination = n.name and a.outcome in ('retry', 'dead')
           and a.at > now() - ${recent} order by a.at desc limit 1) bad on true`,
    [names],
  );
  return rows.map(({ open_since, circuit_failure, next_probe_at, refused, ...row }) => ({
    ...row,
    circuit: open_since && { open_since, last_failure: circuit_failure, next_probe_at, refused },
  }));
}

/** The destinations that have received each of these records, with the version. */
export const deliveredTo = (
  tx: Tx,
  records: readonly { readonly integration: string; readonly type: string; readonly id: string }[],
): Promise<JsonObject[]> =>
  rowsOf(tx)(
    `select o.integration, o.destination, o.type, o.id, o.delivered_version as version
       from unnest($1::text[], $2::text[], $3::text[]) as r (integration, type, id)
       join outbox o using (integration, type, id)
      where o.delivered_version > 0 and o.destination not like 'innbound:%' order by 1, 2, 3, 4`,
    columnsOf(records, 'integration', 'type', 'id'),
  );
