import type { ApiPorts } from '../api/api.ts';
import { systemClock } from '../kit/clock.ts';
import { testAlertRoute, viewRoutes } from '../operations/alert-routes.ts';
import { concernOf, limitedAlert } from '../operations/alert-view.ts';
import { openChangeFeed } from '../operations/change-feed.ts';
import { editProfiles } from '../operations/edit-profiles.ts';
import { addressFor, publicUrl } from '../operations/endpoints.ts';
import { findArrivals, findRecords } from '../operations/find-arrivals.ts';
import { holds, previewHold, refuseHold, releaseHold } from '../operations/holds.ts';
import { incidentDetail, incidentList, namesIn, openCauses } from '../operations/incidents.ts';
import { type JobRequest, previewJob, startJob } from '../operations/jobs.ts';
import { openLiveFeed } from '../operations/live-feed.ts';
import { checkCases, saveCase } from '../operations/mapping-cases.ts';
import { mergeCandidates, notSamePerson } from '../operations/merge-candidates.ts';
import { openOidc } from '../operations/oidc.ts';
import { putSecret } from '../operations/put-secret.ts';
import { resendDelivery } from '../operations/resend.ts';
import { sharedAddresses } from '../operations/shared-addresses.ts';
import { addSpelling, listUnknown } from '../operations/spellings.ts';
import { timelineOf } from '../operations/timeline.ts';
import { createSession, createSignIn, createToken } from '../operations/tokens.ts';
import { feedHistory } from '../operations/unusual-days.ts';
import { roomsAvailable } from '../ports/deliver.ts';
import { hashIdentity } from '../privacy/identity.ts';
import { tryDestinations } from '../runtime/probe-again.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { transaction } from '../store/db/pool.ts';
import { currentDocuments } from '../store/documents/documents.ts';
import { deleteCase } from '../store/documents/mapping-cases.ts';
import { deleteSecret, listSecrets } from '../store/documents/secrets.ts';
import { endpointStatus } from '../store/events/endpoint-status.ts';
import { retireEndpoint } from '../store/events/endpoints.ts';
import { listEvents, readEvent } from '../store/events/list.ts';
import { countRejections, listRejections } from '../store/events/rejections.ts';
import { listSandboxReports, readSandboxReport } from '../store/events/sandbox.ts';
import { readActivity, readBrandActivity, readDays } from '../store/operate/activity.ts';
import { acknowledgeAlert, countOpenAlerts, listAlerts, readAlert } from '../store/operate/alerts.ts';
import { listAudit, writeAudit } from '../store/operate/audit.ts';
import { findHold } from '../store/operate/holds.ts';
import { acknowledgeIncident, operatorActions } from '../store/operate/incidents.ts';
import { listJobs, readJob, stopJob } from '../store/operate/jobs.ts';
import { liveNodes } from '../store/operate/nodes.ts';
import { runIntegration } from '../store/operate/owners.ts';
import { findToken, listTokens, revokeSession, revokeSessionsOf, revokeToken } from '../store/operate/tokens.ts';
import { destinationsNow, listDeliveries } from '../store/outbox/delivery-list.ts';
import { readHotel } from '../store/records/hotel-report.ts';
import { staysOf } from '../store/records/profile-bookings.ts';
import { readQuality } from '../store/records/quality.ts';
import { listRuns, runDetail, runPartnerText } from '../store/runs/list.ts';
import { pushGaps } from '../store/runs/push-gaps.ts';
import { runRows } from '../store/runs/run-rows.ts';
import { listUnlisted } from '../store/runs/unlisted.ts';
import { readCause, titleOf } from '../watch/causes.ts';
import { judgeDestination, leastLateMs } from '../watch/health.ts';
import { deadLetterPorts } from './api-dead-letters.ts';
import { integrationPorts } from './api-integrations.ts';
import { consentPorts } from './consent.ts';
import { documentPorts } from './documents.ts';
import { privacyPorts } from './privacy.ts';
import { studioPorts } from './studio.ts';

export function apiPorts(runtime: Runtime): ApiPorts {
  const { pool } = runtime;
  const integrations = integrationPorts(runtime);
  const secure = () => isServedOverHttps(runtime);
  return {
    dispatch: {
      now: runtime.clock.now,
      authenticate: async (token, use) => {
        const row = await findToken(pool, token, use);
        if (row === undefined || row.kind === 'sign_in') return undefined;
        const { token_id: tokenId, name, role, integrations: limited, kind } = row;
        const grantId = row.subject ?? (kind === 'session' ? row.created_by : tokenId);
        return { tokenId, grantId, name, role, integrations: limited ?? undefined, kind };
      },
      secure,
      refused: ({ action, status, address, requestId, tokenId }) =>
        runtime.log.warn({ action, status, address, request_id: requestId, token_id: tokenId }, 'api: access refused'),
      hash: (text) => `hmac:${hashIdentity(runtime.keys.hashKeys[0], `search ${text.toLowerCase()}`).slice(0, 32)}`,
      audit: (entry) => writeAudit(pool, entry),
    },
    session: {
      signIn: async (shown) => {
        const made = await createSession(runtime, shown);
        if (made === undefined) return undefined;
        const { name, role, integrations: limited, expires_at } = made.row;
        const caller = { name, role, integrations: limited ?? undefined };
        return { session: made.session, expires_at: expires_at ?? new Date(), caller };
      },
      signOut: async (tokenId) => void (await revokeToken(pool, tokenId)),
      signOutEverywhere: (tokenId) => revokeSessionsOf(pool, tokenId),
      endPrevious: (session) => revokeSession(pool, session),
      oidc: openOidc(runtime),
      now: runtime.clock.now,
      secure,
    },
    tokens: {
      list: (page) => listTokens(pool, page),
      create: (grant) => createToken(runtime, grant),
      revoke: (tokenId) => revokeToken(pool, tokenId),
      signInLink: async (grant) => {
        const { path, expires_at } = await createSignIn(runtime, grant);
        return { url: `${await publicUrl(runtime)}${path}`, expires_at };
      },
      integrations: () => [...runtime.active().integrations.keys()],
    },
    overview: {
      ...integrations,
      activity: (step, sinceMs, within) => readActivity(pool, step, sinceMs, within),
      brandActivity: (step, sinceMs, within) => readBrandActivity(pool, step, sinceMs, within),
      days: (names, days) => readDays(pool, names, days),
      lateAfterMs: leastLateMs,
      causes: (within) => openCauses(runtime, within),
      openAlerts: (within) => countOpenAlerts(pool, concernOf(runtime, within)),
      nodes: () => liveNodes(pool),
      marks: async (sinceMs, within) => {
        const asked = { integrations: within, isLimited: within !== undefined };
        const found = await operatorActions(pool, { ...asked, from: new Date(sinceMs), to: null, limit: 200 });
        return found.map(({ target, ...one }) => ({ ...one, what: namesIn(target) }));
      },
      broken: () => runtime.active().broken,
    },
    integrations,
    spellings: { unknown: () => listUnknown(runtime), add: (one, by) => addSpelling(runtime, one, by) },
    coverage: {
      unlisted: (integration, limit) => listUnlisted(pool, integration, limit),
      quality: (integration, days) => readQuality(pool, integration, days),
      feed: (integration) => feedHistory(runtime, integration),
      pushGaps: (integration, days) => pushGaps(pool, integration, days),
    },
    hotel: {
      report: (integration) => readHotel(pool, integration),
      roomsAvailable: (integration) => roomsAvailable(runtime, integration),
    },
    runs: {
      listRuns: (filter) => listRuns(pool, filter),
      integrationOf: (runId) => runIntegration(pool, runId),
      runDetail: (runId) => runDetail(pool, runId),
      rows: (run, outcome, limit) => runRows(pool, run, outcome, limit),
      partnerText: (runId) => runPartnerText(pool, runId),
    },
    profiles: {
      edit: (integration, decision) => editProfiles(runtime, integration, decision),
      pairs: (integration, limit) => mergeCandidates(runtime, integration, limit),
      notSame: (integration, id, other) => notSamePerson(runtime, integration, id, other),
      shared: (integration) => sharedAddresses(runtime, integration),
      stays: (integration, id, limit) => staysOf(pool, integration, id, limit),
    },
    records: {
      search: (wanted) => findRecords(runtime, wanted),
      arrivals: (wanted) => findArrivals(runtime, wanted),
      timeline: (integration, type, id, part) => timelineOf(pool, integration, type, id, part),
    },
    changes: openChangeFeed(runtime, systemClock),
    live: openLiveFeed(runtime),
    consent: consentPorts(runtime),
    endpoints: endpointPorts(runtime),
    events: {
      list: (filter) => listEvents(pool, filter),
      read: (integration, seq) => readEvent(pool, integration, seq),
    },
    destinations: {
      views: () => destinationViews(runtime),
      now: (names) => destinationsNow(pool, names),
      health: integrations.health,
      judge: judgeDestination,
      tryNow: async (destination) => {
        await tryDestinations(pool, [destination]);
        runtime.wake.signal('outbox');
      },
      deliveries: (filter) => listDeliveries(pool, filter),
    },
    deadLetters: deadLetterPorts(runtime),
    holds: {
      list: (filter) => holds(runtime, filter),
      integrationOf: async (id) => (await findHold(pool, id))?.integration,
      preview: (id) => previewHold(runtime, id),
      release: (id, by, only) => releaseHold(runtime, id, by, only),
      refuse: (id, by) => refuseHold(runtime, id, by),
    },
    jobs: {
      preview: (request) => previewJob(runtime, request),
      start: (request, by) => startJob(runtime, request, by),
      list: (filter) => listJobs(pool, filter),
      read: (jobId, within) => readJob(pool, jobId, within),
      stop: (jobId, by) => stopJob(pool, jobId, by),
      delivery: async ({ request }) => {
        const wanted = request as unknown as JobRequest;
        return wanted.operation === 'resend' ? resendDelivery(runtime, wanted) : undefined;
      },
    },
    alerts: {
      list: async ({ integrations, ...filter }) => {
        const found = await listAlerts(pool, { ...filter, concern: concernOf(runtime, integrations) });
        return integrations ? found.map(limitedAlert) : found.map(({ brands: _, ...alert }) => alert);
      },
      integrationOf: async (id) => (await readAlert(pool, id))?.integration,
      acknowledge: (id, by) => acknowledgeAlert(pool, id, by),
      routes: () => viewRoutes(runtime),
      testRoute: (route) => testAlertRoute(runtime, route, systemClock),
    },
    incidents: {
      list: async (filter) =>
        (await incidentList(runtime, filter)).map((one) => ({ ...one, title: titleOf(readCause(one.cause)) })),
      read: (incidentId, within) => incidentDetail(runtime, incidentId, within),
      acknowledge: (incidentId, by, within) => acknowledgeIncident(pool, incidentId, by, within),
    },
    documents: documentPorts(runtime),
    studio: studioPorts(runtime),
    mappingCases: {
      save: (connector, wanted, by) => saveCase(runtime, connector, wanted, by),
      check: (connector, text) => checkCases(runtime, connector, text),
      remove: (connector, name) => deleteCase(pool, connector, name),
    },
    secrets: {
      list: () => listSecrets(pool),
      users: (names) => secretUsers(runtime, names),
      put: (name, value) => putSecret(runtime, name, value),
      remove: (name) => deleteSecret(pool, name),
    },
    privacy: privacyPorts(runtime),
    audit: { list: (filter) => listAudit(pool, filter) },
  };
}

/** Innbound serves plain HTTP; its public address shows whether a proxy in front of it serves https. */
export function isServedOverHttps(runtime: Runtime): boolean {
  return runtime.active().settings.public_url?.startsWith('https:') ?? false;
}

function endpointPorts(runtime: Runtime): ApiPorts['endpoints'] {
  const { pool } = runtime;
  return {
    pushes: (integration) => runtime.active().integrations.get(integration)?.body.push.enabled ?? false,
    status: (integration) => endpointStatus(pool, integration),
    addresses: async ({ endpoint_id, sandbox_id }) => {
      const base = `${await publicUrl(runtime)}/webhooks/`;
      return { url: base + endpoint_id, sandbox_url: sandbox_id === null ? null : base + sandbox_id };
    },
    issue: (integration, rotate) => addressFor(runtime, integration, rotate ? { rotate: true, ...rotate } : {}),
    retire: async (integration) => {
      const retired = await transaction(pool, (tx) => retireEndpoint(tx, integration));
      runtime.wake.signal('documents');
      return retired !== undefined;
    },
    rejections: (integration) => listRejections(pool, integration),
    rejectionCounts: (integration, sinceMs) => countRejections(pool, integration, sinceMs),
    sandboxReports: async (integration) => {
      const status = await endpointStatus(pool, integration);
      return status?.sandbox_id == null ? [] : listSandboxReports(pool, status.sandbox_id);
    },
    sandboxReport: async (integration, reportId) => {
      const status = await endpointStatus(pool, integration);
      return status?.sandbox_id == null ? undefined : readSandboxReport(pool, status.sandbox_id, reportId);
    },
  };
}

/** Reads each document once, however many secrets there are. */
async function secretUsers({ pool }: Runtime, names: readonly string[]): ReturnType<ApiPorts['secrets']['users']> {
  const users = new Map<string, { readonly kind: string; readonly name: string }[]>(names.map((name) => [name, []]));
  for (const { kind, name, body } of await currentDocuments(pool)) {
    const references = JSON.stringify(body).matchAll(/\$\{secret:([^}]*)\}/g);
    for (const secret of new Set([...references].map(([, named = '']) => named)))
      users.get(secret)?.push({ kind, name });
  }
  return users;
}

function destinationViews(runtime: Runtime): ReturnType<ApiPorts['destinations']['views']> {
  const { destinations, integrations } = runtime.active();
  return [...destinations.values()].map(({ name, version, body }) => ({
    name,
    version,
    type: body.type,
    receives: body.receives,
    paused: body.paused,
    integrations: [...integrations.values()].filter((one) => one.body.deliver.includes(name)).map((one) => one.name),
  }));
}
