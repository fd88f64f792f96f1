import { columnOf, type Pool, rowsOf } from '../../core/store/db/pool.ts';
import type { NodeFacts } from '../watch/diagnosis.ts';

interface NodeRow extends NodeFacts {
  readonly role: string;
  readonly url: string;
  readonly started_at: Date;
  /** The ids of its keys, the sealing one first. */
  readonly keys: readonly string[];
  /** Documents that it could not take up when it started. */
  readonly broken: readonly { readonly document: string; readonly message: string }[];
}

/** A node without a heartbeat for this long counts as gone. */
const forgottenAfter = `interval '1 minute'`;

/** The heartbeat of a node. */
export async function seenNode(
  db: Pool,
  { node, role, url, clockAheadMs, stalled, keys, version, broken }: Omit<NodeRow, 'started_at'>,
): Promise<void> {
  await db.query(
    `insert into nodes (node, role, url, clock_ahead_ms, stalled, keys, version, broken)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (node) do update
        set seen_at = now(), role = excluded.role, url = excluded.url, clock_ahead_ms = excluded.clock_ahead_ms,
            stalled = excluded.stalled, keys = excluded.keys, version = excluded.version,
            broken = excluded.broken`,
    [node, role, url, Math.round(clockAheadMs ?? 0), stalled, keys, version, JSON.stringify(broken)],
  );
  await db.query(`delete from nodes where seen_at < now() - ${forgottenAfter}`);
}

/** Its role stays taken for a minute: the node may only be restarting. */
export async function forgetNode(db: Pool, node: string): Promise<void> {
  await db.query(
    `with gone as (delete from nodes where node = $1 returning role)
     insert into marks (name, at) select 'stopped ' || role, now() from gone on conflict (name) do update set at = now()`,
    [node],
  );
}

/** The roles that no node has had for a minute, although others run and had that long to start. */
export const unmannedRoles = (db: Pool): Promise<('web' | 'worker')[]> =>
  columnOf(db)(
    `select role from unnest(array['web', 'worker']) as r (role)
      where exists (select from nodes where seen_at > now() - ${forgottenAfter} and started_at < now() - ${forgottenAfter})
        and not exists (select from nodes n where n.role in (r.role, 'all') and n.seen_at > now() - ${forgottenAfter})
        and not exists (select from marks m where m.name in ('stopped ' || r.role, 'stopped all') and m.at > now() - ${forgottenAfter})`,
  );

/** The running nodes, newest first. */
export const liveNodes = (db: Pool): Promise<NodeRow[]> =>
  rowsOf(db)(
    `select node, role, url, started_at, version, clock_ahead_ms as "clockAheadMs", stalled, keys, broken from nodes
      where seen_at > now() - ${forgottenAfter} order by started_at desc`,
  );
