import type { CallHealth, CircuitSettings } from '../../deliver/circuit.ts';
import type { Pool } from '../db/pool.ts';

/** The circuits of destinations (deliver/circuit.ts has the states). A destination without a row is healthy. */

export async function noteFailure(
  pool: Pool,
  destination: string,
  { code, unreachable, records }: CallHealth & { kind: 'failed' },
  { failuresToOpen, firstMs, mostMs }: CircuitSettings,
): Promise<{ usesTry: boolean; isOpen: boolean }> {
  const { rows } = await pool.query<{ usesTry: boolean; isOpen: boolean }>(
    `insert into destination_circuits as c (destination, last_failure, record, several)
     values ($1, $2, ($3::text[])[1], $4 or cardinality($3) > 1)
         on conflict (destination) do update
        set failures = c.failures + 1, last_failure = excluded.last_failure, several = ${several},
            opened_at = case when ${several} and c.failures + 1 >= $5 then coalesce(c.opened_at, now()) end,
            probe_at = case when ${several} and c.failures + 1 >= $5
                            then now() + least($6::float8 * 2 ^ least(c.probes, 30), $7) * interval '1 ms' end
     returning failures = 1 or not several as "usesTry", opened_at is not null as "isOpen"`,
    [destination, code, records, unreachable, failuresToOpen, firstMs, mostMs],
  );
  return rows[0] ?? { usesTry: true, isOpen: false };
}

const several = '(c.several or excluded.several or c.record <> excluded.record)';

export async function noteSignOfLife(pool: Pool, destination: string): Promise<void> {
  await pool.query('delete from destination_circuits where destination = $1', [destination]);
}

/** If the node dies during the probe, another node may send the next one when the lease is over. */
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

/** Lets an open circuit be probed at once, and the cooldown begin again. */
export async function probeDestinations(pool: Pool, destinations: readonly string[]): Promise<void> {
  await pool.query(
    'update destination_circuits set probes = 0, probe_at = now() where destination = any($1) and opened_at is not null',
    [destinations],
  );
}
