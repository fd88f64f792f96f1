-- additive

-- The bookings whose guest list a profile comes from. A booking finds its guests' profiles again after their address changed, and a guest's
-- stays are found without a search.
create table profile_bookings (
  integration text not null,
  reservation_id text not null,
  profile_id text not null,
  primary key (integration, reservation_id, profile_id)
);
-- The stays of one guest.
create index profile_bookings_of_profile on profile_bookings (integration, profile_id);

-- Pairs of profiles that may be one person: open until an operator merges them or says that they are two.
create table profile_pairs (
  integration text not null,
  one text not null,
  other text not null check (one < other),
  evidence text not null check (evidence in ('shared_address', 'other_last_name')),
  found_at timestamptz not null default now(),
  different_since timestamptz,
  primary key (integration, one, other)
);
-- The newest open pairs of a brand.
create index profile_pairs_open on profile_pairs (integration, found_at desc) where different_since is null;

alter table jobs drop constraint jobs_operation_check;
alter table jobs add constraint jobs_operation_check check (operation in ('replay', 'resend', 'reprocess', 'check_profiles'));
