-- Last names are also found without their accents. The keys of records that are written from now on have both spellings.
insert into guest_keys (integration, type, id, key)
select distinct k.integration, k.type, k.id, f.key
  from guest_keys k
 cross join lateral (
       select replace(replace(replace(replace(translate(
                regexp_replace(normalize(k.key, NFD), '[\u0300-\u036f]', '', 'g'), 'łđøðıħ', 'ldodih'),
                'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th') as key) f
 where k.key >= 'last_name:' and k.key < 'last_name;' and k.key ~ '[^ -~]' and f.key <> k.key
   and not exists (select from guest_keys e where e.key = f.key and e.id = k.id and e.integration = k.integration
                      and e.type = k.type);
