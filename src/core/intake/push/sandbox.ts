import type { Clock } from '../../../kit/clock.ts';
import type { StrictLimits } from '../../../kit/json.ts';
import type { EndpointId, EpochMs, IntegrationName } from '../../../terms.ts';
import type { Refused, WebhookAnswer } from './answer.ts';
import * as answer from './answer.ts';
import type { Endpoint } from './ports.ts';
import { type Arrived, Buckets } from './receive.ts';
import type { Examined, SandboxReport } from './sandbox-report.ts';

/**
 * The sandbox accepts any request, stores only a report, and reports how a live endpoint would handle it. It never reads a
 * brand's stored data, because anyone with the sandbox address may read the reports.
 */
interface SandboxPorts {
  readonly clock: Clock;
  readonly endpoint: (endpointId: string, staleBefore: EpochMs) => Endpoint | undefined | Promise<Endpoint | undefined>;
  /** Undefined where the brand is not in force. Runs off the main thread: a sandbox maps unsigned events. */
  readonly report: (
    integration: IntegrationName,
    arrived: Arrived,
    examined: Omit<Examined, 'settings' | 'brand'>,
  ) => Promise<SandboxReport | undefined>;
  /** Adds the request to what a partner has shown: whether the event is known already, or the partner asked for a failure. */
  readonly witness: (integration: IntegrationName, report: SandboxReport) => Promise<'new' | 'duplicate' | 'fail'>;
  readonly save: (endpointId: EndpointId, integration: IntegrationName, report: SandboxReport) => Promise<void>;
  readonly list: (endpointId: EndpointId) => Promise<readonly SandboxReport[]>;
  readonly read: (endpointId: EndpointId, reportId: string) => Promise<SandboxReport | undefined>;
  readonly jsonLimits: () => StrictLimits;
}

export type Sandbox = ReturnType<typeof openSandbox>;

const rate = { perSecond: 20, burst: 200 };

export function openSandbox(ports: SandboxPorts) {
  const rates = new Buckets(() => rate, 10_000);
  const find = async (endpointId: string): Promise<Endpoint | Refused> => {
    const endpoint = await ports.endpoint(endpointId, 0);
    if (!endpoint?.sandbox) return answer.unknownEndpoint();
    if (endpoint.retired) return answer.retiredEndpoint('retired');
    const wait = rates.take(endpointId, ports.clock.now());
    return wait.kind === 'wait' ? answer.rateLimited('endpoint_rate', wait.seconds) : endpoint;
  };
  return {
    async examine(arrived: Arrived, early: Refused | undefined): Promise<SandboxReport | Refused> {
      const endpoint = await find(arrived.endpointId);
      if ('status' in endpoint) return endpoint;
      // Another node may have just rotated the secret.
      const fresh = (await ports.endpoint(arrived.endpointId, ports.clock.now())) ?? endpoint;
      const examined = { endpoint: fresh, limits: ports.jsonLimits(), early };
      const report = await ports.report(endpoint.integration, arrived, examined);
      if (report === undefined) return answer.retiredEndpoint('push_disabled');
      const seen = await ports.witness(endpoint.integration, report);
      await ports.save(endpoint.endpointId, endpoint.integration, report);
      return seen === 'fail' ? answer.deliberate() : report;
    },
    /** A request to the address of a brand that is not live yet: answered as if it were, reported, not stored. */
    async rehearse(arrived: Arrived, endpoint: Endpoint): Promise<WebhookAnswer> {
      const wait = rates.take(endpoint.endpointId, ports.clock.now());
      if (wait.kind === 'wait') return answer.rateLimited('endpoint_rate', wait.seconds);
      const report = await ports.report(endpoint.integration, arrived, {
        endpoint,
        limits: ports.jsonLimits(),
        early: undefined,
      });
      if (report === undefined) return answer.retiredEndpoint('push_disabled');
      const given = answerTo(report, await ports.witness(endpoint.integration, report));
      await ports.save(endpoint.endpointId, endpoint.integration, { ...report, answered: given.status });
      return given;
    },
    async list(endpointId: string) {
      const endpoint = await find(endpointId);
      return 'status' in endpoint ? endpoint : ports.list(endpoint.endpointId);
    },
    async read(endpointId: string, reportId: string) {
      const endpoint = await find(endpointId);
      if ('status' in endpoint) return endpoint;
      return (await ports.read(endpoint.endpointId, reportId)) ?? answer.unknownEndpoint();
    },
  };
}

/** The refusal of a report has the words of the live endpoint's answer. */
function answerTo(
  { would_answer: { status, code, detail }, event_id: eventId, envelope }: SandboxReport,
  seen: 'new' | 'duplicate' | 'fail',
): WebhookAnswer {
  if (code !== undefined) {
    const problems = envelope.length > 0 && { problems: envelope };
    return { status, code, title: detail, detail, reason: 'rehearsal', ...problems } as Refused;
  }
  if (seen === 'fail') return answer.deliberate();
  return seen === 'duplicate' ? answer.duplicate(eventId) : answer.accepted(eventId);
}
