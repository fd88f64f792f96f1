create table destination_circuits (
  destination   text primary key,
  failing_since timestamptz not null default now(),
  failures      int not null default 1,
  last_failure  text not null,
  record        text not null,
  several       boolean not null,
  opened_at     timestamptz,
  probes        int not null default 0,
  probe_at      timestamptz
);
comment on table destination_circuits is 'Destinations whose last calls all failed; a row goes away with the first sign of life.';
comment on column destination_circuits.failures is 'Failed calls since the last success, over all nodes.';
comment on column destination_circuits.several is 'Records other than this one failed too, or nobody could be reached: it is the destination, not the record.';
comment on column destination_circuits.opened_at is 'Since when nothing but probes is sent; null while the circuit is closed.';
comment on column destination_circuits.probe_at is 'When one node may send the next probe.';
