import { z } from 'zod';
import type { ConsentLink } from '../../intake/pull/consent.ts';
import { instant, integrationParam, ok, problem, type Route, route } from '../route.ts';

export interface ConsentPorts {
  readonly link: (integration: string, by: string) => Promise<ConsentLink>;
  /** What the partner sent the person back with, as a page to show. */
  readonly finish: (query: URLSearchParams) => Promise<{ readonly status: number; readonly html: string }>;
  readonly now: () => number;
}

export function consentRoutes(ports: ConsentPorts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/integrations/{integration}/consent',
      id: 'integrations.consent',
      summary: 'A link through which somebody of the brand lets us in (OAuth 2.0 authorization code)',
      tag: 'integrations',
      role: 'admin',
      scope: 'param',
      params: integrationParam,
      body: z.strictObject({}),
      response: z.object({ url: z.string(), expires_at: instant }),
      handle: async ({ params, caller }) => {
        const link = await ports.link(params.integration, caller.name);
        if (link.kind === 'unavailable') return problem(409, link.code, link.message);
        return ok({ url: link.url, expires_at: new Date(ports.now() + link.validMs) });
      },
    }),
  ];
}
