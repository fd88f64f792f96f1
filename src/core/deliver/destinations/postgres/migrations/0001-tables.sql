-- Run with search_path on the schema of the destination. Every column but the keys may be null: a destination can be set to
-- leave fields out.

create table reservations (
  integration         text not null,
  id                  text not null,
  brand_id            text not null,
  epoch               int  not null default 1,
  version             int  not null,
  event               text not null,
  idempotency_key     text not null,
  changed_at          timestamptz not null,
  loaded_at           timestamptz not null default now(),
  removed_at          timestamptz,
  confirmation_number text,
  check_in            date,
  check_out           date,
  booking_date        date,
  status              text,
  status_raw          text,
  cancelled_at        date,
  channel             text,
  source              text,
  segment             text,
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
comment on column reservations.event is 'What the newest change was: created, updated, cancelled, erased or removed.';
comment on column reservations.epoch is 'Outranks the version. Rises when the store of Innbound was restored from an older backup, after which versions repeat.';
comment on column reservations.removed_at is 'When the reservation left: a rule drops it, the filter no longer matches, or the brand no longer delivers here. Only its keys are kept.';
comment on column reservations.cancelled_at is 'Day of the cancellation, where the partner says it.';
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
  extra             jsonb,
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
comment on column guests.extra is 'Further fields of the guest that the connector maps, such as a loyalty number.';

create table rooms (
  integration    text not null,
  reservation_id text not null,
  position       int  not null,
  room_type      text,
  board          text,
  rate_code      text,
  room_kind      text,
  share_id       text,
  start_date     date,
  end_date       date,
  adults         int,
  children       int,
  primary key (integration, reservation_id, position)
);
comment on table rooms is 'The rooms (stays) of each reservation.';
comment on column rooms.room_kind is 'room, pseudo (a room that does not exist) or house (a house account or house use); null is a room.';
comment on column rooms.share_id is 'The same for all reservations that share one room.';

create table charges (
  integration    text not null,
  reservation_id text not null,
  position       int  not null,
  code           text,
  description    text,
  amount         numeric,
  charge_kind    text,
  charge_date    date,
  tax_amount     numeric,
  quantity       int,
  primary key (integration, reservation_id, position)
);
comment on table charges is 'The charges of each reservation, in the currency of the reservation.';
comment on column charges.amount is 'Exact; with the tax that it contains.';
comment on column charges.charge_kind is 'room for the price of the room.';

create table guest_profiles (
  integration       text not null,
  id                text not null,
  brand_id          text not null,
  epoch             int  not null default 1,
  version           int  not null,
  event             text not null,
  idempotency_key   text not null,
  changed_at        timestamptz not null,
  loaded_at         timestamptz not null default now(),
  removed_at        timestamptz,
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
  extra             jsonb,
  primary key (integration, id)
);
comment on table guest_profiles is 'One row per guest of a brand, put together from reservations and guest updates; filled where the destination receives guests. Personal data.';

create table reservation_versions (
  integration         text not null,
  id                  text not null,
  brand_id            text not null,
  epoch               int  not null,
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
  cancelled_at        date,
  channel             text,
  source              text,
  segment             text,
  total_amount        numeric,
  currency            text,
  stated_at           timestamptz not null,
  guest_count         int  not null,
  room_count          int  not null,
  rooms               jsonb,
  charges             jsonb,
  primary key (integration, id, epoch, version)
);
comment on table reservation_versions is 'Every version of every reservation, as it was. No personal data: guests are only counted.';
comment on column reservation_versions.version is 'Rises by one with every change of the reservation.';
comment on column reservation_versions.event is 'Why there is this version: created, updated, cancelled, erased or removed.';
comment on column reservation_versions.changed_at is 'When the change was taken in.';
comment on column reservation_versions.stated_at is 'When the partner said so: the timestamp of an event, the request of a list. An event that arrives late counts on its own day.';
comment on column reservation_versions.rooms is 'Its rooms at that time; the view version_rooms has a row for each.';
comment on column reservation_versions.charges is 'Its charges of the kind room at that time, without their text; the view version_charges has a row for each.';
create index reservation_versions_changed_at on reservation_versions (changed_at);

create view version_rooms as
select v.integration, v.id, v.epoch, v.version, m.*
  from reservation_versions v cross join lateral (
    select (n - 1)::int as position, room_type, board, rate_code, room_kind, share_id, start_date, end_date, adults, children
      from rows from (jsonb_to_recordset(v.rooms) as (room_type text, board text, rate_code text, room_kind text, share_id text,
                                                      start_date date, end_date date, adults int, children int))
           with ordinality as t (room_type, board, rate_code, room_kind, share_id, start_date, end_date, adults, children, n)
  ) m;
comment on view version_rooms is 'One row per room of every version of every reservation.';

create view version_charges as
select v.integration, v.id, v.epoch, v.version, m.*
  from reservation_versions v
 cross join lateral jsonb_to_recordset(v.charges) as m (charge_date date, amount numeric, tax_amount numeric);
comment on view version_charges is 'One row per charge of the kind room of every version of every reservation.';

create table brands (
  integration    text primary key,
  brand_id       text not null,
  timezone       text not null,
  country        text,
  capacity_from  date[] not null,
  capacity_rooms int[]  not null
);
comment on table brands is 'One row per brand, from its integration document.';
comment on column brands.capacity_from is 'From which night on the hotel has as many rooms to sell as capacity_rooms says at the same place; the view rooms_available has a row per night.';

create function spread(total numeric, i bigint, n bigint, units int) returns numeric language sql immutable
  return case when i = n then total else div(floor(total * units) * i, n) * case units when 1 then 1 when 1000 then 0.001 else 0.01 end end
         - case when i = 1 then 0 else div(floor(total * units) * (i - 1), n) * case units when 1 then 1 when 1000 then 0.001 else 0.01 end end;
comment on function spread is 'The part i of n of an amount, in whole cents (units: how many make one); all parts together are the amount.';
