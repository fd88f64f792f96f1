-- Fails the statement, and with it the transaction, if another node holds the run. The commit is sent together with that statement,
-- so the check has to happen in the database.
create function require_held_run(moved_rows bigint) returns void language plpgsql immutable as $$
begin
  if moved_rows <> 1 then
    raise exception 'the run is held by another node, or has moved on' using errcode = 'IB001';
  end if;
end $$;
