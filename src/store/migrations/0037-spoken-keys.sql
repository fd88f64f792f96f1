-- Reservations are also found by their arrival and by further fields that look like a number somebody may read out. Records that are
-- written from now on get these keys with their others.
insert into guest_keys (integration, type, id, key)
select r.integration, r.type, r.id, 'check_in:' || (r.data ->> 'check_in')
  from records r
 where r.type = 'reservation' and r.version > 0 and r.data ->> 'check_in' is not null;

insert into guest_keys (integration, type, id, key)
select distinct r.integration, r.type, r.id, 'extra:' || lower(btrim(e.value))
  from records r
 cross join lateral (
       select value from json_each_text(coalesce(r.data -> 'extra', '{}')::json)
        union all
       select f.value from json_array_elements(coalesce(r.data -> 'guests', '[]')::json) g
        cross join lateral json_each_text(coalesce(g -> 'extra', '{}')::json) f) e
 where r.version > 0 and btrim(e.value) ~ '^(?=.*\d)(?!\d{4}-\d{2}-\d{2})[^\s:]{2,40}$';
