import { addDays } from '../../../core/canonical/values.ts';
import type { Integration } from '../../../core/documents/integration.ts';
import { columnsOf } from '../../../core/store/db/columns.ts';
import { cellOf, columnOf, type Pool, rowOf, transaction } from '../../../core/store/db/pool.ts';
import { daysOfRun } from '../../../core/store/runs/days.ts';
import { Curve, daysBetween, errorsOf, type Move, pickupOf, year } from '../../measures/curve.ts';
import type { HotelFacts, Lost, Moves, NightFacts } from '../../measures/facts.ts';
import { hotelSql } from './hotel-sql.ts';
import { keepEarlier } from './stays.ts';

/** What the page of a hotel shows, for one brand. Terms are those of docs/guides/measures.md; nothing in here names a guest. */

interface HotelPlace {
  readonly integration: string;
  readonly timezone: string;
  /** Its bookings are also reported by events: a night that was asked for once stays known. */
  readonly isPushed: boolean;
  /** Whose runs ask for its nights; undefined if nobody pulls it. */
  readonly pulledBy?: string | undefined;
}

export function placeOf(integration: string, { timezone, push, stream, pull, pulled_by }: Integration): HotelPlace {
  const isPushed = push.enabled || stream !== undefined;
  return { integration, timezone, isPushed, pulledBy: pulled_by ?? (pull && integration) };
}

interface Counted extends Pick<HotelFacts, 'guests'> {
  readonly changes: number;
  readonly curve: readonly Move[] | null;
  readonly free: Readonly<Record<string, number>> | null;
  readonly moved: { readonly arrivals?: Moves; readonly departures?: Moves } | null;
  readonly in_house: HotelFacts['today']['in_house'];
  readonly lost: Partial<HotelFacts['lost']> | null;
  readonly channels: HotelFacts['channels'] | null;
}

const nobody: Moves = { reservations: 0, done: 0, rooms: 0, people: 0 };
const nothing: Lost = { reservations: 0, room_nights: 0, revenue: {} };

/**
 * Counts a hotel: once a day, and after a backfill, two years and a month; in between, the nights from a month ago on. With 12,000
 * bookings in three years that is 5 s once a day and 0.9 s in between (2 cores at a load of 7).
 */
export async function countHotel(pool: Pool, place: HotelPlace): Promise<void> {
  const { integration, timezone } = place;
  await keepEarlier(pool, integration);
  const { today, ranges, isKnown, stored } = await askedNights(pool, place);
  const [year, month] = today.split('-').map(Number);
  const first = stored
    ? addDays(today, -31)
    : new Date(Date.UTC(year ?? 0, (month ?? 0) - 26)).toISOString().slice(0, 10);
  const counted = await transaction(pool, async (tx) => {
    // The planner knows nothing about the rows of a part, and would compare each with each. Forbidden, that has a price so high that
    // PostgreSQL would compile the statement, which takes longer than it runs.
    await tx.query(`set local enable_nestloop = off; set local jit = off; set local work_mem = '64MB'`);
    return rowOf(tx)<Counted>(hotelSql, [integration, timezone, first]);
  });
  if (counted === undefined) return;
  const { moved, lost } = counted;
  const curve = new Curve(counted.curve ?? []);
  const before = new Map(stored?.nights.map((night) => [night.night, night]));
  const facts: HotelFacts = {
    today: {
      arrivals: moved?.arrivals ?? nobody,
      departures: moved?.departures ?? nobody,
      in_house: counted.in_house,
    },
    nights: [
      ...(stored?.nights.filter(({ night }) => night < first) ?? []),
      ...daysBetween(first, addDays(today, 119)).map((night) => ({
        ...nightOf(night, today, curve, isKnown, before.get(night)),
        free: counted.free?.[night] ?? 0,
      })),
    ],
    lost: { week: nothing, week_before: nothing, no_shows: nothing, ...lost },
    channels: counted.channels ?? [],
    guests: counted.guests,
    errors: stored?.errors ?? errorsOf({ curve, isKnown }, today),
  };
  await pool.query(
    `insert into hotels (integration, day, changes, report, asked, counted_at) values ($1, $2, $3, $4, $5, now())
         on conflict (integration) do update
        set day = excluded.day, changes = excluded.changes, report = excluded.report, asked = excluded.asked, counted_at = now()`,
    [integration, today, counted.changes, JSON.stringify(facts), ranges],
  );
}

function nightOf(
  night: string,
  today: string,
  curve: Curve,
  isKnown: (night: string) => boolean,
  before: NightFacts | undefined,
): Omit<NightFacts, 'free'> {
  const ahead = Math.round((Date.parse(night) - Date.parse(today)) / 86_400_000);
  const now = { night, known: isKnown(night), ...curve.on(night) };
  if (ahead >= 0) {
    const pickup = before ? before.pickup : pickupOf({ curve, isKnown }, night, ahead, today);
    return {
      ...now,
      weekAgo: curve.on(night, addDays(today, -7)),
      monthAgo: curve.on(night, addDays(today, -28)),
      ...(pickup !== undefined && { pickup: Math.round(pickup * 10) / 10 }),
    };
  }
  return ahead >= -year && ahead < 120 - year ? { ...now, yearAgo: curve.on(night, addDays(today, -year)) } : now;
}

/** More changes than a hotel has in some minutes: they may be about any night. */
const many = 500;

/**
 * The nights that the partner was asked for: by complete runs, ever. Without events, a night to come is known only while runs
 * still ask for it; without pulls, all nights from the first event on are. `stored`: the report, if only its last nights can have changed.
 */
async function askedNights(
  pool: Pool,
  { integration, timezone, isPushed, pulledBy }: HotelPlace,
): Promise<{
  readonly today: string;
  readonly ranges: string;
  readonly isKnown: (night: string) => boolean;
  readonly stored: HotelFacts | null;
}> {
  type Ranges = (string | null)[][];
  const row = await rowOf(pool)<{
    today: string;
    ranges: string;
    ever: Ranges;
    lately: Ranges;
    stored: HotelFacts | null;
  }>(
    `with day as (select (now() at time zone $3)::date as today), before as (select * from hotels where integration = $1),
     asked as (
       select ${daysOfRun} as days, finished_at, sync = 'backfill' as is_backfill from runs where integration = $2 and state = 'complete'
       union all
       select daterange(min(created_at)::date, null), now(), false from records where integration = $1 and $2::text is null having count(*) > 0
     ), ever as (
       select coalesce(range_agg(days), '{}') + coalesce((select asked from before), '{}') as ranges from asked
     )
     select today::text, ranges::text, array(select array[lower(r)::text, upper(r)::text] from unnest(ranges) r) as ever,
            array(select array[lower(days)::text, upper(days)::text] from asked where finished_at > now() - interval '2 days') as lately,
            (select report from before
              where before.day = today
                and not exists (select from asked where finished_at > before.counted_at
                                   and (is_backfill or not coalesce(before.asked, '{}') @> days))
                and (select sum(changes) from activity where integration = $1 and step = 'ever') < before.changes + ${many}) as stored
       from ever, day`,
    [integration, pulledBy, timezone],
  );
  if (row === undefined) throw new TypeError('a statement without a row');
  const isIn = (all: Ranges, night: string) =>
    all.some(([from = null, to = null]) => (from === null || from <= night) && (to === null || night < to));
  const { today, ranges, ever, lately, stored } = row;
  const isKnown = (night: string) => isIn(ever, night) && (night < today || isPushed || isIn(lately, night));
  return { today, ranges, isKnown, stored };
}

/** The brands whose report is not of today, or older than their newest change or backfill; if it was not counted a moment ago. */
export async function outdatedHotels(
  db: Pick<Pool, 'query'>,
  places: readonly HotelPlace[],
  leastAgeMs = 0,
): Promise<HotelPlace[]> {
  const outdated = await columnOf(db)<string>(
    `select p.integration from unnest($1::text[], $2::text[]) as p (integration, timezone)
       join activity t on t.integration = p.integration and t.step = 'ever' left join hotels h on h.integration = p.integration
      where (h.day is null or h.day <> (now() at time zone p.timezone)::date or h.changes <> t.changes
             or exists (select from runs r where r.integration = p.integration and r.sync = 'backfill' and r.finished_at > h.counted_at))
        and coalesce(h.counted_at, '-infinity') <= now() - $3 * interval '1 ms'
      order by h.counted_at nulls first`,
    [...columnsOf(places, 'integration', 'timezone'), leastAgeMs],
  );
  const byName = new Map(places.map((place) => [place.integration, place]));
  return outdated.flatMap((integration) => byName.get(integration) ?? []);
}

interface StoredReport {
  readonly day: string;
  readonly report: HotelFacts;
  readonly counted_at: Date;
  /** Changes since then, as far as they are counted. */
  readonly behind: number;
}

export const readHotel = (pool: Pool, integration: string): Promise<StoredReport | undefined> =>
  rowOf(pool)(
    `select to_char(h.day, 'YYYY-MM-DD') as day, h.report, h.counted_at, greatest(0, coalesce(t.changes - h.changes, 0))::int as behind
       from hotels h left join activity t on t.integration = h.integration and t.step = 'ever'
      where h.integration = $1 and h.report is not null`,
    [integration],
  );

/** The room revenue that a hotel means to earn, by month (2026-11). */
export async function readBudgets(pool: Pool, integration: string): Promise<ReadonlyMap<string, number>> {
  const budgets = await cellOf(pool)<Readonly<Record<string, number>>>(
    'select budgets from hotels where integration = $1',
    [integration],
  );
  return new Map(Object.entries(budgets ?? {}));
}

/** Without a number, the month has no budget any more. */
export async function writeBudget(
  pool: Pool,
  integration: string,
  month: string,
  revenue: number | null,
): Promise<void> {
  await pool.query(
    `insert into hotels as h (integration, budgets) values ($1, jsonb_strip_nulls(jsonb_build_object($2::text, $3::numeric)))
         on conflict (integration) do update
        set budgets = jsonb_strip_nulls(h.budgets || jsonb_build_object($2::text, $3::numeric))`,
    [integration, month, revenue],
  );
}
