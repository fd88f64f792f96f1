import { z } from 'zod';
import { hotelReport } from '../../operations/hotel-report.ts';
import { instant } from '../../store/answers.ts';
import { writeBudget } from '../../store/measures/hotel-report.ts';
import { type Node, ok, operator, type Route, viewer } from '../route.ts';

const date = z.iso.date();
const month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11');
const moves = z.object({
  reservations: z.int(),
  done: z.int().describe('Of them, those who have arrived or left.'),
  rooms: z.int(),
  people: z.int(),
});
const lost = z.object({ reservations: z.int(), room_nights: z.int(), revenue: z.number() });
const figures = z.object({
  rooms_available: z.int().nullable().describe('Null if the number of rooms is not known.'),
  sold: z.int(),
  revenue: z.number().describe('Room revenue, in the reporting currency.'),
  occupancy: z.number().nullable(),
  adr: z.number().nullable(),
  revpar: z.number().nullable(),
});
const lastYear = figures.nullable().describe('Null if the partner was not asked for all these nights.');
const books = z.object({ rooms: z.int(), revenue: z.number() });

const report = z.object({
  day: date.describe('Today at the hotel when it was counted.'),
  counted_at: instant,
  behind: z.int().describe('Changes since then that are not in the figures yet.'),
  definition: z.enum(['innbound', 'usali']),
  currency: z.string(),
  rates: z
    .array(z.object({ currency: z.string(), rate: z.number(), from: date }))
    .describe('The rates that were used, each with the day from which it holds.'),
  left_out: z.array(z.string()).describe('Currencies without a rate; their amounts are in no figure.'),
  today: z.object({
    arrivals: moves,
    departures: moves,
    in_house: z.object({ rooms: z.int(), people: z.int() }).describe('On the books for tonight.'),
  }),
  nights: z
    .array(
      figures.extend({
        night: date,
        known: z.boolean().describe('Whether the partner was asked for this night.'),
        last_year: lastYear.describe('The same weekday a year before (364 days), in the end. Null if not known.'),
        forecast: z.int().nullable().describe('Rooms that will be sold, by comparable nights.'),
      }),
    )
    .describe('The next 90 nights.'),
  months: z
    .array(
      figures.extend({
        month,
        nights: z.int(),
        known_nights: z.int().describe('Only these count.'),
        last_year: lastYear.describe(
          'Of a month that has ended, the same month; of another one, what was on the books of these nights 364 days ago. Null if not known.',
        ),
        forecast: z.object({ sold: z.int(), revenue: z.number() }).nullable(),
        budget: z.number().nullable().describe('Room revenue.'),
      }),
    )
    .describe('The last twelve months, this one and the next two.'),
  pace: z
    .array(
      z.object({
        from: date,
        known: z.boolean(),
        now: books,
        week_ago: books,
        month_ago: books.describe('28 days ago.'),
        year_ago: books.nullable().describe('364 days ago, for the nights 364 days earlier.'),
        year_ago_final: books.nullable(),
      }),
    )
    .describe('On the books as they were, in parts of 30 nights.'),
  cancellations: z.object({ week: lost, week_before: lost, no_shows: lost.describe('Of the last seven days.') }),
  channels: z
    .array(
      z.object({
        channel: z.string(),
        room_nights: z.int(),
        revenue: z.number(),
        net: z.number().nullable().describe('After commission, if the integration document states it.'),
      }),
    )
    .describe('Of the next 90 nights.'),
  guests: z
    .object({ returning: z.int(), new: z.int(), unknown: z.int() })
    .describe(
      'Arrivals of the next seven days: with a guest who was here before, by the profiles; with new guests; without a profile.',
    ),
  forecast_errors: z
    .array(z.object({ days: z.int(), nights: z.int(), rooms: z.number() }))
    .describe(
      'By how many rooms a forecast of so many days ahead was off, on average, on nights of the last four weeks.',
    ),
});

export type HotelReport = z.infer<typeof report>;

export function hotelRoutes({ runtime }: Node): Route[] {
  const { pool } = runtime;
  return [
    viewer('GET /integrations/{integration}/hotel', {
      id: 'integrations.hotel',
      summary:
        'The morning report of a hotel: today, the next 90 nights, months, pace, cancellations, channels and guests',
      description: 'Counted within a minute of a change, and when it is read. `report` is null until the first count.',
      response: z.object({ report: report.nullable() }),
      handle: async ({ params: { integration } }) => ok({ report: (await hotelReport(runtime, integration)) ?? null }),
    }),
    operator('PUT /integrations/{integration}/budgets/{month}', {
      id: 'integrations.budget',
      summary: 'Set the room revenue that a hotel means to earn in a month, or null for none',
      params: z.strictObject({ integration: z.string(), month }),
      body: z.strictObject({ room_revenue: z.number().min(0).max(1e12).nullable() }),
      response: z.object({ month, room_revenue: z.number().nullable() }),
      handle: async ({ params, body }) => {
        await writeBudget(pool, params.integration, params.month, body.room_revenue);
        return ok({ month: params.month, room_revenue: body.room_revenue });
      },
    }),
  ];
}
