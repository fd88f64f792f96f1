import type pg from 'pg';
import { databaseName } from './cluster.ts';

/**
 * The role of the service owns the database and may do nothing else: a statement that should not run cannot start programs, read files or
 * change the server. The superuser only opens the session that starts, keeps and stops the server.
 */
export const serviceRole = 'innbound_service';

/** Creates the role at the first start. Tables of a data folder that the superuser filled before go to the role. */
export async function ensureRole(session: pg.Client): Promise<void> {
  await session.query(`
    do $$
    declare owned text;
    begin
      if exists (select from pg_roles where rolname = '${serviceRole}') then return; end if;
      perform pg_advisory_xact_lock(hashtext('${serviceRole}'));
      if exists (select from pg_roles where rolname = '${serviceRole}') then return; end if;
      create role ${serviceRole} login;
      -- To count connections, and to name the process that holds the workspace.
      grant pg_read_all_stats to ${serviceRole};
      alter database ${databaseName} owner to ${serviceRole};
      for owned in
        select format('schema %I', n.nspname) from pg_namespace n where n.nspname !~ '^(pg_|information_schema|public)'
        union all
        select format('table %s', c.oid::regclass) from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname !~ '^(pg_|information_schema)' and c.relkind in ('r', 'p', 'S', 'v')
           and not exists (select from pg_depend d where d.objid = c.oid and c.relkind = 'S' and d.deptype in ('a', 'i'))
        union all
        select format('function %s', p.oid::regprocedure) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname !~ '^(pg_|information_schema)'
      loop
        execute format('alter %s owner to ${serviceRole}', owned);
      end loop;
    end $$`);
}
