select n.integration, n.brand_id, n.night, n.currency, a.rooms as rooms_available, n.rooms_sold, n.room_revenue,
       n.room_revenue / nullif(n.rooms_sold, 0) as adr, n.room_revenue / nullif(a.rooms, 0) as revpar,
       u.rooms_sold as usali_rooms_sold, u.adr as usali_adr, u.revpar as usali_revpar
  from (
    select integration, brand_id, night, currency, sum(sold) as rooms_sold, sum(room_revenue) as room_revenue
      from {{ ref('stg_innbound__nights') }} group by 1, 2, 3, 4
  ) n
  left join {{ source('innbound', 'rooms_available') }} a on a.integration = n.integration and a.night = n.night
  left join {{ source('innbound', 'usali_by_night') }} u
    on u.integration = n.integration and u.night = n.night and u.currency is not distinct from n.currency
