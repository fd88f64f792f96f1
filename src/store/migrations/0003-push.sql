create table rejections (
  integration  text not null,
  rejection_id bigint generated always as identity,
  endpoint_id  text not null,
  at           timestamptz not null,
  status       int  not null,
  code         text not null,
  reason       text not null,
  request_id   text not null,
  header_names text[] not null,
  body_bytes   int  not null,
  address      text not null,
  primary key (integration, rejection_id)
);
create index rejections_by_time on rejections (integration, at desc);
comment on table rejections is 'The last webhooks that were refused, and why; names of headers, nothing of the payload. Requests at unknown addresses have the integration ''''.';

create table rejection_counts (
  integration text not null,
  endpoint_id text not null,
  code        text not null,
  reason      text not null,
  hour        timestamptz not null,
  count       bigint not null,
  primary key (integration, endpoint_id, code, reason, hour)
);

create table sandbox_reports (
  integration text not null,
  report_id   text not null,
  endpoint_id text not null,
  at          timestamptz not null default now(),
  report      jsonb not null,
  primary key (integration, report_id)
);
create index sandbox_reports_by_endpoint on sandbox_reports (endpoint_id, at desc);
comment on table sandbox_reports is 'What a sandbox endpoint answered, for the partner''s developer. May hold what the developer sent.';

alter table events
  add column hydrated bytea,
  add column hydrated_at timestamptz,
  drop constraint events_state_check,
  add constraint events_state_check check (state in ('pending', 'hydrate', 'waiting', 'done', 'dead'));
create index events_waiting on events (due_at) where state in ('hydrate', 'waiting');
comment on column events.hydrated is 'The reservation as the partner''s API gave it, for an event that only named it.';

create table guest_keys (
  integration text not null,
  key         text not null,
  type        text not null,
  id          text not null,
  primary key (integration, key, type, id)
);
comment on table guest_keys is 'By which guest_id, e-mail and phone a profile or a reservation is found. Kept by triggers, so that it is right whoever writes records; when a guest is erased from a record, the keys go with it.';

create function guest_keys_of(type text, data jsonb) returns setof text
language sql immutable parallel safe
as $$
  select keys.kind || ':' || keys.value
    from jsonb_array_elements(case when type = 'guest' then jsonb_build_array(data) else data -> 'guests' end) as guests (guest),
         lateral (values ('guest_id', guest ->> 'guest_id'),
                         ('email', case when guest -> 'email_proxy' = 'true' then null else guest ->> 'email' end),
                         ('phone', guest ->> 'phone')) as keys (kind, value)
   where keys.value <> ''
$$;

-- Per statement, not per row: a batch of 200 records is one call. A GIN index over the guests was the alternative; with it no
-- update of a record could stay on its page (HOT), since data, which always changes, would be an indexed column.
--
-- The keys are gathered in arrays first: of the tables of a trigger the planner knows no sizes, and would read all of guest_keys
-- to delete two rows of it.
create function keep_guest_keys() returns trigger language plpgsql as $$
declare
  gone guest_keys[];
  come guest_keys[];
begin
  with changed as materialized (
    select n.integration, n.type, n.id, o.data as was, n.data as now
      from after n join before o on o.integration = n.integration and o.type = n.type and o.id = n.id
     where o.data is distinct from n.data
  ), was as materialized (
    select c.integration, key, c.type, c.id from changed c, guest_keys_of(c.type, c.was) as key
  ), now as materialized (
    select c.integration, key, c.type, c.id from changed c, guest_keys_of(c.type, c.now) as key
  )
  select (select array_agg(g::guest_keys) from (table was except table now) g),
         (select array_agg(c::guest_keys order by c) from (table now except table was) c)
    into gone, come;
  if gone is not null then
    delete from guest_keys k using unnest(gone) g
     where k.integration = g.integration and k.key = g.key and k.type = g.type and k.id = g.id;
  end if;
  if come is not null then
    insert into guest_keys select * from unnest(come) on conflict do nothing;
  end if;
  return null;
end $$;
create trigger keep_guest_keys after update on records
  referencing old table as before new table as after
  for each statement execute function keep_guest_keys();

create function add_guest_keys() returns trigger language plpgsql as $$
begin
  insert into guest_keys (integration, key, type, id)
  select n.integration, key, n.type, n.id from after n, guest_keys_of(n.type, n.data) as key
   order by 1, 2, 3, 4
      on conflict do nothing;
  return null;
end $$;
create trigger add_guest_keys after insert on records
  referencing new table as after
  for each statement execute function add_guest_keys();

create function drop_guest_keys() returns trigger language plpgsql as $$
begin
  delete from guest_keys k using before o
   where k.integration = o.integration and k.type = o.type and k.id = o.id
     and k.key in (select key from guest_keys_of(o.type, o.data) as key);
  return null;
end $$;
create trigger drop_guest_keys after delete on records
  referencing old table as before
  for each statement execute function drop_guest_keys();

create index events_thin on events (integration, id) where state = 'hydrate';
