import type { ApiPorts } from '../api/api.ts';
import type { IntegrationView } from '../api/routes/integrations.ts';
import { listRequestOf, noList } from '../intake/pull/list-request.ts';
import { fetchSample } from '../operations/fetch-sample.ts';
import { healthOf } from '../operations/health.ts';
import { refetchReservation } from '../operations/refetch.ts';
import { reprocess } from '../operations/reprocess.ts';
import { resendRecords } from '../operations/resend.ts';
import type { Active } from '../runtime/active.ts';
import { tryPartners } from '../runtime/probe-again.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { readSparks } from '../store/operate/activity.ts';
import { pauseIntegration, resumeIntegration, schedulesNow } from '../store/operate/overview.ts';
import { listDrift } from '../store/records/drift.ts';
import { probeNow } from '../store/remotes.ts';
import { holdsTokens } from '../store/runs/partner-tokens.ts';
import { queueRun } from '../store/runs/runs.ts';
import type { IntegrationName } from '../terms.ts';

export function integrationPorts(runtime: Runtime): ApiPorts['integrations'] {
  const { pool } = runtime;
  const views = openViews(runtime);
  return {
    views,
    health: (names) => healthOf(runtime, names),
    schedules: (names) => schedulesNow(pool, names),
    sparks: (names, sinceMs) => readSparks(pool, names, sinceMs),
    drift: (integration) => listDrift(pool, integration),
    consent: async (integration) => {
      const auth = runtime.active().integrations.get(integration)?.body.pull?.auth;
      if (auth?.type !== 'oauth2' || auth.grant !== 'authorization_code') return null;
      return (await holdsTokens(pool, integration)) ? 'given' : 'needed';
    },
    pause: (integration, by, reason) => pauseIntegration(pool, integration, by, reason),
    resume: async (integration, test) => {
      const apis = await apisOf(runtime, integration);
      if (test) {
        await probeNow(pool, 'partner', apis);
        const page = await fetchSample(runtime, integration as IntegrationName);
        if (page.kind === 'failed') return page;
      }
      await resumeIntegration(pool, integration);
      await tryPartners(pool, apis, [integration]);
      runtime.wake.signal('schedules');
      return { kind: 'resumed' };
    },
    tryNow: async (integration) => {
      const apis = await apisOf(runtime, integration);
      const same = [...(await runtime.partnerApis())].filter(([, api]) => apis.includes(api)).map(([name]) => name);
      const runs = await tryPartners(pool, apis, same);
      runtime.wake.signal('runs');
      return { runs };
    },
    reprocess: (wanted) => reprocess(runtime, wanted),
    refetch: (integration, id, by) => refetchReservation(runtime, integration, id, by),
    resend: (wanted) => resendRecords(runtime, wanted),
    run: async ({ integration, sync, by, from, to }) => {
      const pull = runtime.active().integrations.get(integration)?.connector.body.pull;
      if (pull !== undefined && listRequestOf(pull, { sync }) === undefined) return noList;
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

/** The partner's API of a brand, or of the one that polls for it. */
async function apisOf(runtime: Runtime, integration: string): Promise<string[]> {
  const poller = runtime.active().documents.get(integration)?.body.pulled_by ?? integration;
  const api = (await runtime.partnerApis()).get(poller);
  return api === undefined ? [] : [api];
}

/** Built once per set of documents: consoles list a thousand brands every few seconds. */
function openViews(runtime: Runtime): () => readonly IntegrationView[] {
  let known: { readonly active: Active; readonly views: readonly IntegrationView[] } | undefined;
  return () => {
    const active = runtime.active();
    if (known?.active !== active) known = { active, views: viewsOf(active) };
    return known.views;
  };
}

function viewsOf(active: Active): readonly IntegrationView[] {
  return [...active.integrations.values()].map(
    ({ name, version, body, connector }): IntegrationView => ({
      name,
      version,
      brand_id: body.brand_id,
      connector: connector.name,
      connector_version: connector.version,
      timezone: body.timezone,
      country: body.country ?? null,
      pull: body.pull ? { syncs: syncsOf(body.pull.syncs) } : null,
      pulled_by: body.pulled_by ?? null,
      push: { enabled: body.push.enabled },
      deliver: body.deliver,
    }),
  );
}

function syncsOf(syncs: object): NonNullable<IntegrationView['pull']>['syncs'] {
  return Object.fromEntries(
    Object.entries(syncs)
      .filter(([, sync]) => sync !== undefined)
      .map(([name, { every }]) => [name, { every }]),
  );
}
