import type { ApiPorts } from '../api/api.ts';
import type { IntegrationView } from '../api/routes/integrations.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { readSparks } from '../store/operate/activity.ts';
import {
  integrationsNow,
  lanesNow,
  pauseIntegration,
  resumeIntegration,
  schedulesNow,
} from '../store/operate/overview.ts';
import { listDrift } from '../store/records/drift.ts';
import { holdsTokens } from '../store/runs/partner-tokens.ts';
import { queueRun } from '../store/runs/runs.ts';
import type { IntegrationName } from '../terms.ts';
import { openBreakersOf } from './partner-apis.ts';

export function integrationPorts(runtime: Runtime): ApiPorts['integrations'] {
  const { pool } = runtime;
  return {
    views: () => viewsOf(runtime),
    now: (names) => integrationsNow(pool, names),
    lanes: (names) => {
      const wanted = viewsOf(runtime).filter(({ name }) => names.includes(name));
      return lanesNow(
        pool,
        wanted.flatMap(({ name, deliver }) => deliver.map((destination) => ({ integration: name, destination }))),
      );
    },
    schedules: (names) => schedulesNow(pool, names),
    breakers: () => openBreakersOf(runtime),
    sparks: (names, sinceMs) => readSparks(pool, names, sinceMs),
    drift: (integration) => listDrift(pool, integration),
    consent: async (integration) => {
      const auth = runtime.active().integrations.get(integration)?.body.pull?.auth;
      if (auth?.type !== 'oauth2' || auth.grant !== 'authorization_code') return null;
      return (await holdsTokens(pool, integration)) ? 'given' : 'needed';
    },
    pause: (integration, by, reason) => pauseIntegration(pool, integration, by, reason),
    resume: async (integration) => {
      await resumeIntegration(pool, integration);
      runtime.wake.signal('schedules');
    },
    run: async ({ integration, sync, by, from, to }) => {
      const queued = await queueRun(pool, {
        integration: integration as IntegrationName,
        kind: sync === undefined ? 'backfill' : 'manual',
        requestedBy: by,
        ...(sync && { sync }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      });
      runtime.wake.signal('runs');
      return queued.kind === 'busy' ? queued : { kind: 'queued', runId: queued.run.runId };
    },
  };
}

/** Made anew only when a document changes: lists of a thousand brands are asked for every few seconds. */
const views = new WeakMap<object, readonly IntegrationView[]>();

function viewsOf(runtime: Runtime): readonly IntegrationView[] {
  const active = runtime.active();
  const known = views.get(active);
  if (known) return known;
  const made = [...active.integrations.values()].map(
    ({ name, version, body, connector }): IntegrationView => ({
      name,
      version,
      brand_id: body.brand_id,
      connector: connector.name,
      connector_version: connector.version,
      timezone: body.timezone,
      country: body.country ?? null,
      document_paused: body.paused,
      pull: body.pull ? { syncs: syncsOf(body.pull.syncs) } : null,
      push: { enabled: body.push.enabled },
      deliver: body.deliver,
    }),
  );
  views.set(active, made);
  return made;
}

function syncsOf(syncs: object): NonNullable<IntegrationView['pull']>['syncs'] {
  return Object.fromEntries(
    Object.entries(syncs)
      .filter(([, sync]) => sync !== undefined)
      .map(([name, { every }]) => [name, { every }]),
  );
}
