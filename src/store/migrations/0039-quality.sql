create table quality (
  integration text not null,
  day         date not null,
  counts      jsonb not null,
  counted_at  timestamptz not null default now(),
  primary key (integration, day)
);
comment on table quality is 'How complete the reservations were that a brand sent or changed on each day (UTC). Counts only.';
