-- Guests are searched by last and first name together: among 90,000 guests of one last name, the first names were looked up in the records,
-- and of 10,000 of them only. The index also answers of which brand and type a key is, without reading the row.
delete from guest_keys where key >= 'last_name:' and key < 'last_name;';

insert into guest_keys (integration, type, id, key)
select distinct r.integration, r.type, r.id,
       'last_name:' || replace(replace(replace(replace(translate(
         regexp_replace(normalize(lower(left(g.last_name, 100) || coalesce(', ' || left(g.first_name, 60), '')), NFD), '[\u0300-\u036f]', '', 'g'),
         'łđøðıħ', 'ldodih'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
  from records r
 cross join lateral (
       select nullif(r.data ->> 'last_name', '') as last_name, nullif(r.data ->> 'first_name', '') as first_name where r.type = 'guest'
        union all
       select nullif(g ->> 'last_name', ''), nullif(g ->> 'first_name', '')
         from json_array_elements(case when r.type = 'reservation' then coalesce(r.data -> 'guests', '[]'::json) else '[]'::json end) g) g
 where r.version > 0 and g.last_name is not null;

create index guest_keys_by_name on guest_keys (key, id) include (integration, type);
drop index guest_keys_by_key;
alter index guest_keys_by_name rename to guest_keys_by_key;
