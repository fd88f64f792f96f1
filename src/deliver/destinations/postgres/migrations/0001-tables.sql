-- Run with search_path on the schema of the destination. Every column but the keys may be null: a destination can be set to
-- leave fields out.

create table reservations (
  integration         text not null,
  id                  text not null,
  brand_id            text not null,
  version             int  not null,
  event               text not null,
  idempotency_key     text not null,
  changed_at          timestamptz not null,
  loaded_at           timestamptz not null default now(),
  confirmation_number text,
  check_in            date,
  check_out           date,
  booking_date        date,
  status              text,
  status_raw          text,
  channel             text,
  source              text,
  total_amount        numeric,
  currency            text,
  extra               jsonb,
  primary key (integration, id)
);
comment on table reservations is 'One row per reservation: its newest version.';
comment on column reservations.integration is 'The brand integration that the reservation came through.';
comment on column reservations.id is 'The identifier of the reservation in the property management system.';
comment on column reservations.brand_id is 'The identifier of the brand or property, as its partner names it.';
comment on column reservations.version is 'Rises by one with every change of the reservation; an older version never replaces a newer one.';
comment on column reservations.event is 'What the newest change was: created, updated, cancelled or erased.';
comment on column reservations.idempotency_key is 'Names the change that made this version.';
comment on column reservations.changed_at is 'When the change was taken in.';
comment on column reservations.loaded_at is 'When this row was written.';
comment on column reservations.check_in is 'First day of the stay, in the calendar of the hotel.';
comment on column reservations.check_out is 'Last day of the stay, in the calendar of the hotel.';
comment on column reservations.status is 'confirmed, checked_in, checked_out, cancelled, no_show or other.';
comment on column reservations.status_raw is 'The spelling of the partner, where the status is other.';
comment on column reservations.total_amount is 'The amount of the whole reservation, exact, in the currency beside it.';
comment on column reservations.currency is 'ISO 4217.';
comment on column reservations.extra is 'Further fields of the partner that the connector maps.';
create index reservations_check_in on reservations (check_in);

create table guests (
  integration       text not null,
  reservation_id    text not null,
  position          int  not null,
  guest_id          text,
  first_name        text,
  last_name         text,
  email             text,
  email_raw         text,
  email_proxy       boolean,
  phone             text,
  phone_raw         text,
  date_of_birth     date,
  nationality       text,
  document_type     text,
  document_number   text,
  marketing_consent boolean,
  primary key (integration, reservation_id, position)
);
comment on table guests is 'The guests of each reservation, in the order of the partner. Personal data.';
comment on column guests.position is 'From 0; the first guest is usually the one who booked.';
comment on column guests.guest_id is 'The identifier of the guest at the partner, where it has one.';
comment on column guests.email_raw is 'What was sent, where it is no valid address.';
comment on column guests.email_proxy is 'True for an alias made up by a booking site.';
comment on column guests.phone is 'E.164.';
comment on column guests.phone_raw is 'What was sent, where it is no possible number.';
comment on column guests.nationality is 'ISO 3166-1 alpha-2.';
comment on column guests.marketing_consent is 'Null where the partner does not say.';

create table rooms (
  integration    text not null,
  reservation_id text not null,
  position       int  not null,
  room_type      text,
  board          text,
  rate_code      text,
  start_date     date,
  end_date       date,
  adults         int,
  children       int,
  primary key (integration, reservation_id, position)
);
comment on table rooms is 'The rooms (stays) of each reservation.';

create table charges (
  integration    text not null,
  reservation_id text not null,
  position       int  not null,
  code           text,
  description    text,
  amount         numeric,
  quantity       int,
  primary key (integration, reservation_id, position)
);
comment on table charges is 'The charges of each reservation, in the currency of the reservation.';
comment on column charges.amount is 'Exact.';

create table guest_profiles (
  integration       text not null,
  id                text not null,
  brand_id          text not null,
  version           int  not null,
  event             text not null,
  idempotency_key   text not null,
  changed_at        timestamptz not null,
  loaded_at         timestamptz not null default now(),
  guest_id          text,
  first_name        text,
  last_name         text,
  email             text,
  email_raw         text,
  email_proxy       boolean,
  phone             text,
  phone_raw         text,
  date_of_birth     date,
  nationality       text,
  document_type     text,
  document_number   text,
  marketing_consent boolean,
  primary key (integration, id)
);
comment on table guest_profiles is 'One row per guest of a brand, put together from reservations and guest updates; filled where the destination receives guests. Personal data.';

create view arrivals_by_day as
  select integration, brand_id, check_in as day, count(*) as reservations,
         sum((select count(*) from rooms m where m.integration = r.integration and m.reservation_id = r.id)) as rooms,
         sum((select coalesce(sum(coalesce(m.adults, 0) + coalesce(m.children, 0)), 0) from rooms m
               where m.integration = r.integration and m.reservation_id = r.id)) as people
    from reservations r
   where status in ('confirmed', 'checked_in', 'checked_out') and check_in is not null
   group by integration, brand_id, check_in;
comment on view arrivals_by_day is 'How many reservations, rooms and people arrive on each day; cancelled ones and no-shows are not counted.';

create view guests_with_stays as
  select g.integration, r.brand_id, coalesce(g.guest_id, g.email, g.phone) as guest,
         max(g.first_name) as first_name, max(g.last_name) as last_name, max(g.email) as email, max(g.phone) as phone,
         count(distinct r.id) as stays,
         sum(greatest(r.check_out - r.check_in, 0)) as nights,
         min(r.check_in) as first_check_in, max(r.check_out) as last_check_out
    from guests g
    join reservations r on r.integration = g.integration and r.id = g.reservation_id
   where r.status in ('confirmed', 'checked_in', 'checked_out')
     and coalesce(g.guest_id, g.email, g.phone) is not null
     and g.email_proxy is not true
   group by g.integration, r.brand_id, coalesce(g.guest_id, g.email, g.phone);
comment on view guests_with_stays is 'Each guest that can be told apart, with stays and nights. Aliases made up by booking sites are left out: they stand for no person.';
