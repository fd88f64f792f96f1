import type { Pool } from '../db/pool.ts';

/**
 * Ends the leases that a killed service left behind, so that its work continues at once instead of when they expire. Only for a
 * service on the private server, which allows one service at a time. While a command is running, nothing is ended, because some
 * leases may belong to the command.
 */
export async function endAbandonedLeases(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ commands: number }>(
    `select count(*)::int as commands from pg_stat_activity
      where datname = current_database() and application_name like 'innbound command %'`,
  );
  if ((rows[0]?.commands ?? 0) > 0) return 0;
  const deliveries = await pool.query('update outbox set due_at = now() where leased and due_at > now()');
  const runs = await pool.query(
    `update runs set due_at = now() where state = 'running' and waiting is null and due_at > now()`,
  );
  const alerts = await pool.query('update alert_sends set due_at = now() where leased and due_at > now()');
  return (deliveries.rowCount ?? 0) + (runs.rowCount ?? 0) + (alerts.rowCount ?? 0);
}
