import { z } from 'zod';
import type { PushGap } from '../../store/runs/push-gaps.ts';
import type { UnlistedReservation } from '../../store/runs/unlisted.ts';
import { instant, integrationParam, ok, type Route, route } from '../route.ts';

export interface CoveragePorts {
  readonly unlisted: (integration: string, limit: number) => Promise<readonly UnlistedReservation[]>;
  readonly pushGaps: (integration: string, days: number) => Promise<readonly PushGap[]>;
}

const unlisted = z.object({
  id: z.string(),
  sync: z.string().describe('The sync whose list no longer shows it.'),
  since: instant.describe('The first complete run that did not list it.'),
  answer: z
    .enum(['present', 'absent'])
    .nullable()
    .describe('What the partner answered when asked for it by its id; null if the connector has no pull.single.'),
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

/** What a brand's lists no longer show, and what its events did not report. */
export function coverageRoutes(ports: CoveragePorts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/integrations/{integration}/unlisted',
      id: 'integrations.unlisted',
      summary: 'Reservations that a complete run no longer found in the partner’s list',
      tag: 'integrations',
      role: 'viewer',
      scope: 'param',
      params: integrationParam,
      query: z.strictObject({ limit: z.coerce.number().int().min(1).max(500).default(100) }),
      response: z.object({ items: z.array(unlisted) }),
      handle: async ({ params, query }) => ok({ items: await ports.unlisted(params.integration, query.limit) }),
    }),
    route({
      method: 'GET',
      path: '/integrations/{integration}/push-gaps',
      id: 'integrations.push_gaps',
      summary: 'By day: changes that polls found and no event reported',
      tag: 'integrations',
      role: 'viewer',
      scope: 'param',
      params: integrationParam,
      query: z.strictObject({ days: z.coerce.number().int().min(1).max(31).default(7) }),
      response: z.object({ items: z.array(pushGap) }),
      handle: async ({ params, query }) => ok({ items: await ports.pushGaps(params.integration, query.days) }),
    }),
  ];
}
