alter table erasures
  add column progress   jsonb,
  add column seen_at    timestamptz not null default now(),
  add column stopped_by text,
  add column stopped_at timestamptz;
comment on column erasures.seen_at is 'Renewed every second while the erasure runs: one that ended without a result shows here.';
comment on column erasures.stopped_by is 'Who asked to stop it. stopped_at is set when it did stop; one that was finished first stays finished.';
