import type { CircuitSettings } from '../../deliver/circuit.ts';
import type { Pool } from '../db/pool.ts';

/** The circuits of destinations (deliver/circuit.ts has the states). A destination without a row is healthy. */

export async function noteOutage(
  pool: Pool,
  destination: string,
  code: string,
  { failuresToOpen, firstMs, mostMs }: CircuitSettings,
): Promise<{ isFirst: boolean; isOpen: boolean }> {
  const { rows } = await pool.query<{ isFirst: boolean; isOpen: boolean }>(
    `insert into destination_circuits as c (destination, last_failure) values ($1, $2)
         on conflict (destination) do update
        set failures = c.failures + 1, last_failure = excluded.last_failure,
            opened_at = case when c.failures + 1 >= $3 then coalesce(c.opened_at, now()) end,
            probe_at = case when c.failures + 1 >= $3
                            then now() + least($4::float8 * 2 ^ least(c.probes, 30), $5) * interval '1 ms' end
     returning failures = 1 as "isFirst", opened_at is not null as "isOpen"`,
    [destination, code, failuresToOpen, firstMs, mostMs],
  );
  return rows[0] ?? { isFirst: true, isOpen: false };
}

export async function noteSignOfLife(pool: Pool, destination: string): Promise<void> {
  await pool.query('delete from destination_circuits where destination = $1', [destination]);
}

/** If the node dies with the probe, another one may send the next when the lease is over. */
export async function takeProbe(pool: Pool, destination: string, leaseMs: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update destination_circuits set probes = probes + 1, probe_at = now() + $2 * interval '1 ms'
      where destination = $1 and opened_at is not null and probe_at <= now()`,
    [destination, leaseMs],
  );
  return rowCount === 1;
}

export async function releaseProbe(pool: Pool, destination: string): Promise<void> {
  await pool.query(
    'update destination_circuits set probes = probes - 1, probe_at = now() where destination = $1 and probes > 0',
    [destination],
  );
}
