-- additive
create table used_once (
  hash bytea primary key,
  until timestamptz not null
);
comment on table used_once is 'Hashes of what counts once, until it would be refused for its age: the state of a sign-in, the id of a logout token.';
