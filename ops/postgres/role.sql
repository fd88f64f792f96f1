-- The role of the service owns its database and is not a superuser: psql ADMIN_URL -f role.sql, with its password in INNBOUND_PASSWORD.
-- The image of PostgreSQL runs it when it creates its data folder (ops/compose.yaml).
\set ON_ERROR_STOP on
\getenv password INNBOUND_PASSWORD
select format('create role innbound login password %L', :'password')
 where not exists (select from pg_roles where rolname = 'innbound') \gexec
-- The administrator of a managed service, who is not a superuser, must be a member to give the database away.
grant innbound to current_user;
select 'create database innbound owner innbound' where not exists (select from pg_database where datname = 'innbound') \gexec
