import { encodeRecord } from '../../canonical/encode.ts';
import type { Clock } from '../../kit/clock.ts';
import { randomId } from '../../kit/ids.ts';
import { parseJson } from '../../kit/json.ts';
import { parseStrictJson, type StrictLimits } from '../../kit/json-strict.ts';
import type { EndpointId, EpochMs, IntegrationName, Json, Note } from '../../terms.ts';
import type { Refused } from './answer.ts';
import * as answer from './answer.ts';
import { Buckets } from './bucket.ts';
import { diagnose, explain } from './diagnose.ts';
import { type Envelope, readEnvelope } from './envelope.ts';
import { findEventId } from './event-id.ts';
import type { EventPath, PendingEvent } from './event-path.ts';
import type { Endpoint, PushSettings } from './ports.ts';
import { type Arrived, answerToBody } from './receive.ts';
import { prepareReservation } from './reservation-event.ts';
import { verify } from './verify.ts';

/**
 * The sandbox takes anything, stores nothing but its report, and says what a live endpoint would have made of it. It never
 * looks at what is stored of a brand: whoever has its address may read its reports.
 */
export interface SandboxPorts {
  readonly clock: Clock;
  readonly endpoint: (endpointId: string, staleBefore: EpochMs) => Endpoint | undefined | Promise<Endpoint | undefined>;
  readonly settings: (integration: IntegrationName) => PushSettings | undefined;
  readonly path: (integration: IntegrationName) => EventPath | undefined;
  readonly save: (endpointId: EndpointId, integration: IntegrationName, report: SandboxReport) => Promise<void>;
  readonly list: (endpointId: EndpointId) => Promise<readonly SandboxReport[]>;
  readonly read: (endpointId: EndpointId, reportId: string) => Promise<SandboxReport | undefined>;
  readonly jsonLimits: () => StrictLimits;
}

export interface SandboxReport {
  readonly report_id: string;
  readonly at: string;
  readonly event_id: string;
  readonly event?: string;
  /** What the live endpoint would have answered. */
  readonly would_answer: { readonly status: number; readonly code?: string; readonly detail: string };
  readonly signature: {
    readonly right: boolean;
    readonly reason?: string;
    readonly explanation?: string;
    readonly skew_s?: number;
  };
  readonly body: { readonly bytes: number; readonly problem?: string };
  readonly envelope: readonly { readonly pointer: string; readonly detail: string }[];
  /** What would have become of it: a record, or why there would be none. */
  readonly outcome: Outcome;
}

type Outcome =
  | {
      readonly kind: 'record';
      readonly type: 'reservation' | 'guest';
      readonly record: Json;
      readonly notes: readonly Note[];
    }
  | { readonly kind: 'dead_letter'; readonly code: string; readonly message: string; readonly detail: Json }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'fetched_first'; readonly reservation_id: string }
  | { readonly kind: 'none'; readonly reason: string };

export interface Sandbox {
  examine(arrived: Arrived, early: Refused | undefined): Promise<SandboxReport | Refused>;
  list(endpointId: string): Promise<readonly SandboxReport[] | Refused>;
  read(endpointId: string, reportId: string): Promise<SandboxReport | Refused>;
}

const rate = { perSecond: 20, burst: 200 };

export function openSandbox(ports: SandboxPorts): Sandbox {
  const rates = new Buckets(() => rate, 10_000);
  const find = async (endpointId: string): Promise<Endpoint | Refused> => {
    const endpoint = await ports.endpoint(endpointId, 0);
    if (!endpoint?.sandbox) return answer.unknownEndpoint();
    if (endpoint.retired) return answer.retiredEndpoint('retired');
    const wait = rates.take(endpointId, ports.clock.now());
    return wait.kind === 'wait' ? answer.rateLimited('endpoint_rate', wait.seconds) : endpoint;
  };
  return {
    async examine(arrived, early) {
      const endpoint = await find(arrived.endpointId);
      if ('status' in endpoint) return endpoint;
      const settings = ports.settings(endpoint.integration);
      const path = ports.path(endpoint.integration);
      if (!settings || !path) return answer.retiredEndpoint('push_disabled');
      // The secret may have been rotated elsewhere a moment ago.
      const fresh = (await ports.endpoint(arrived.endpointId, ports.clock.now())) ?? endpoint;
      const report = examine(ports, fresh, settings, path, arrived, early);
      await ports.save(endpoint.endpointId, endpoint.integration, report);
      return report;
    },
    async list(endpointId) {
      const endpoint = await find(endpointId);
      return 'status' in endpoint ? endpoint : ports.list(endpoint.endpointId);
    },
    async read(endpointId, reportId) {
      const endpoint = await find(endpointId);
      if ('status' in endpoint) return endpoint;
      return (await ports.read(endpoint.endpointId, reportId)) ?? answer.unknownEndpoint();
    },
  };
}

function examine(
  ports: SandboxPorts,
  endpoint: Endpoint,
  settings: PushSettings,
  path: EventPath,
  arrived: Arrived,
  early: Refused | undefined,
): SandboxReport {
  const verdict = verify(settings.verification, arrived, endpoint.secrets, arrived.receivedAt);
  const hint = verdict.kind === 'verified' ? undefined : diagnose(settings.verification, arrived, endpoint.secrets);
  const signature =
    verdict.kind === 'verified'
      ? { right: true }
      : {
          right: false,
          reason: verdict.reason,
          explanation: [explain(verdict.reason), ...(hint === undefined ? [] : [hint])].join(' '),
          ...(verdict.skewS !== undefined && { skew_s: verdict.skewS }),
        };
  const refusedBySignature = verdict.kind === 'verified' ? undefined : answer.unauthorized(verdict.reason);
  const parsed = parseStrictJson(arrived.rawBody, ports.jsonLimits());
  const read = parsed.kind === 'ok' ? readEnvelope(parsed.value, settings.brandId) : undefined;
  const id = findEventId(
    settings.eventIdPlaces,
    parsed.kind === 'ok' ? parsed.value : null,
    arrived.headers,
    arrived.rawBody,
  );
  const problems = [...(read?.kind === 'invalid' ? read.problems : []), ...(id.kind === 'invalid' ? [id] : [])];
  const badBody = parsed.kind === 'ok' ? undefined : answerToBody(parsed.reason, parsed.position);
  const refusal =
    early ?? refusedBySignature ?? badBody ?? (problems.length > 0 ? answer.badEnvelope(problems) : undefined);
  const event = parsed.kind === 'ok' ? (parsed.value as { event?: Json })?.event : undefined;
  return {
    report_id: randomId('rep'),
    at: new Date(arrived.receivedAt).toISOString(),
    event_id: id.kind === 'ok' ? id.eventId : '',
    ...(typeof event === 'string' && { event: event.slice(0, 100) }),
    would_answer: refusal
      ? { status: refusal.status, code: refusal.code, detail: refusal.detail }
      : { status: 202, detail: 'Accepted (200 if the event id were known already).' },
    signature,
    body: { bytes: arrived.rawBody.length, ...(badBody && { problem: badBody.detail }) },
    envelope: problems.map(({ pointer, detail }) => ({ pointer, detail })),
    outcome:
      read?.kind === 'ok'
        ? outcomeOf(path, read.envelope, arrived)
        : { kind: 'none', reason: badBody ? 'The body could not be read.' : 'The envelope is not valid.' },
  };
}

function outcomeOf(path: EventPath, { event, data, occurredAt }: Envelope, arrived: Arrived): Outcome {
  const { rawBody: body, receivedAt } = arrived;
  if (event === 'guest.updated') {
    const read = path.guest(data);
    if (read.kind === 'invalid')
      return { kind: 'dead_letter', code: read.code, message: read.message, detail: read.detail };
    return { kind: 'record', type: 'guest', record: parseJson(encodeRecord(read.update.guest)), notes: read.notes };
  }
  const thin = path.thinId?.(data);
  if (thin !== undefined) return { kind: 'fetched_first', reservation_id: thin };
  const pending: PendingEvent = { seq: 0, event, occurredAt, receivedAt, body, attempt: 0 };
  const prepared = prepareReservation(path, pending, data, () => undefined);
  if (prepared.kind === 'dropped') return { kind: 'dropped', reason: prepared.reason };
  if (prepared.kind === 'dead') {
    const { code, message, detail } = prepared.deadLetter;
    return { kind: 'dead_letter', code, message, detail };
  }
  const { record, notes } = prepared.incoming;
  return { kind: 'record', type: 'reservation', record: parseJson(encodeRecord(record)), notes };
}
