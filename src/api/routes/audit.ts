import { z } from 'zod';
import type { AuditRow } from '../../store/operate/audit.ts';
import { decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { anyJson, instant, ok, type Route, route } from '../route.ts';

export interface AuditPorts {
  readonly list: (filter: {
    readonly action: string | undefined;
    readonly actor: string | undefined;
    readonly integration: string | undefined;
    readonly before: number | undefined;
    readonly limit: number;
  }) => Promise<readonly AuditRow[]>;
}

export function auditRoutes(ports: AuditPorts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/audit',
      id: 'audit.list',
      summary: 'Who changed what and who read payloads, newest first',
      tag: 'audit',
      role: 'admin',
      scope: 'all',
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
        const rows = await ports.list({
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
