select n.integration, n.brand_id, cast(date_trunc('month', n.night) as date) as month, n.channel, n.currency, sum(n.room_night) as room_nights,
       sum(n.room_revenue) as room_revenue, sum(n.room_revenue) * coalesce(max(c.percent), 0) / 100 as commission,
       sum(n.room_revenue) * (100 - coalesce(max(c.percent), 0)) / 100 as net_revenue
  from {{ ref('stg_innbound__nights') }} n left join {{ ref('commissions') }} c on lower(c.channel) = lower(n.channel)
 group by 1, 2, 3, 4, 5
