import { availableParallelism } from 'node:os';

/**
 * Passed on the command line at every start, so that a data folder never keeps the settings of an older version. For more tuning, use
 * your own PostgreSQL through DATABASE_URL.
 */
export function serverSettings(socketDir: string): readonly string[] {
  const settings: readonly (readonly [name: string, value: string])[] = [
    // A socket in a private folder; nothing on the network.
    ['listen_addresses', ''],
    ['unix_socket_directories', `"${socketDir.replaceAll('"', '""')}"`],
    ['unix_socket_permissions', '0700'],

    // Acknowledged means on disk.
    ['fsync', 'on'],
    ['full_page_writes', 'on'],
    ['synchronous_commit', 'on'],

    // A small server with many small transactions, beside the service on the same machine.
    ['max_connections', '200'],
    ['shared_buffers', '128MB'],
    ['work_mem', '8MB'],
    ['maintenance_work_mem', '64MB'],
    ['random_page_cost', '1.1'],
    ['jit', 'off'],
    // Parallel plans share memory through /dev/shm, of which containers have 64 MB.
    ['max_parallel_workers_per_gather', '0'],
    ['max_parallel_maintenance_workers', '0'],
    ['autovacuum_max_workers', String(Math.min(3, Math.max(1, availableParallelism() - 1)))],
    // Queue tables turn over thousands of rows: vacuum early.
    ['autovacuum_naptime', '15s'],
    ['autovacuum_vacuum_scale_factor', '0.05'],
    ['autovacuum_vacuum_cost_limit', '1000'],
    // All lookups are by key, so a small statistics sample plans as well. The default sample of 30,000 rows per growing table took 4 %
    // of a backfill's processor time (`npm run bench -- pull`, two cores).
    ['default_statistics_target', '20'],

    // There is no replica, so the WAL carries only what crash recovery needs.
    ['wal_level', 'minimal'],
    ['max_wal_senders', '0'],
    ['max_wal_size', '2GB'],
    ['checkpoint_timeout', '15min'],

    // Error messages can contain guest data: the log holds the server's own events only, without details.
    ['log_min_messages', 'log'],
    ['log_min_error_statement', 'panic'],
    ['log_error_verbosity', 'terse'],
    ['log_parameter_max_length', '0'],
    ['log_parameter_max_length_on_error', '0'],
    ['log_checkpoints', 'off'],
    ['log_autovacuum_min_duration', '-1'],

    ['timezone', 'UTC'],
    ['log_timezone', 'UTC'],
    ['cluster_name', 'innbound'],
  ];
  return settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
