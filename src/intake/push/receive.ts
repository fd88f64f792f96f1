import { createSecretKey } from 'node:crypto';
import type { Clock } from '../../kit/clock.ts';
import { parseStrictJson, type StrictLimits } from '../../kit/json-strict.ts';
import type { EpochMs, IntegrationName } from '../../terms.ts';
import type { Answer, Refused } from './answer.ts';
import * as answer from './answer.ts';
import type { Buckets } from './bucket.ts';
import { readEnvelope } from './envelope.ts';
import { findEventId } from './event-id.ts';
import type { Endpoint, NewEvent, PushSettings, Stored } from './ports.ts';
import { defaultVerification, type Request, type Secret, type Verdict, verify } from './verify.ts';

/**
 * One request to a live endpoint, from its raw bytes to its answer:
 *
 *   body -> endpoint -> signature -> rate -> JSON -> envelope -> event id -> stored, durably -> 202
 *             404,410     401        429     400      422          422       200, 410, 401, 503
 *
 * Nothing reads the body before the signature has vouched for it.
 */
export interface ReceivePorts {
  readonly clock: Clock;
  /** From memory; an unknown id is looked up in the store, many at once. */
  readonly endpoint: (endpointId: string, staleBefore: EpochMs) => Endpoint | undefined | Promise<Endpoint | undefined>;
  readonly settings: (integration: IntegrationName) => PushSettings | undefined;
  /** Resolves when the event is on disk. */
  readonly append: (
    event: NewEvent,
  ) => Promise<Stored | { kind: 'unavailable'; reason: 'store_unreachable' | 'store_slow' | 'backlog_full' }>;
  readonly endpointRates: Buckets;
  readonly jsonLimits: () => StrictLimits;
}

export interface Arrived extends Request {
  readonly endpointId: string;
  readonly receivedAt: EpochMs;
}

export interface Received {
  readonly answer: Answer;
  readonly endpoint?: Endpoint;
  /** Set where the sender has proved itself: its failures are not held against its address. */
  readonly verified: boolean;
  /** The id of an earlier event came with another body. */
  readonly idReused?: boolean;
}

/** How long a sender that cannot be served waits before it tries again. */
const retryAfterS = 5;

/** Verified against when there is no endpoint, so that a guess costs the same work and time as a hit. */
const decoy: readonly Secret[] = [decoySecret()];

export async function receive(ports: ReceivePorts, arrived: Arrived): Promise<Received> {
  const known = ports.endpoint(arrived.endpointId, 0);
  let endpoint = known instanceof Promise ? await known : known;
  let verdict = check(ports, endpoint, arrived);
  if (endpoint && !endpoint.retired && verdict.kind === 'refused' && mayBeNewSecret(verdict)) {
    // Another node may have rotated the secret a moment ago: a refusal is never based on old knowledge.
    endpoint = await ports.endpoint(arrived.endpointId, ports.clock.now());
    verdict = check(ports, endpoint, arrived);
  }
  if (endpoint === undefined) return { answer: answer.unknownEndpoint(), verified: false };
  const settings = ports.settings(endpoint.integration);
  const refuse = (refused: Refused, verified: boolean): Received => ({ answer: refused, endpoint, verified });
  if (endpoint.retired) return refuse(answer.retiredEndpoint('retired'), false);
  if (settings?.enabled !== true) return refuse(answer.retiredEndpoint('push_disabled'), false);
  if (verdict.kind === 'refused') return refuse(answer.unauthorized(describe(verdict)), false);

  const rate = ports.endpointRates.take(endpoint.endpointId, arrived.receivedAt);
  if (rate.kind === 'wait') return refuse(answer.rateLimited('endpoint_rate', rate.seconds), true);

  const read = readEvent(ports, settings, arrived);
  if ('status' in read) return refuse(read, true);
  const stored = await ports.append({
    ...read,
    integration: endpoint.integration,
    endpointId: endpoint.endpointId,
    secretNo: verdict.secretNo,
  });
  switch (stored.kind) {
    case 'stored':
      return { answer: answer.accepted(read.eventId), endpoint, verified: true };
    case 'duplicate':
      return { answer: answer.duplicate(read.eventId), endpoint, verified: true, idReused: !stored.sameBody };
    case 'refused':
      return stored.reason === 'retired'
        ? refuse(answer.retiredEndpoint('retired'), true)
        : refuse(answer.unauthorized('secret_ended'), true);
    case 'unavailable':
      return refuse(answer.unavailable(stored.reason, retryAfterS), true);
  }
}

function check(ports: ReceivePorts, endpoint: Endpoint | undefined, arrived: Arrived): Verdict {
  const settings = endpoint && ports.settings(endpoint.integration);
  return verify(settings?.verification ?? defaultVerification, arrived, endpoint?.secrets ?? decoy, arrived.receivedAt);
}

function mayBeNewSecret(verdict: Verdict & { kind: 'refused' }): boolean {
  return verdict.reason === 'signature_wrong' || verdict.reason === 'no_valid_secret';
}

/** What the operator reads: the reason, and by how much a clock is off. */
function describe(verdict: Verdict & { kind: 'refused' }): string {
  return verdict.skewS === undefined ? verdict.reason : `${verdict.reason} ${verdict.skewS} s`;
}

type ReadEvent = Pick<NewEvent, 'eventId' | 'event' | 'occurredAt' | 'receivedAt' | 'rawBody'>;

function readEvent(ports: ReceivePorts, settings: PushSettings, arrived: Arrived): ReadEvent | Refused {
  const { rawBody, receivedAt, headers } = arrived;
  const parsed = parseStrictJson(rawBody, ports.jsonLimits());
  if (parsed.kind === 'invalid') return answerToBody(parsed.reason, parsed.position);
  const read = readEnvelope(parsed.value, settings.brandId);
  if (read.kind === 'invalid') return answer.badEnvelope(read.problems);
  const id = findEventId(settings.eventIdPlaces, parsed.value, headers, rawBody);
  if (id.kind === 'invalid') return answer.badEnvelope([id]);
  const { event, occurredAt } = read.envelope;
  return { eventId: id.eventId, event, occurredAt, receivedAt, rawBody };
}

export function answerToBody(reason: string, position: number | undefined): Refused {
  if (reason === 'not_utf8') return answer.notUtf8();
  return reason === 'not_json' ? answer.notJson(position) : answer.unsafeJson(reason, position);
}

function decoySecret(): Secret {
  const bytes = Buffer.alloc(44, 'decoy');
  const key = createSecretKey(bytes);
  return { secretNo: 0, bytes, key, standardKey: key };
}
