import { z } from 'zod';
import { countRejections } from '../../../core/store/events/rejections.ts';
import { firstEventAt, pushGaps } from '../../../core/store/runs/list.ts';
import { listUnlisted } from '../../../core/store/runs/stored-reservations.ts';
import { feedHistory } from '../../operations/unusual-days.ts';
import { counts, instant } from '../../store/answers.ts';
import { readQuality } from '../../store/measures/quality.ts';
import { type Node, ok, type Route, viewer } from '../route.ts';

const unlisted = z.object({
  id: z.string(),
  sync: z.string().describe('The sync whose list no longer shows it.'),
  since: instant.describe('The first complete run that did not list it.'),
  answer: z
    .enum(['present', 'absent'])
    .nullable()
    .describe('The partner’s answer to a request by its id; null if the connector has no pull.single.'),
  asked_at: instant.nullable(),
  check_in: z.string(),
  check_out: z.string(),
  status: z.string(),
});

const pushGap = z.object({
  day: z.string().describe('In UTC.'),
  events: z.int().describe('Events received that day.'),
  created: z.int().describe('New reservations that a poll found and no event reported.'),
  updated: z.int(),
  cancelled: z.int(),
  examples: z.array(z.string()).describe('Ids of up to five of them.'),
});

const series = (what: string) => z.array(z.number().nullable()).describe(what);
const count = (what: string) => z.int().describe(what);
const qualityDay = z.object({
  day: z.string().describe('In UTC.'),
  counted_at: instant,
  reservations: count('Reservations that were sent or changed that day.'),
  guests: count('Their guests.'),
  email: count('Guests with a usable address, without aliases of booking sites.'),
  email_proxy: count('Guests with an alias of a booking site.'),
  email_invalid: count('Guests whose address is not valid.'),
  phone: count('Guests with a usable phone number.'),
  phone_invalid: count('Guests whose phone number is not possible.'),
  last_name: z.int(),
  nationality: z.int(),
  total_amount: count('Reservations with an amount.'),
  ...counts('currency', 'channel', 'rooms'),
  lead_guest: count('Reservations with at least one guest.'),
  unreadable: count('Reservations with a value that was sent but could not be read; a stored value stays.'),
  events: z.int(),
  late_events: count('Events that arrived more than 15 minutes after the change that they report.'),
});

/** What a brand's lists no longer show, and what its events did not report. */
export function coverageRoutes({ runtime }: Node): Route[] {
  const { pool } = runtime;
  return [
    viewer('GET /integrations/{integration}/quality', {
      id: 'integrations.quality',
      summary: 'By day: how complete a brand’s reservations were',
      query: z.strictObject({ days: z.coerce.number().int().min(1).max(366).default(30) }),
      response: z.object({ items: z.array(qualityDay) }),
      handle: async ({ params, query }) => ok({ items: await readQuality(pool, params.integration, query.days) }),
    }),
    viewer('GET /integrations/{integration}/feed', {
      id: 'integrations.feed',
      summary: 'How much a brand’s feed brought in each 24 hours of the last four weeks, oldest first',
      response: z.object({
        events: series('Events.'),
        rows: series('Reservations per run; of a list of changes, per day.'),
        run_seconds: series('Average time of a run.'),
        dead_share: series('Share of the rows and events that became dead letters.'),
      }),
      handle: async ({ params }) => ok(await feedHistory(runtime, params.integration)),
    }),
    viewer('GET /integrations/{integration}/unlisted', {
      id: 'integrations.unlisted',
      summary: 'Reservations that a complete run no longer found in the partner’s list',
      query: z.strictObject({ limit: z.coerce.number().int().min(1).max(500).default(100) }),
      response: z.object({ items: z.array(unlisted) }),
      handle: async ({ params, query }) => ok({ items: await listUnlisted(pool, params.integration, query.limit) }),
    }),
    viewer('GET /integrations/{integration}/push-gaps', {
      id: 'integrations.push_gaps',
      summary: 'By day: changes that polls found and no event reported',
      query: z.strictObject({ days: z.coerce.number().int().min(1).max(31).default(7) }),
      response: z.object({
        items: z.array(pushGap),
        first_event_at: instant
          .nullable()
          .describe('Changes before it are not compared, nor those of the last ten minutes.'),
        refused: z.int().describe('Webhooks refused in these days: what they would have reported is not known.'),
      }),
      handle: async ({ params: { integration }, query: { days } }) => {
        const refusals = await countRejections(pool, integration, Date.now() - days * 86_400_000);
        return ok({
          items: await pushGaps(pool, integration, days),
          first_event_at: await firstEventAt(pool, integration),
          refused: refusals.reduce((sum, { count }) => sum + Number(count), 0),
        });
      },
    }),
  ];
}
