create table jobs (
  job_id       text primary key,
  operation    text not null check (operation in ('replay', 'resend', 'reprocess')),
  integrations text[],
  request      jsonb not null,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  state        text not null default 'queued' check (state in ('queued', 'running', 'done', 'stopped', 'failed')),
  total        int not null,
  done         int not null default 0,
  counts       jsonb not null default '{}',
  position     jsonb,
  stepped_at   timestamptz,
  leased_until timestamptz,
  fence        int not null default 0,
  failures     int not null default 0,
  finished_at  timestamptz,
  stopped_by   text,
  code         text,
  message      text
);
create index jobs_to_do on jobs (stepped_at nulls first, job_id) where state in ('queued', 'running');
comment on table jobs is 'Operations on many records that an operator started. Any worker does the next step and stores how far it has come. Requests hold ids and names; no guest data.';
