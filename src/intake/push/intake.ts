import type { Clock, Timers } from '../../kit/clock.ts';
import { type StrictLimits, strictLimits } from '../../kit/json-strict.ts';
import type { Tracer } from '../../kit/trace.ts';
import type { EndpointId, EpochMs, IntegrationName } from '../../terms.ts';
import type { Refused } from './answer.ts';
import * as answer from './answer.ts';
import { type BucketRate, Buckets } from './bucket.ts';
import { type Directory, openDirectory } from './directory.ts';
import {
  type GroupCommit,
  type GroupCommitLimits,
  type GroupCommitPorts,
  groupCommitLimits,
  openGroupCommit,
} from './group-commit.ts';
import { secretKeys } from './mint.ts';
import { networkOf } from './network.ts';
import type { Endpoint, PushSettings, Rejection } from './ports.ts';
import { type Arrived, type Received, receive } from './receive.ts';
import { openRejectionLog, type RejectionCount, type RejectionLog } from './rejection-log.ts';

/** The push side of a running node: the state that it keeps between requests. */
export interface IntakePorts {
  readonly clock: Clock & Timers;
  readonly loadEndpoints: (ids: readonly string[]) => Promise<readonly LoadedEndpoint[]>;
  readonly settings: (integration: IntegrationName) => PushSettings | undefined;
  readonly insert: GroupCommitPorts['insert'];
  readonly writeRejections: (counts: readonly RejectionCount[]) => Promise<void>;
  /** Called after events were stored, to wake the worker. */
  readonly stored?: () => void;
  /** Called for every answer, for metrics. */
  readonly answered?: (status: number, code: string | undefined, integration: string | undefined) => void;
  readonly onError?: (error: unknown) => void;
  readonly soon?: GroupCommitPorts['soon'];
  readonly jsonLimits?: () => StrictLimits;
  readonly commitLimits?: GroupCommitLimits;
  /** The failure rate beyond which an address is refused before its request is read. */
  readonly failureRate?: BucketRate;
  readonly tracer?: Tracer | undefined;
}

interface LoadedEndpoint {
  readonly endpointId: EndpointId;
  readonly integration: IntegrationName;
  readonly sandbox: boolean;
  readonly retired: boolean;
  readonly secrets: readonly { readonly secretNo: number; readonly secret: string; readonly expiresAt?: EpochMs }[];
}

/** The facts of a request besides its content, for the list of rejections. */
export interface Origin {
  readonly requestId: string;
  readonly address: string;
  readonly endpointId: string;
  readonly headerNames: readonly string[];
  readonly bodyBytes: number;
}

export interface PushIntake {
  readonly directory: Directory;
  /** Checked before anything is read: refuses an address that keeps failing. */
  guard(address: string): Refused | undefined;
  /** `origin` is called only when a rejection is recorded. */
  receive(arrived: Arrived, address: string, origin: () => Origin): Promise<Received>;
  /** Records a refusal that was decided elsewhere, such as a body that is too large, and charges the address. */
  refused(refusal: Refused, origin: Origin, endpoint?: Endpoint): void;
  /** Resolves when every received event is either on disk or refused. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

/** Generous, because one PMS cloud may send for many brands from one address and fail for all of them at once. */
const failureRate: BucketRate = { perSecond: 200, burst: 2_000 };
const bytesPerToken = 16 * 1024;

export function openPushIntake(ports: IntakePorts): PushIntake {
  const { clock } = ports;
  const onError = ports.onError ?? (() => {});
  const directory = openDirectory({
    clock,
    load: async (ids) => (await ports.loadEndpoints(ids)).map(opened),
    onError,
  });
  const commits: GroupCommit = openGroupCommit(
    {
      clock,
      insert: ports.insert,
      onError,
      ...(ports.stored && { stored: ports.stored }),
      ...(ports.soon && { soon: ports.soon }),
    },
    ports.commitLimits ?? groupCommitLimits,
  );
  const rejections: RejectionLog = openRejectionLog({ clock, write: ports.writeRejections, onError });
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
    guard(address) {
      const level = failures.peek(networkOf(address), clock.now());
      return level.kind === 'wait' ? answer.rateLimited('address_rate', level.seconds) : undefined;
    },
    async receive(arrived, address, origin) {
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
    refused(refusal, origin, endpoint) {
      ports.answered?.(refusal.status, refusal.code, endpoint?.integration);
      // A rate-limited address is neither charged again nor recorded each time.
      if (refusal.reason === 'address_rate' || refusal.reason === 'draining') return;
      enter(refusal, origin, endpoint ?? directory.peek(origin.endpointId));
      failures.charge(networkOf(origin.address), clock.now(), 1);
    },
    flushed: commits.flushed,
    async close() {
      await commits.flushed();
      commits.close();
      await rejections.close();
    },
  };
}

function opened({ secrets, ...endpoint }: LoadedEndpoint): Endpoint {
  return { ...endpoint, secrets: secrets.map((one) => secretKeys(one.secretNo, one.secret, one.expiresAt)) };
}
