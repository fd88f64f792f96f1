import { roomsAvailable } from '../composition/deliver.ts';
import { roomsByNight } from '../documents/measures.ts';
import { hotelView } from '../measures/hotel.ts';
import { weeklyText } from '../measures/weekly.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { readBudgets, readHotel } from '../store/measures/hotel-report.ts';
import { claimMark, keepMark } from '../store/operate/marks.ts';
import type { EpochMs } from '../terms.ts';
import { alertRoutes, mailOver } from './alert-routes.ts';

/** The figures of a hotel as its document wants them; undefined before the first count. */
export async function hotelReport(runtime: Runtime, integration: string) {
  const body = runtime.active().documents.get(integration)?.body;
  const hotel = await readHotel(runtime.pool, integration);
  if (hotel === undefined || body === undefined) return undefined;
  const rooms = { toSell: await roomsAvailable(runtime, integration), all: roomsByNight(body.rooms_available) };
  const budgets = await readBudgets(runtime.pool, integration);
  const view = hotelView(hotel.day, hotel.report, rooms, body.measures, budgets);
  return { ...view, counted_at: hotel.counted_at };
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
