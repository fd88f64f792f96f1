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
