import { z } from 'zod';
import type { ConsentLink } from '../../intake/pull/consent.ts';
import { instant, integrationParam, ok, problem, type Route, route } from '../route.ts';

export interface ConsentPorts {
  readonly link: (integration: string, by: string) => Promise<ConsentLink>;
  /** Handles the partner's redirect and returns the page to show. */
  readonly finish: (query: URLSearchParams) => Promise<{ readonly status: number; readonly html: string }>;
  readonly now: () => number;
}

export function consentRoutes(ports: ConsentPorts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/integrations/{integration}/consent',
      id: 'integrations.consent',
      summary: 'A link with which the brand authorizes our access (OAuth 2.0 authorization code)',
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
