create table unlisted (
  integration text not null,
  id          text not null,
  sync        text not null,
  since       timestamptz not null,
  run_id      text not null,
  answer      text check (answer in ('present', 'absent')),
  asked_at    timestamptz,
  primary key (integration, id)
);
comment on table unlisted is 'Reservations that a complete run no longer found in a list that should show them, and what the partner answered when asked for one by its id.';
create index pulled_by_arrival on pulled (integration, check_in);
