import type { DueBounds, DueLane, LaneKey } from '../../deliver/ports.ts';
import { columnsOf } from '../db/columns.ts';
import { numberOf, type Pool, rowsOf } from '../db/pool.ts';

/**
 * A recursive query `d`: the lanes with waiting work, each with the time at which its first record is due. It steps through the index
 * from lane to lane, one probe for each. Idle lanes have no entry in the index and cost nothing. A condition on `due_at` is tested in
 * the index: 100,000 lanes whose work is due later are passed over in one step.
 */
const lanesWithWork = (due = 'o.due_at is not null') => `d as (
  (select o.integration, o.destination, o.due_at from outbox o
    where ${due} order by o.integration, o.destination, o.due_at limit 1)
  union all
  select n.* from d cross join lateral (
    select o.integration, o.destination, o.due_at from outbox o
     where ${due} and (o.integration, o.destination) > (d.integration, d.destination)
     order by o.integration, o.destination, o.due_at limit 1) n
)`;

const dueColumns = `d.integration, d.destination,
  (extract(epoch from greatest(d.due_at, r.paused_until, r.probe_at) - clock_timestamp()) * 1000)::float8 as "dueInMs",
  (extract(epoch from d.due_at - clock_timestamp()) * 1000)::float8 as "firstDueInMs",
  coalesce(r.state <> 'closed', false) as "isProbe"`;
const dueLimits = `left join remotes r on r.kind = 'destination' and r.name = d.destination`;

const nextDueOfFew = {
  name: 'outbox-next-due',
  text: `
    select ${dueColumns}
      from (select l.integration, l.destination, o.due_at
              from unnest($1::text[], $2::text[]) as l (integration, destination)
             cross join lateral (
                   select due_at from outbox o
                    where o.integration = l.integration and o.destination = l.destination
                      and o.due_at >= coalesce(now() - $3::float8 * interval '1 millisecond', '-infinity')
                      and o.due_at <= coalesce(now() + $4::float8 * interval '1 millisecond', 'infinity')
                    order by due_at limit 1) o) d ${dueLimits}`,
};

const ofAll = {
  name: 'outbox-next-due-of-all',
  text: `
    with recursive ${lanesWithWork(`
      o.due_at >= coalesce(now() - $1::float8 * interval '1 millisecond', '-infinity')
      and o.due_at <= coalesce(now() + $2::float8 * interval '1 millisecond', 'infinity')`)}
    select ${dueColumns} from d ${dueLimits}`,
};

export async function nextDueOfAll(pool: Pool, { sinceMs, withinMs }: DueBounds = {}): Promise<DueLane[]> {
  const { rows } = await pool.query<DueLane>({ ...ofAll, values: [sinceMs, withinMs] });
  return rows;
}

export async function nextDue(pool: Pool, lanes: readonly LaneKey[], bounds: DueBounds = {}): Promise<DueLane[]> {
  const { rows } = await pool.query<DueLane>({
    ...nextDueOfFew,
    values: [...columnsOf(lanes, 'integration', 'destination'), bounds.sinceMs, bounds.withinMs],
  });
  return rows;
}

export const countDue = (pool: Pool, lane: LaneKey, limit: number): Promise<number> =>
  numberOf(pool)(
    `select count(*)::int as due from (
       select from outbox where integration = $1 and destination = $2 and due_at <= now() limit $3) t`,
    [lane.integration, lane.destination, limit],
  );

export const readLanesWithWork = (db: Pool): Promise<LaneKey[]> =>
  rowsOf(db)(`with recursive ${lanesWithWork()} select integration, destination from d`);
