select integration, brand_id, cast(date_trunc('month', night) as date) as month, currency, sum(rooms_available) as rooms_available,
       sum(rooms_sold) as rooms_sold, sum(room_revenue) as room_revenue, sum(room_revenue) / nullif(sum(rooms_sold), 0) as adr,
       sum(room_revenue) / nullif(sum(rooms_available), 0) as revpar
  from {{ ref('daily_performance') }} group by 1, 2, 3, 4
