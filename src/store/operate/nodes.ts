import type { Pool } from '../db/pool.ts';

export interface NodeRow {
  readonly node: string;
  readonly role: string;
  readonly url: string;
  readonly started_at: Date;
}

/** A node without a heartbeat for this long counts as gone. */
const forgottenAfter = `interval '1 minute'`;

export interface Heartbeat {
  readonly node: string;
  readonly role: string;
  readonly url: string;
  /** How far the node's clock is ahead of the database's; negative when it is behind. */
  readonly clockAheadMs: number;
  /** Loops of the node that make no progress. */
  readonly stalled: readonly string[];
  /** The ids of the keys that the node has, the sealing one first. */
  readonly keys: readonly string[];
  /** The version of the program. */
  readonly version?: string;
}

export async function seenNode(
  db: Pool,
  { node, role, url, clockAheadMs, stalled, keys, version }: Heartbeat,
): Promise<void> {
  await db.query(
    `insert into nodes (node, role, url, clock_ahead_ms, stalled, keys, version) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (node) do update
        set seen_at = now(), role = excluded.role, url = excluded.url, clock_ahead_ms = excluded.clock_ahead_ms,
            stalled = excluded.stalled, keys = excluded.keys, version = excluded.version`,
    [node, role, url, Math.round(clockAheadMs), stalled, keys, version ?? null],
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
export async function unmannedRoles(db: Pool): Promise<('web' | 'worker')[]> {
  const { rows } = await db.query<{ role: 'web' | 'worker' }>(
    `select role from unnest(array['web', 'worker']) as r (role)
      where exists (select from nodes where seen_at > now() - ${forgottenAfter} and started_at < now() - ${forgottenAfter})
        and not exists (select from nodes n where n.role in (r.role, 'all') and n.seen_at > now() - ${forgottenAfter})
        and not exists (select from marks m where m.name in ('stopped ' || r.role, 'stopped all') and m.at > now() - ${forgottenAfter})`,
  );
  return rows.map(({ role }) => role);
}

/** Newest first. */
export async function liveNodes(db: Pool): Promise<NodeRow[]> {
  const { rows } = await db.query<NodeRow>(
    `select node, role, url, started_at from nodes where seen_at > now() - ${forgottenAfter} order by started_at desc`,
  );
  return rows;
}

/** Nodes with loops that make no progress. */
export async function stalledNodes(db: Pool): Promise<{ readonly node: string; readonly loops: readonly string[] }[]> {
  const { rows } = await db.query<{ node: string; loops: string[] }>(
    `select node, stalled as loops from nodes
      where seen_at > now() - ${forgottenAfter} and stalled <> '{}' order by node`,
  );
  return rows;
}

/** The keys of every live node. */
export async function nodeKeys(db: Pool): Promise<{ readonly node: string; readonly keys: readonly string[] }[]> {
  const { rows } = await db.query<{ node: string; keys: string[] }>(
    `select node, keys from nodes where seen_at > now() - ${forgottenAfter} order by node`,
  );
  return rows;
}
