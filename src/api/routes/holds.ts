import { z } from 'zod';
import type { HoldPreview, HoldView } from '../../operations/holds.ts';
import { anyJson, instant, ok, type Route, route } from '../route.ts';

export interface HoldPorts {
  readonly list: (filter: {
    readonly state: HoldView['state'] | undefined;
    readonly integrations: readonly string[] | undefined;
  }) => Promise<readonly HoldView[]>;
  readonly integrationOf: (id: string) => Promise<string | undefined>;
  readonly preview: (id: string) => Promise<HoldPreview>;
  readonly release: (
    id: string,
    by: string,
    only?: readonly string[],
  ) => Promise<{ readonly hold: HoldView; readonly released: number; readonly failed: number }>;
  readonly refuse: (id: string, by: string) => Promise<{ readonly hold: HoldView; readonly refused: number }>;
}

const state = z.enum(['open', 'ended', 'released', 'refused']);
const hold = z.object({
  id: z.string(),
  integration: z.string(),
  feed: z.enum(['pull', 'push']),
  kind: z.string().describe('cleared, factor, shift, status, constant, masked, removed or gone.'),
  path: z.string().optional().describe('The canonical path, such as guests.email.'),
  share_before: z.number().describe('Share of the rows that had the value.'),
  share_now: z.number(),
  rows: z.int().describe('Rows that were held.'),
  waiting: z.int().describe('Held rows that nobody has decided about yet.'),
  state,
  message: z.string(),
  at: instant,
  closed_at: instant.optional(),
  closed_by: z.string().optional(),
});
const params = z.strictObject({ hold_id: z.string().max(100) });

export function holdRoutes(ports: HoldPorts): Route[] {
  const scope = {
    kind: 'object',
    of: ({ hold_id = '' }: { readonly hold_id?: string }) => ports.integrationOf(hold_id),
  } as const;
  return [
    route({
      method: 'GET',
      path: '/holds',
      id: 'holds.list',
      summary: 'What is held back as a mistake of a partner, newest first',
      tag: 'holds',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({ integration: z.string().optional(), state: state.optional() }),
      response: z.object({ items: z.array(hold) }),
      handle: async ({ query, within }) => {
        const integrations = query.integration === undefined ? within : [query.integration];
        return ok({ items: await ports.list({ state: query.state, integrations }) });
      },
    }),
    route({
      method: 'GET',
      path: '/holds/{hold_id}/preview',
      id: 'holds.preview',
      summary: 'What a release would change, for the first 20 rows, and the likely remedy',
      tag: 'holds',
      role: 'operator',
      payload: true,
      scope,
      params,
      response: z.object({
        hold,
        remedy: z.object({ connector: z.string(), path: z.string(), from: z.string() }).optional(),
        rows: z.array(z.object({ id: z.string(), reservation_id: z.string(), preview: anyJson })),
      }),
      handle: async ({ params: { hold_id } }) => ok(await ports.preview(hold_id)),
    }),
    route({
      method: 'POST',
      path: '/holds/{hold_id}/release',
      id: 'holds.release',
      summary: 'Apply the held rows as the partner sent them',
      description:
        'The same change counts as normal for a while. With `reservations`, only these; the hold stays open.',
      tag: 'holds',
      role: 'operator',
      scope,
      params,
      body: z.strictObject({ reservations: z.array(z.string().max(512)).min(1).max(1_000).optional() }),
      response: z.object({ hold, released: z.int(), failed: z.int() }),
      handle: async ({ params: { hold_id }, body, caller }) =>
        ok(await ports.release(hold_id, caller.name, body.reservations)),
    }),
    route({
      method: 'POST',
      path: '/holds/{hold_id}/refuse',
      id: 'holds.refuse',
      summary: 'Keep the stored values, also while the partner repeats the same rows',
      tag: 'holds',
      role: 'operator',
      scope,
      params,
      body: z.strictObject({}),
      response: z.object({ hold, refused: z.int() }),
      handle: async ({ params: { hold_id }, caller }) => ok(await ports.refuse(hold_id, caller.name)),
    }),
  ];
}
