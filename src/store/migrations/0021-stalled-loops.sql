-- Loops of a node that make no progress, reported with its heartbeat.
alter table nodes add column stalled text[] not null default '{}';
