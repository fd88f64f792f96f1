import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../kit/clock.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { openChangeFeed } from '../operations/change-feed.ts';
import { consentAnswer } from '../operations/consent.ts';
import { openLiveFeed } from '../operations/live-feed.ts';
import { openOidc } from '../operations/oidc.ts';
import { registerRoutes } from './dispatch.ts';
import { registerOidc } from './oidc.ts';
import { openApiDocument, referencePage, type Tagged } from './openapi.ts';
import type { Api, Route } from './route.ts';
import { auditRoutes, sessionRoutes, tokenRoutes } from './routes/access.ts';
import { alertRoutes } from './routes/alerts.ts';
import { changeRoutes } from './routes/changes.ts';
import { coverageRoutes } from './routes/coverage.ts';
import { deadLetterRoutes } from './routes/dead-letters.ts';
import { destinationRoutes } from './routes/destinations.ts';
import { documentRoutes } from './routes/documents.ts';
import { holdRoutes } from './routes/holds.ts';
import { hotelRoutes } from './routes/hotel.ts';
import { dryRunRoutes, integrationActionRoutes } from './routes/integration-actions.ts';
import { integrationRoutes } from './routes/integrations.ts';
import { jobRoutes } from './routes/jobs.ts';
import { mappingCaseRoutes } from './routes/mapping-cases.ts';
import { onboardingRoutes, partnerRoutes } from './routes/onboarding.ts';
import { overviewRoutes } from './routes/overview.ts';
import { privacyRoutes } from './routes/privacy.ts';
import { profileRoutes } from './routes/profiles.ts';
import { endpointRoutes, eventRoutes } from './routes/push.ts';
import { guestRoutes, reservationRoutes } from './routes/records.ts';
import { runRoutes } from './routes/runs.ts';
import { secretRoutes } from './routes/secrets.ts';
import { studioRoutes } from './routes/studio.ts';
import { sendPlainPage } from './server.ts';

/** The resources of /api/v1, in the order of the reference, each with the files of its routes. */
const resources: Readonly<Record<string, readonly ((api: Api) => Route[])[]>> = {
  session: [sessionRoutes],
  overview: [overviewRoutes],
  integrations: [integrationRoutes, integrationActionRoutes, coverageRoutes, hotelRoutes, dryRunRoutes],
  endpoints: [endpointRoutes],
  onboarding: [onboardingRoutes, partnerRoutes],
  runs: [runRoutes],
  events: [eventRoutes],
  reservations: [reservationRoutes],
  guests: [guestRoutes, profileRoutes],
  changes: [changeRoutes],
  destinations: [destinationRoutes],
  'dead letters': [deadLetterRoutes],
  holds: [holdRoutes],
  jobs: [jobRoutes],
  alerts: [alertRoutes],
  documents: [documentRoutes],
  mapping: [studioRoutes, mappingCaseRoutes],
  secrets: [secretRoutes],
  privacy: [privacyRoutes],
  tokens: [tokenRoutes],
  audit: [auditRoutes],
};

export const apiRoutes = (api: Api): Tagged[] =>
  Object.entries(resources).flatMap(([tag, files]) =>
    files.flatMap((routesOf) => routesOf(api).map((route) => ({ ...route, tag }))),
  );

export const openApi = (runtime: Runtime): Api => ({
  runtime,
  oidc: openOidc(runtime),
  live: openLiveFeed(runtime),
  changes: openChangeFeed(runtime, systemClock),
});

export function registerApi(app: FastifyInstance, api: Api): void {
  const { runtime } = api;
  const routes = apiRoutes(api);
  registerRoutes(app, routes, runtime);
  // Made when they are first asked for: together they take a third of a node's start.
  let description: string | undefined;
  let page: string | undefined;
  app.get('/api/v1/openapi.json', (_request, reply) => {
    description ??= JSON.stringify(openApiDocument(routes));
    return reply.type('application/json; charset=utf-8').send(description);
  });
  app.get('/oauth/callback', async (request, reply) => {
    const answer = await consentAnswer(runtime, new URL(request.url, 'http://callback').searchParams);
    reply.header('cache-control', 'no-store');
    if (typeof answer === 'string') return reply.redirect(answer, 303);
    return sendPlainPage(reply.code(answer.status), answer.html);
  });
  registerOidc(app, api);
  app.get('/api/reference', (_request, reply) => {
    page ??= referencePage(routes);
    return sendPlainPage(reply, page);
  });
}
