create table incidents (
  incident_id     text primary key,
  cause           text not null,
  started_at      timestamptz not null default now(),
  ended_at        timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  summary         jsonb
);
create unique index incidents_open on incidents (cause) where ended_at is null;
create index incidents_by_start on incidents (started_at);
alter table alerts add column incident_id text;
create index alerts_by_incident on alerts (incident_id);
comment on table incidents is 'Alerts of one cause: from the first that was raised until the last is resolved. The summary is written when it ends.';
