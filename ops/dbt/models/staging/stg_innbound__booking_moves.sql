select integration, brand_id, night, day, segment, channel, room_type, currency, rooms_sold, room_nights, arrivals, room_revenue
  from {{ source('innbound', 'booking_curve') }}
