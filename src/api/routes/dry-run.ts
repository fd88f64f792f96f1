import { z } from 'zod';
import { noIntegration } from '../../errors/no-integration.ts';
import { dryRunDay } from '../../operations/dry-run.ts';
import type { Json } from '../../terms.ts';
import { note } from '../forms.ts';
import { type Api, anyJson, ok, problem, type Route, route } from '../route.ts';
import { exchange } from './runs.ts';

const counts = z.object({
  fetched: z.int().describe('Reservations that the partner listed.'),
  changed: z.int().describe('Reservations that a run would create or change.'),
  unchanged: z.int(),
  superseded: z.int().describe('Older than the stored state.'),
  dropped: z.int().describe('Dropped by a rule of the brand.'),
  dead_lettered: z.int(),
  requests: z.int(),
  pages: z.int(),
});

export function dryRunRoutes({ runtime }: Api): Route[] {
  return [
    route('POST /integrations/{integration}/dry-run', {
      id: 'integrations.dry_run',
      payload: true,
      summary: 'Pull one day, all pages, and show the canonical records; nothing is stored, acknowledged or delivered',
      role: 'operator',
      body: z.strictObject({
        day: z.iso.date().optional().describe('The day that is requested; today at the property unless given.'),
      }),
      response: z.object({
        day: z.iso.date(),
        timezone: z.string(),
        status: z.enum(['complete', 'incomplete']),
        counts,
        records: z
          .array(
            z.object({
              kind: z.enum(['record', 'dropped', 'dead']),
              outcome: z.string().describe('What a run would have done: created, updated, unchanged, …'),
              id: z.string().optional(),
              record: anyJson.optional(),
              notes: z.array(note).optional(),
              code: z.string().optional(),
              message: z.string().optional(),
            }),
          )
          .describe('The first 100.'),
        error: z.object({ code: z.string(), message: z.string() }).optional().describe('Why it is incomplete.'),
        warning: z.string().optional().describe('The partner leaves out the first or the last day of each range.'),
        request: exchange.optional(),
      }),
      handle: async ({ params, body }) => {
        const done = await dryRunDay(runtime, params.integration, body.day);
        if (done.kind === 'failed') {
          return done.code === 'documents.unknown_name'
            ? problem(404, 'operate.not_found', noIntegration(params.integration))
            : problem(409, done.code, done.message, done.request && { request: done.request as unknown as Json });
        }
        const { kind: _, ...result } = done;
        return ok(result);
      },
    }),
  ];
}
