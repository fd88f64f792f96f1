import { z } from 'zod';
import { listAudit } from '../../store/operate/audit.ts';
import { decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { type Api, anyJson, instant, ok, type Route, route } from '../route.ts';

export function auditRoutes({ runtime: { pool } }: Api): Route[] {
  return [
    route('GET /audit', {
      id: 'audit.list',
      summary: 'Who changed what and who read payloads, newest first',
      role: 'admin',
      query: z.strictObject({
        ...pageQuery,
        action: z.string().max(100).optional(),
        actor: z.string().max(200).optional(),
        integration: z.string().optional(),
      }),
      response: pageOf(
        z.object({
          audit_id: z.int(),
          at: instant,
          actor: z.string(),
          token_id: z.string().nullable(),
          action: z.string(),
          integration: z.string().nullable(),
          target: anyJson,
          status: z.int().nullable(),
          request_id: z.string().nullable(),
          address: z.string().nullable(),
        }),
      ),
      handle: async ({ query }) => {
        const { action, actor, integration, limit } = query;
        const [before] = decodeCursor(query.cursor, 'number');
        const rows = await listAudit(pool, {
          action,
          actor,
          integration,
          before: before === undefined ? undefined : Number(before),
          limit: limit + 1,
        });
        return ok(paged(rows, limit, (row) => [row.audit_id]));
      },
    }),
  ];
}
