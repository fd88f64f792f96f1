import { z } from 'zod';
import { linkFor } from '../../operations/consent.ts';
import { type Api, instant, ok, problem, type Route, route } from '../route.ts';

export function consentRoutes({ runtime }: Api): Route[] {
  return [
    route('POST /integrations/{integration}/consent', {
      id: 'integrations.consent',
      summary: 'A link with which the brand authorizes our access (OAuth 2.0 authorization code)',
      role: 'admin',
      response: z.object({ url: z.string(), expires_at: instant }),
      handle: async ({ params, caller }) => {
        const link = await linkFor(runtime, params.integration, caller.name);
        if (link.kind === 'unavailable') return problem(409, link.code, link.message);
        return ok({ url: link.url, expires_at: new Date(runtime.clock.now() + link.validMs) });
      },
    }),
  ];
}
