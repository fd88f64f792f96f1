import { type StrictLimits, strictLimits } from '../../../kit/json.ts';
import type { Tracer } from '../../../kit/trace.ts';
import type { EpochMs, IntegrationName } from '../../../terms.ts';
import type { Refused } from './answer.ts';
import * as answer from './answer.ts';
import { openDirectory } from './directory.ts';
import { type GroupCommitLimits, type GroupCommitPorts, openGroupCommit } from './group-commit.ts';
import { secretKeys } from './mint.ts';
import type { BucketRate, Endpoint, Origin, Rejection } from './ports.ts';
import { type Arrived, Buckets, networkOf, type Received, receive } from './receive.ts';
import { openRejectionLog, type RejectionCount } from './rejection-log.ts';
import type { PushSettings } from './settings.ts';

/** The push side of a running node: the state that it keeps between requests. */
export interface IntakePorts extends GroupCommitPorts {
  readonly loadEndpoints: (ids: readonly string[]) => Promise<readonly LoadedEndpoint[]>;
  readonly settings: (integration: IntegrationName) => PushSettings | undefined;
  readonly writeRejections: (counts: readonly RejectionCount[]) => Promise<void>;
  /** Called for every answer, for metrics. */
  readonly answered?: (status: number, code: string | undefined, integration: string | undefined) => void;
  readonly jsonLimits?: () => StrictLimits;
  readonly commitLimits?: GroupCommitLimits;
  /** The failure rate beyond which an address is refused before its request is read. */
  readonly failureRate?: BucketRate;
  readonly tracer?: Tracer | undefined;
}

export interface LoadedEndpoint extends Omit<Endpoint, 'secrets'> {
  readonly secrets: readonly { readonly secretNo: number; readonly secret: string; readonly expiresAt?: EpochMs }[];
}

export type PushIntake = ReturnType<typeof openPushIntake>;

/** Generous, because one PMS cloud may send for many brands from one address and fail for all of them at once. */
const failureRate: BucketRate = { perSecond: 200, burst: 2_000 };
const bytesPerToken = 16 * 1024;

export function openPushIntake(ports: IntakePorts) {
  const { clock } = ports;
  const onError = ports.onError ?? (() => {});
  const load = async (ids: readonly string[]) => (await ports.loadEndpoints(ids)).map(opened);
  const directory = openDirectory({ clock, load, onError });
  const commits = openGroupCommit(ports, ports.commitLimits);
  const rejections = openRejectionLog({ clock, write: ports.writeRejections, onError });
  const failures = new Buckets(() => ports.failureRate ?? failureRate, 100_000);
  const rateOf = (endpointId: string): BucketRate => {
    const endpoint = directory.peek(endpointId);
    return (endpoint && ports.settings(endpoint.integration)?.rate) ?? { perSecond: 200, burst: 1_000 };
  };
  const receivePorts = {
    clock,
    endpoint: directory.endpoint,
    settings: ports.settings,
    append: commits.append,
    endpointRates: new Buckets(rateOf, 100_000),
    jsonLimits: ports.jsonLimits ?? (() => strictLimits),
    ...(ports.tracer && { tracer: ports.tracer }),
  };

  const enter = (
    refusal: Pick<Rejection, 'status' | 'code' | 'reason'>,
    origin: Origin,
    endpoint: Endpoint | undefined,
  ) => {
    const { status, code, reason } = refusal;
    const where = endpoint && { integration: endpoint.integration };
    rejections.add({ at: clock.now(), status, code, reason, ...origin, ...where });
  };

  return {
    directory,
    /** Checked before anything is read: refuses an address that keeps failing. */
    guard(address: string): Refused | undefined {
      const level = failures.peek(networkOf(address), clock.now());
      return level.kind === 'wait' ? answer.rateLimited('address_rate', level.seconds) : undefined;
    },
    /** `origin` is called only when a rejection is recorded. */
    async receive(arrived: Arrived, address: string, origin: () => Origin): Promise<Received> {
      let received: Received;
      try {
        received = await receive(receivePorts, arrived);
      } catch (error) {
        onError(error);
        received = { answer: answer.unavailable('store_unreachable', 5), verified: true };
      }
      if (received.rehearsal) return received;
      const { endpoint, verified } = received;
      ports.answered?.(
        received.answer.status,
        'code' in received.answer ? received.answer.code : undefined,
        endpoint?.integration,
      );
      if ('code' in received.answer) enter(received.answer, origin(), endpoint);
      else if (received.idReused)
        enter({ status: 200, code: 'push.event_id_reused', reason: 'event_id_reused' }, origin(), endpoint);
      if (verified) failures.giveBack(networkOf(address), 1);
      else failures.charge(networkOf(address), clock.now(), 1 + arrived.rawBody.length / bytesPerToken);
      return received;
    },
    /** Records a refusal that was decided elsewhere, such as a body that is too large, and charges the address. */
    refused(refusal: Refused, origin: Origin, endpoint?: Endpoint): void {
      ports.answered?.(refusal.status, refusal.code, endpoint?.integration);
      // A rate-limited address is neither charged again nor recorded each time.
      if (refusal.reason === 'address_rate' || refusal.reason === 'draining') return;
      enter(refusal, origin, endpoint ?? directory.peek(origin.endpointId));
      failures.charge(networkOf(origin.address), clock.now(), 1);
    },
    /** Resolves when every received event is either on disk or refused. */
    flushed: commits.flushed,
    async close(): Promise<void> {
      await commits.flushed();
      commits.close();
      await rejections.close();
    },
  };
}

function opened({ secrets, ...endpoint }: LoadedEndpoint): Endpoint {
  return { ...endpoint, secrets: secrets.map((one) => secretKeys(one.secretNo, one.secret, one.expiresAt)) };
}
