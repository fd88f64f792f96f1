alter table nodes add column version text;
comment on column nodes.version is 'The version that the node runs, for operators during an upgrade.';
