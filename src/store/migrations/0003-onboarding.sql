-- additive: a new table; 0.2.0 neither reads nor writes it.
create table onboarding_links (
  integration text not null,
  link_id text not null,
  hash bytea not null,
  browsers bytea[] not null default '{}',
  many_browsers boolean not null default false,
  partner text not null,
  language text not null,
  asks text[] not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  ready_at timestamptz,
  live_at timestamptz,
  secret_at timestamptz,
  connector_version int not null default 0,
  push_facts jsonb,
  pull_facts jsonb,
  comments jsonb not null default '[]',
  primary key (integration, link_id),
  unique (link_id),
  unique (hash)
);
comment on table onboarding_links is 'Links with which a partner connects one brand. Only hashes of the link and of the browsers that opened it. The facts are counts, ids and dates of what arrived, no guest data; the comments are those of partner and operator.';
comment on column onboarding_links.connector_version is 'The connector''s version when the link was made, so that an operator sees what the partner''s answers changed.';
