-- Each night as it stood on the day of `as_of`, and 7, 28 and 364 days before it.
select integration, brand_id, night, currency, sum(rooms_sold) as rooms_sold, sum(room_revenue) as room_revenue,
       coalesce(sum(rooms_sold) filter (where day <= {{ var('as_of') }} - 7), 0) as rooms_sold_7_days_ago,
       coalesce(sum(room_revenue) filter (where day <= {{ var('as_of') }} - 7), 0) as room_revenue_7_days_ago,
       coalesce(sum(rooms_sold) filter (where day <= {{ var('as_of') }} - 28), 0) as rooms_sold_28_days_ago,
       coalesce(sum(room_revenue) filter (where day <= {{ var('as_of') }} - 28), 0) as room_revenue_28_days_ago,
       coalesce(sum(rooms_sold) filter (where day <= {{ var('as_of') }} - 364), 0) as rooms_sold_364_days_ago,
       coalesce(sum(room_revenue) filter (where day <= {{ var('as_of') }} - 364), 0) as room_revenue_364_days_ago
  from {{ ref('stg_innbound__booking_moves') }}
 where day <= {{ var('as_of') }} group by 1, 2, 3, 4
