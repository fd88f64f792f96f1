-- What erased guests were known by leaves the history, where it was in clear. An erasure that a destination has not confirmed yet loses it
-- with this migration: its receipt stays open, and the guest has to be erased there by hand.
alter table changes drop column erased;
create table erased_identifiers (
  integration text not null,
  type        text not null,
  id          text not null,
  version     int not null,
  sealed      bytea not null,
  at          timestamptz not null default now(),
  primary key (integration, id, type, version)
);
comment on table erased_identifiers is 'Of an erasure: what the guests were known by, sealed, for destinations that find them by it. Deleted when these have confirmed it, or have not for too long.';
create trigger refuse_retired_key before insert or update of sealed on erased_identifiers
  for each row execute function refuse_retired_key('sealed');
