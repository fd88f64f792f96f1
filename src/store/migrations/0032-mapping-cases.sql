create table mapping_cases (
  connector text not null,
  name      text not null,
  sample    text not null,
  push      boolean not null,
  timezone  text,
  country   text,
  expected  jsonb not null,
  saved_at  timestamptz not null default now(),
  saved_by  text not null,
  primary key (connector, name)
);
comment on table mapping_cases is 'Samples that an operator kept with the records they became: a changed mapping is compared with them. They hold guest data; an erasure deletes those that name the person.';
