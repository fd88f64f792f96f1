import { createSecretKey } from 'node:crypto';
import type { Clock } from '../../kit/clock.ts';
import { parseStrictJson, type StrictLimits } from '../../kit/json-strict.ts';
import type { Span, Tracer } from '../../kit/trace.ts';
import type { EpochMs, IntegrationName } from '../../terms.ts';
import type { Refused, WebhookAnswer } from './answer.ts';
import * as answer from './answer.ts';
import type { Buckets } from './bucket.ts';
import type { EventsRead } from './foreign-envelope.ts';
import type { Appended } from './group-commit.ts';
import type { Endpoint, NewEvent, PushSettings } from './ports.ts';
import { readEvents } from './read-events.ts';
import { defaultVerification, type Request, type Secret, type SignatureCheck } from './verification.ts';
import { verify } from './verify.ts';

/**
 * One request to a live endpoint, from raw bytes to answer:
 *
 *   body -> endpoint -> signature -> rate -> JSON -> envelope -> event id -> stored, durably -> 202
 *             404,410     401        429     400      422          422       200, 410, 401, 503
 *
 * The body is not parsed before its signature is verified.
 */
export interface ReceivePorts {
  readonly clock: Clock;
  /** From memory; unknown ids are looked up in the store together. */
  readonly endpoint: (endpointId: string, staleBefore: EpochMs) => Endpoint | undefined | Promise<Endpoint | undefined>;
  readonly settings: (integration: IntegrationName) => PushSettings | undefined;
  /** Resolves when the event is on disk. */
  readonly append: (event: NewEvent) => Promise<Appended>;
  readonly endpointRates: Buckets;
  readonly jsonLimits: () => StrictLimits;
  readonly tracer?: Tracer;
}

export interface Arrived extends Request {
  readonly endpointId: string;
  readonly receivedAt: EpochMs;
}

export interface Received {
  readonly answer: WebhookAnswer;
  readonly endpoint?: Endpoint;
  /** True when the signature was valid: later failures are not charged to the address. */
  readonly verified: boolean;
  /** The event id was used before with a different body. */
  readonly idReused?: boolean;
  /** Nothing was stored and `answer` is not final: the sandbox reports on the request and answers it. */
  readonly rehearsal?: true;
}

const retryAfterS = 5;

/** Unknown endpoints are verified against this, so that a guessed id takes the same time as a real one. */
const decoy: readonly Secret[] = [decoySecret()];

export async function receive(ports: ReceivePorts, arrived: Arrived): Promise<Received> {
  const known = ports.endpoint(arrived.endpointId, 0);
  let endpoint = known instanceof Promise ? await known : known;
  let verdict = check(ports, endpoint, arrived);
  if (endpoint && !endpoint.retired && verdict.kind === 'refused' && mayBeNewSecret(verdict)) {
    // Another node may have just rotated the secret: never refuse on cached data.
    endpoint = await ports.endpoint(arrived.endpointId, ports.clock.now());
    verdict = check(ports, endpoint, arrived);
  }
  if (endpoint === undefined) return { answer: answer.unknownEndpoint(), verified: false };
  const settings = ports.settings(endpoint.integration);
  const refuse = (refused: Refused, verified: boolean): Received => ({ answer: refused, endpoint, verified });
  if (endpoint.retired) return refuse(answer.retiredEndpoint('retired'), false);
  if (settings?.enabled !== true) return refuse(answer.retiredEndpoint('push_disabled'), false);
  if (settings.rehearses) {
    return { answer: answer.accepted(''), endpoint, verified: verdict.kind === 'verified', rehearsal: true };
  }
  if (verdict.kind === 'refused') return refuse(answer.unauthorized(describe(verdict)), false);

  const rate = ports.endpointRates.take(endpoint.endpointId, arrived.receivedAt);
  if (rate.kind === 'wait') return refuse(answer.rateLimited('endpoint_rate', rate.seconds), true);

  // Only a verified sender may join its trace to ours.
  const span = ports.tracer?.start('accept webhook', {
    kind: 'server',
    parent: arrived.headers.traceparent as string | undefined,
    attributes: { 'innbound.integration': endpoint.integration },
  });
  const { answer: given, idReused } = await store(
    ports,
    { endpoint, settings, secretNo: verdict.secretNo },
    arrived,
    span,
  );
  const code = 'code' in given ? given.code : undefined;
  span?.end({ 'http.response.status_code': given.status }, code);
  return { answer: given, endpoint, verified: true, ...(idReused !== undefined && { idReused }) };
}

interface VerifiedSender {
  readonly endpoint: Endpoint;
  readonly settings: PushSettings;
  readonly secretNo: number;
}

async function store(
  ports: ReceivePorts,
  { endpoint, settings, secretNo }: VerifiedSender,
  arrived: Arrived,
  span: Span | undefined,
): Promise<Pick<Received, 'answer' | 'idReused'>> {
  const { integration, endpointId } = endpoint;
  const read = readBody(ports, settings, arrived);
  if ('status' in read) return { answer: read };
  const { events, eventId } = read;
  if (events.length > 1) ports.endpointRates.charge(endpointId, arrived.receivedAt, events.length - 1);
  const trace = span?.traceparent;
  const stored = await Promise.all(
    events.map(({ eventId, event, occurredAt, body: rawBody }) =>
      ports.append({ integration, endpointId, secretNo, eventId, event, occurredAt, rawBody, trace }),
    ),
  );
  const refused = refusalOf(stored);
  if (refused) return { answer: refused };
  // A body is a duplicate only when all of its events are; a body without events is accepted.
  const nothingNew = stored.length > 0 && stored.every(({ kind }) => kind === 'duplicate');
  const idReused = stored.some((one) => one.kind === 'duplicate' && !one.sameBody);
  const respond = nothingNew ? answer.duplicate : answer.accepted;
  return { answer: respond(eventId, events.length), idReused };
}

/** If one event could not be stored, the sender retries the whole body; the stored ones are duplicates then. */
function refusalOf(stored: readonly Appended[]): Refused | undefined {
  for (const one of stored) {
    if (one.kind === 'unavailable') return answer.unavailable(one.reason, retryAfterS);
    if (one.kind === 'refused') {
      return one.reason === 'retired' ? answer.retiredEndpoint('retired') : answer.unauthorized('secret_ended');
    }
  }
  return undefined;
}

function check(ports: ReceivePorts, endpoint: Endpoint | undefined, arrived: Arrived): SignatureCheck {
  const settings = endpoint && ports.settings(endpoint.integration);
  return verify(settings?.verification ?? defaultVerification, arrived, endpoint?.secrets ?? decoy, arrived.receivedAt);
}

function mayBeNewSecret(verdict: SignatureCheck & { kind: 'refused' }): boolean {
  return verdict.reason === 'signature_wrong' || verdict.reason === 'no_valid_secret';
}

/** For the operator: the reason, and how far the sender's clock is off. */
function describe(verdict: SignatureCheck & { kind: 'refused' }): string {
  return verdict.skewS === undefined ? verdict.reason : `${verdict.reason} ${verdict.skewS} s`;
}

function readBody(
  ports: ReceivePorts,
  settings: PushSettings,
  arrived: Arrived,
): (EventsRead & { kind: 'ok' }) | Refused {
  const parsed = parseStrictJson(arrived.rawBody, ports.jsonLimits());
  if (parsed.kind === 'invalid') return answerToBody(parsed.reason, parsed.position);
  const read = readEvents(settings, parsed.value, arrived);
  return read.kind === 'ok' ? read : answer.badEnvelope(read.problems);
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
