import { z } from 'zod';
import { roomsAvailable } from '../../composition/deliver.ts';
import { readHotel } from '../../store/records/hotel-report.ts';
import { type Api, instant, ok, type Route, route } from '../route.ts';

const date = z.iso.date();
const moves = z.object({
  reservations: z.int(),
  done: z.int().describe('Of them, those who have arrived or left.'),
  rooms: z.int(),
  people: z.int(),
});
const cancelled = z.object({ reservations: z.int(), room_nights: z.int() });
const night = z.object({
  night: date,
  sold: z.int(),
  last_year: z.int().describe('Sold on the same weekday a year before (364 days), in the end.'),
});
const counted = z.object({
  today: z.object({
    arrivals: moves,
    departures: moves,
    in_house: z.object({ rooms: z.int(), people: z.int() }).describe('On the books for tonight.'),
  }),
  nights: z.array(night).describe('The next 90 nights.'),
  pace: z
    .array(
      z.object({
        from: date,
        now: z.int(),
        week_ago: z.int(),
        year_ago: z.int().describe('364 days ago, for the nights 364 days earlier.'),
        year_ago_final: z.int(),
      }),
    )
    .describe('Rooms on the books, in parts of 30 nights.'),
  cancellations: z.object({ week: cancelled, week_before: cancelled }),
  channels: z.array(z.object({ channel: z.string(), room_nights: z.int() })).describe('Of the next 90 nights.'),
  guests: z
    .object({ returning: z.int(), new: z.int(), unknown: z.int() })
    .describe(
      'Arrivals of the next seven days: with a guest who was here before, by the profiles; with new guests; without a profile.',
    ),
});

const report = counted.extend({
  day: date.describe('Today at the hotel when it was counted.'),
  counted_at: instant,
  nights: z.array(night.extend({ rooms_available: z.int().nullable() })).describe('The next 90 nights.'),
});

export type HotelReport = z.infer<typeof counted>;

export function hotelRoutes({ runtime }: Api): Route[] {
  return [
    route('GET /integrations/{integration}/hotel', {
      id: 'integrations.hotel',
      summary: 'The morning report of a hotel: today, the next 90 nights, pace, cancellations, channels and guests',
      description: 'Counted every few minutes, for brands that changed. `report` is null until the first count.',
      role: 'viewer',
      response: z.object({ report: report.nullable() }),
      handle: async ({ params: { integration } }) => {
        const found = await readHotel<HotelReport>(runtime.pool, integration);
        if (found === undefined) return ok({ report: null });
        const { nights, ...rest } = found.report;
        const capacity = await roomsAvailable(runtime, integration);
        const withRooms = nights.map((one) => ({
          ...one,
          rooms_available: capacity.findLast(([from]) => from <= one.night)?.[1] ?? null,
        }));
        return ok({ report: { ...rest, day: found.day, counted_at: found.counted_at, nights: withRooms } });
      },
    }),
  ];
}
