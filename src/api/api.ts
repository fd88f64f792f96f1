import type { FastifyInstance } from 'fastify';
import type { ChangeFeed } from '../operations/change-feed.ts';
import type { LiveFeed } from '../operations/live-feed.ts';
import { type DispatchPorts, registerRoutes } from './dispatch.ts';
import { registerOidcCallback } from './oidc-callback.ts';
import { registerOidcLogout } from './oidc-logout.ts';
import { openApiDocument } from './openapi.ts';
import { referencePage } from './reference.ts';
import type { Route } from './route.ts';
import { type AlertPorts, alertRoutes } from './routes/alerts.ts';
import { type AuditPorts, auditRoutes } from './routes/audit.ts';
import { changeRoutes } from './routes/changes.ts';
import { type ConsentPorts, consentRoutes } from './routes/consent.ts';
import { type CoveragePorts, coverageRoutes } from './routes/coverage.ts';
import { type DeadLetterPorts, deadLetterRoutes } from './routes/dead-letters.ts';
import { type DestinationPorts, destinationRoutes } from './routes/destinations.ts';
import { type DocumentEditPorts, documentEditRoutes } from './routes/document-edits.ts';
import { type DocumentReadPorts, documentRoutes } from './routes/documents.ts';
import { type DryRunPorts, dryRunRoutes } from './routes/dry-run.ts';
import { type EndpointPorts, endpointRoutes } from './routes/endpoints.ts';
import { type EventPorts, eventRoutes } from './routes/events.ts';
import { type HoldPorts, holdRoutes } from './routes/holds.ts';
import { type HotelPorts, hotelRoutes } from './routes/hotel.ts';
import { type ImportPorts, importRoutes } from './routes/import-description.ts';
import { type IncidentPorts, incidentRoutes } from './routes/incidents.ts';
import { type IntegrationActionPorts, integrationActionRoutes } from './routes/integration-actions.ts';
import { type IntegrationPorts, integrationRoutes } from './routes/integrations.ts';
import { type JobPorts, jobRoutes } from './routes/jobs.ts';
import { liveRoutes } from './routes/live.ts';
import { type MappingCasePorts, mappingCaseRoutes } from './routes/mapping-cases.ts';
import { type OverviewPorts, overviewRoutes } from './routes/overview.ts';
import { type PrivacyPorts, privacyRoutes } from './routes/privacy.ts';
import { type ProfilePorts, profileRoutes } from './routes/profiles.ts';
import { type RecordPorts, recordRoutes } from './routes/records.ts';
import { type RunPorts, runRoutes } from './routes/runs.ts';
import { type SecretPorts, secretRoutes } from './routes/secrets.ts';
import { type SessionPorts, sessionRoutes } from './routes/session.ts';
import { type SpellingPorts, spellingRoutes } from './routes/spellings.ts';
import { type StudioPorts, studioRoutes } from './routes/studio.ts';
import { type TokenPorts, tokenRoutes } from './routes/tokens.ts';
import { strictPolicy } from './security-headers.ts';

export interface ApiPorts {
  readonly dispatch: DispatchPorts;
  readonly session: SessionPorts;
  readonly overview: OverviewPorts;
  readonly live: LiveFeed;
  readonly integrations: IntegrationPorts & IntegrationActionPorts;
  readonly coverage: CoveragePorts;
  readonly spellings: SpellingPorts;
  readonly hotel: HotelPorts;
  readonly consent: ConsentPorts;
  readonly endpoints: EndpointPorts;
  readonly runs: RunPorts;
  readonly events: EventPorts;
  readonly records: RecordPorts;
  readonly profiles: ProfilePorts;
  readonly changes: ChangeFeed;
  readonly destinations: DestinationPorts;
  readonly deadLetters: DeadLetterPorts;
  readonly holds: HoldPorts;
  readonly jobs: JobPorts;
  readonly alerts: AlertPorts;
  readonly incidents: IncidentPorts;
  readonly documents: DocumentReadPorts & DocumentEditPorts;
  readonly studio: StudioPorts & ImportPorts & DryRunPorts;
  readonly mappingCases: MappingCasePorts;
  readonly secrets: SecretPorts;
  readonly privacy: PrivacyPorts;
  readonly tokens: TokenPorts;
  readonly audit: AuditPorts;
}

/** Every route of /api/v1, one file per resource, in the order of the reference. */
export function apiRoutes(ports: Omit<ApiPorts, 'dispatch'>): Route[] {
  return [
    ...sessionRoutes(ports.session),
    ...overviewRoutes(ports.overview),
    ...liveRoutes(ports.live),
    ...integrationRoutes(ports.integrations),
    ...integrationActionRoutes(ports.integrations),
    ...coverageRoutes(ports.coverage),
    ...spellingRoutes(ports.spellings),
    ...hotelRoutes(ports.hotel),
    ...consentRoutes(ports.consent),
    ...endpointRoutes(ports.endpoints),
    ...runRoutes(ports.runs),
    ...eventRoutes(ports.events),
    ...recordRoutes(ports.records),
    ...profileRoutes(ports.profiles),
    ...changeRoutes(ports.changes),
    ...destinationRoutes(ports.destinations),
    ...deadLetterRoutes(ports.deadLetters),
    ...holdRoutes(ports.holds),
    ...jobRoutes(ports.jobs),
    ...alertRoutes(ports.alerts),
    ...incidentRoutes(ports.incidents),
    ...documentRoutes(ports.documents),
    ...documentEditRoutes(ports.documents),
    ...studioRoutes(ports.studio),
    ...dryRunRoutes(ports.studio),
    ...importRoutes(ports.studio),
    ...mappingCaseRoutes(ports.mappingCases),
    ...secretRoutes(ports.secrets),
    ...privacyRoutes(ports.privacy),
    ...tokenRoutes(ports.tokens),
    ...auditRoutes(ports.audit),
  ];
}

export function registerApi(app: FastifyInstance, ports: ApiPorts): void {
  const routes = apiRoutes(ports);
  registerRoutes(app, routes, ports.dispatch);
  // Made when they are first asked for: together they take a third of a node's start.
  let description: string | undefined;
  let page: string | undefined;
  app.get('/api/v1/openapi.json', (_request, reply) => {
    description ??= JSON.stringify(openApiDocument(routes));
    return reply.type('application/json; charset=utf-8').send(description);
  });
  app.get('/oauth/callback', async (request, reply) => {
    const { status, html } = await ports.consent.finish(new URL(request.url, 'http://callback').searchParams);
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .header('content-security-policy', strictPolicy("style-src 'unsafe-inline'"))
      .send(html);
  });
  registerOidcCallback(app, ports.session);
  registerOidcLogout(app, ports.session);
  app.get('/api/reference', (_request, reply) => {
    page ??= referencePage(openApiDocument(routes));
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', strictPolicy("style-src 'unsafe-inline'"))
      .send(page);
  });
}
