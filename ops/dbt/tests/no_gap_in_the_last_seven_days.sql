-- Fails for a brand of which the last seven nights were not all asked for by complete runs. Brands without pulls have no such nights.
select integration, complete_from, complete_until
  from {{ source('innbound_warehouse', 'brands') }}
 where complete_from is not null
   and (complete_from > {{ dbt.dateadd('day', -7, var('as_of')) }} or (complete_until is not null and complete_until < {{ dbt.dateadd('day', -1, var('as_of')) }}))
