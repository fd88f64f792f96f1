import type { FastifyInstance } from 'fastify';
import { type DispatchPorts, registerRoutes } from './dispatch.ts';
import type { Route } from './route.ts';
import { type DeadLetterPorts, deadLetterRoutes } from './routes/dead-letters.ts';
import { type IntegrationPorts, integrationRoutes } from './routes/integrations.ts';
import { type OverviewPorts, overviewRoutes } from './routes/overview.ts';
import { type RecordPorts, recordRoutes } from './routes/records.ts';
import { type RunPorts, runRoutes } from './routes/runs.ts';
import { type SessionPorts, sessionRoutes } from './routes/session.ts';
import { type TokenPorts, tokenRoutes } from './routes/tokens.ts';

export interface ApiPorts {
  readonly dispatch: DispatchPorts;
  readonly session: SessionPorts;
  readonly tokens: TokenPorts;
  readonly overview: OverviewPorts;
  readonly integrations: IntegrationPorts;
  readonly runs: RunPorts;
  readonly records: RecordPorts;
  readonly deadLetters: DeadLetterPorts;
}

/** Every route of /api/v1, one resource a file. */
export function apiRoutes(ports: Omit<ApiPorts, 'dispatch'>): Route[] {
  return [
    ...sessionRoutes(ports.session),
    ...overviewRoutes(ports.overview),
    ...integrationRoutes(ports.integrations),
    ...runRoutes(ports.runs),
    ...recordRoutes(ports.records),
    ...deadLetterRoutes(ports.deadLetters),
    ...tokenRoutes(ports.tokens),
  ];
}

export function registerApi(app: FastifyInstance, ports: ApiPorts): void {
  registerRoutes(app, apiRoutes(ports), ports.dispatch);
}
