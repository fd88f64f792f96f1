-- A replaced key opens until everything is sealed with the next one. Then it is retired, and nothing may be sealed with it any more: a
-- process that missed the rotation gets an error instead of storing a value that nobody can open.
create table replaced_keys (
  key_id      text primary key,
  replaced_by text not null,
  replaced_at timestamptz not null default now(),
  retired_at  timestamptz
);
comment on table replaced_keys is 'Ids of the keys that a rotation replaced; the keys themselves are not in the database.';

-- Byte 1 of a sealed value is its format, bytes 2 to 9 are the id of its key. The arguments name the columns.
create function refuse_retired_key() returns trigger language plpgsql as $$
declare
  col text;
  retired boolean;
begin
  foreach col in array tg_argv loop
    execute format('select exists (select from %I.replaced_keys where key_id = $1 and retired_at is not null)', tg_table_schema)
       into retired using substr(to_jsonb(new) ->> col, 5, 16);
    if retired then
      raise exception 'the value is sealed with the key %, which was replaced: restart this process with the new key',
        substr(to_jsonb(new) ->> col, 5, 16) using errcode = 'IB002';
    end if;
  end loop;
  return new;
end
$$;

create trigger refuse_retired_key before insert or update of sealed on secrets
  for each row execute function refuse_retired_key('sealed');
create trigger refuse_retired_key before insert or update of sealed on endpoint_secrets
  for each row execute function refuse_retired_key('sealed');
create trigger refuse_retired_key before insert or update of access, refresh on partner_tokens
  for each row execute function refuse_retired_key('access', 'refresh');
create trigger refuse_retired_key before insert or update of verifier on consents
  for each row execute function refuse_retired_key('verifier');

-- The ids of the keys that a node has, the sealing one first. Empty for versions that cannot rotate.
alter table nodes add column keys text[] not null default '{}';
