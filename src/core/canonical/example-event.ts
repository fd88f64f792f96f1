/** A correct event of an invented booking, as a partner would send it. */
export function exampleEvent(brandId: string, now: number) {
  const day = (days: number) => new Date(now + days * 86_400_000).toISOString().slice(0, 10);
  return {
    event_id: 'evt-1',
    event: 'reservation.created',
    timestamp: new Date(now).toISOString(),
    brand_id: brandId,
    data: {
      reservation_id: 'SAMPLE-1',
      confirmation_number: 'SAMPLE-1',
      check_in: day(14),
      check_out: day(17),
      status: 'confirmed',
      guests: [{ first_name: 'Ada', last_name: 'Example', email: 'ada@mail.example', phone: '+351 21 000 0000' }],
      stays: [{ room_type: 'Double', board_type: 'BB', adults: 2, children: 0 }],
    },
  };
}
