import { z } from 'zod';
import { differenceSchema } from '../../../core/canonical/schema.ts';
import { holds, previewHold, refuseHold, releaseHold } from '../../operations/holds.ts';
import { anyJson, instant } from '../../store/answers.ts';
import { findHold } from '../../store/holds.ts';
import { type Node, ok, operator, type Route, viewer } from '../route.ts';

const state = z.enum(['open', 'ended', 'released', 'refused']);
const hold = z.object({
  id: z.string(),
  integration: z.string(),
  feed: z.enum(['pull', 'push']),
  kind: z.string().describe('cleared, factor, shift, status, changed, masked, granted, removed, gone or strangers.'),
  path: z.string().optional().describe('The canonical path, such as guests.email.'),
  share_before: z.number().describe('Share of the rows that had the value.'),
  share_now: z.number(),
  rows: z.int().describe('Bookings of which something was held.'),
  waiting: z.int().describe('Bookings with held values that nobody has decided about yet.'),
  state,
  message: z.string(),
  at: instant,
  closed_at: instant.optional(),
  closed_by: z.string().optional(),
});

export function holdRoutes({ runtime }: Node): Route[] {
  const scope = async ({ hold_id = '' }: Record<string, string>) =>
    (await findHold(runtime.pool, hold_id))?.integration;
  return [
    viewer('GET /holds', {
      id: 'holds.list',
      summary: 'What is held back as a mistake of a partner, newest first',
      scope: 'any',
      query: z.strictObject({ integration: z.string().optional(), state: state.optional() }),
      response: z.object({ items: z.array(hold) }),
      handle: async ({ query, within }) =>
        ok({ items: await holds(runtime, { state: query.state, integrations: within }) }),
    }),
    operator('GET /holds/{hold_id}/preview', {
      id: 'holds.preview',
      summary: 'What a release would change, for 50 bookings at a time, and the likely remedy',
      payload: true,
      scope,
      query: z.strictObject({ cursor: z.string().max(512).optional() }),
      response: z.object({
        hold,
        remedy: z.object({ connector: z.string(), path: z.string(), from: z.string(), sample: anyJson }).optional(),
        rows: z.array(z.object({ reservation_id: z.string(), diff: z.array(differenceSchema) })),
        next_cursor: z.string().nullable(),
      }),
      handle: async ({ params: { hold_id }, query: { cursor } }) => {
        const { next, ...preview } = await previewHold(runtime, hold_id, cursor);
        return ok({ ...preview, next_cursor: next });
      },
    }),
    operator('POST /holds/{hold_id}/release', {
      id: 'holds.release',
      summary: 'Let the held values count, each as of its own time',
      description:
        'The same change counts as normal for a while. With `reservations`, only these; the hold stays open.',
      scope,
      body: z.strictObject({ reservations: z.array(z.string().max(512)).min(1).max(1_000).optional() }),
      response: z.object({ hold, released: z.int() }),
      handle: async ({ params: { hold_id }, body, caller }) =>
        ok(await releaseHold(runtime, hold_id, caller.name, body.reservations)),
    }),
    operator('POST /holds/{hold_id}/refuse', {
      id: 'holds.refuse',
      summary: 'Drop exactly the held values, also while the partner repeats them',
      scope,
      response: z.object({ hold, refused: z.int() }),
      handle: async ({ params: { hold_id }, caller }) => ok(await refuseHold(runtime, hold_id, caller.name)),
    }),
  ];
}
