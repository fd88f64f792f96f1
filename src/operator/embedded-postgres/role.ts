import type pg from 'pg';
import { databaseName } from './cluster.ts';

/**
 * The role of the service owns the database and may do nothing else: a statement that should not run cannot start programs, read files or
 * change the server. The superuser only opens the session that starts, keeps and stops the server.
 */
export const serviceRole = 'innbound_service';

/** Creates the role at the first start. */
export async function ensureRole(session: pg.Client): Promise<void> {
  await session.query(`
    do $$
    begin
      if exists (select from pg_roles where rolname = '${serviceRole}') then return; end if;
      perform pg_advisory_xact_lock(hashtext('${serviceRole}'));
      if exists (select from pg_roles where rolname = '${serviceRole}') then return; end if;
      create role ${serviceRole} login;
      -- To count connections, and to name the process that holds the workspace.
      grant pg_read_all_stats to ${serviceRole};
      alter database ${databaseName} owner to ${serviceRole};
    end $$`);
}
