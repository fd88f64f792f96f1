import { roomsByNight } from '../../core/documents/measures.ts';
import { withLongStatements } from '../../core/store/db/pool.ts';
import { errorFacts } from '../../kit/log.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { EpochMs } from '../../terms.ts';
import { hotelView } from '../measures/hotel.ts';
import { weeklyText } from '../measures/weekly.ts';
import { claimMark, keepMark } from '../store/marks.ts';
import { countHotel, outdatedHotels, placeOf, readBudgets, readHotel } from '../store/measures/hotel-report.ts';
import { alertRoutes, mailOver } from './alert-routes.ts';

const mark = 'hotel reports';
/** Somebody may read the figures at any time: they are counted within a minute of a change, while that takes less than half of the time. */
const everyMs = 10_000;
const leastAgeMs = 30_000;
const longestTurnMs = 60_000;

/** On one node: counts the brands that changed, or whose day has ended, the oldest report first. It rests for as long as it worked. */
export async function countHotels({ pool, active, clock }: Runtime): Promise<void> {
  if (!(await claimMark(pool, mark, everyMs, 3 * longestTurnMs))) return;
  const startedAt = clock.now();
  try {
    const places = [...active().documents].map(([integration, { body }]) => placeOf(integration, body));
    for (const place of await outdatedHotels(pool, places, leastAgeMs)) {
      if (clock.now() - startedAt > longestTurnMs) break;
      await withLongStatements(pool, (db) => countHotel(db, place));
    }
  } finally {
    await keepMark(pool, mark, clock.now() - startedAt);
  }
}

/** A reader waits this long for newer figures; then the old ones are shown, with what they lack. */
const waitedMs = 2_000;
const freshMs = 5_000;
const counting = new WeakMap<Runtime['pool'], Map<string, Promise<void>>>();

/** Counts for a reader at once, whatever waits its turn; once at a time for each hotel on a node. */
async function countForReader({ pool, active, clock, log }: Runtime, integration: string): Promise<void> {
  const body = active().documents.get(integration)?.body;
  const mine = counting.getOrInsertComputed(pool, () => new Map());
  const [place] =
    body && !mine.has(integration) ? await outdatedHotels(pool, [placeOf(integration, body)], freshMs) : [];
  if (place && !mine.has(integration)) {
    const count = withLongStatements(pool, (db) => countHotel(db, place))
      .catch((error: unknown) => log.warn({ integration, error: errorFacts(error) }, 'hotel: counting failed'))
      .finally(() => mine.delete(integration));
    mine.set(integration, count);
  }
  const running = mine.get(integration);
  const answered = new AbortController();
  if (running) await Promise.race([running, clock.wait(waitedMs, answered.signal)]);
  answered.abort();
}

/** The figures of a hotel as its document wants them; undefined before the first count. */
export async function hotelReport(runtime: Runtime, integration: string) {
  const body = runtime.active().documents.get(integration)?.body;
  await countForReader(runtime, integration);
  const hotel = await readHotel(runtime.pool, integration);
  if (hotel === undefined || body === undefined) return undefined;
  const budgets = await readBudgets(runtime.pool, integration);
  const view = hotelView(hotel.day, hotel.report, roomsByNight(body.rooms_available), body.measures, budgets);
  return { ...view, counted_at: hotel.counted_at, behind: hotel.behind };
}

const sixDaysMs = 6 * 86_400_000;
/** Longer than the pause between two turns: a hotel whose mail fails does not keep the others from theirs. */
const leaseMs = 15 * 60_000;

/** Sends the figures of each hotel to the e-mail routes that want them: on Monday morning at the hotel, once over all nodes. */
export async function mailWeekly(runtime: Runtime, now: EpochMs): Promise<void> {
  const { pool, log } = runtime;
  for (const [route, settings] of alertRoutes(runtime)) {
    if (settings.type !== 'email' || !settings.weekly) continue;
    for (const [integration, { body }] of runtime.active().documents) {
      const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(body.timezone);
      const isMorning = local.dayOfWeek === 1 && local.hour >= 6;
      if (!isMorning || settings.integrations?.includes(integration) === false) continue;
      const mark = `weekly ${route} ${integration}`;
      if (!(await claimMark(pool, mark, sixDaysMs, leaseMs))) continue;
      const report = await hotelReport(runtime, integration);
      if (report === undefined) continue;
      const answer = await mailOver(runtime, route, weeklyText(integration, report), `/hotels/${integration}`);
      if (answer.kind === 'sent') await keepMark(pool, mark);
      else
        log.warn(
          { code: 'operate.alert_unsent', route, integration, failure: answer.message },
          'watch: weekly mail failed',
        );
    }
  }
}
