select integration, brand_id, reservation_id, room, night, channel, segment, room_type, currency, sold, complimentary, room_night, room_revenue, amount
  from {{ source('innbound', 'nights') }}
 where on_books
