import type { Clock } from '../../../kit/clock.ts';
import { parseStrictJson, type StrictLimits } from '../../../kit/json.ts';
import type { Span, Tracer } from '../../../kit/trace.ts';
import { readXml, writeXml } from '../../../kit/xml.ts';
import { type EpochMs, type IntegrationName, isObject, type Json, type JsonObject } from '../../../terms.ts';
import type { Refused, WebhookAnswer } from './answer.ts';
import * as answer from './answer.ts';
import { findEventId, readEnvelope } from './envelope.ts';
import { type EventsRead, readForeign } from './foreign-envelope.ts';
import type { Appended } from './group-commit.ts';
import { secretKeys } from './mint.ts';
import type { BucketRate, Endpoint, NewEvent } from './ports.ts';
import type { PushSettings } from './settings.ts';
import { defaultVerification, type Request, type SignatureCheck } from './verification.ts';
import { verify } from './verify.ts';

/**
 * One request to a live endpoint, from raw bytes to answer:
 *
 *   body -> endpoint -> signature -> rate -> JSON -> envelope -> event id -> stored, durably -> 202
 *             404,410     401        429     400      422          422       200, 410, 401, 503
 *
 * The body is not parsed before its signature is verified.
 */
interface ReceivePorts {
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
const decoy = [secretKeys(0, 'decoy'.repeat(9))];

export async function receive(ports: ReceivePorts, arrived: Arrived): Promise<Received> {
  const known = ports.endpoint(arrived.endpointId, 0);
  let endpoint = known instanceof Promise ? await known : known;
  let verdict = check(ports, endpoint, arrived);
  const mayBeNewSecret =
    verdict.kind === 'refused' && (verdict.reason === 'signature_wrong' || verdict.reason === 'no_valid_secret');
  if (endpoint && !endpoint.retired && mayBeNewSecret) {
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
  if (verdict.kind === 'refused') {
    const { reason, skewS } = verdict;
    return refuse(answer.unauthorized(skewS === undefined ? reason : `${reason} ${skewS} s`), false);
  }

  const rate = ports.endpointRates.take(endpoint.endpointId, arrived.receivedAt);
  if (rate.kind === 'wait') return refuse(answer.rateLimited('endpoint_rate', rate.seconds), true);

  // Only a verified sender may join its trace to ours.
  const span = ports.tracer?.start('accept webhook', {
    kind: 'server',
    parent: arrived.headers.traceparent as string | undefined,
    attributes: { 'innbound.integration': endpoint.integration },
  });
  const { answer: given, idReused } = await store(ports, endpoint, settings, verdict.secretNo, arrived, span);
  const code = 'code' in given ? given.code : undefined;
  span?.end({ 'http.response.status_code': given.status }, code);
  return { answer: given, endpoint, verified: true, ...(idReused !== undefined && { idReused }) };
}

async function store(
  ports: ReceivePorts,
  { integration, endpointId }: Endpoint,
  settings: PushSettings,
  secretNo: number,
  arrived: Arrived,
  span: Span | undefined,
): Promise<Pick<Received, 'answer' | 'idReused'>> {
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
  const xml = settings.xml && inXml(settings.xml, read.echoToken, arrived);
  return { answer: xml === undefined ? respond(eventId, events.length) : answer.inXml(eventId, xml), idReused };
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

function readBody(
  ports: ReceivePorts,
  settings: PushSettings,
  arrived: Arrived,
): (EventsRead & { kind: 'ok'; readonly echoToken: Json | undefined }) | Refused {
  const parsed = parsedBody(settings, arrived, ports.jsonLimits());
  if (parsed.kind === 'refused') return parsed.refused;
  const read = readEvents(settings, parsed.value, arrived);
  if (read.kind !== 'ok') return answer.badEnvelope(read.problems);
  return { ...read, echoToken: isObject(parsed.value) ? parsed.value['@EchoToken'] : undefined };
}

const xmlType = /^(?:application|text)\/(?:xml|soap\+xml)[ \t]*(?:;|$)/i;

/** The body as JSON. Of XML, what is inside the root element, with its name. */
export function parsedBody(
  { xml }: Pick<PushSettings, 'xml'>,
  { headers, rawBody }: Pick<Request, 'headers' | 'rawBody'>,
  limits: StrictLimits,
): { readonly kind: 'ok'; readonly value: Json } | { readonly kind: 'refused'; readonly refused: Refused } {
  const isXml = xmlType.test(String(headers['content-type'] ?? ''));
  if (isXml !== (xml !== undefined)) return { kind: 'refused', refused: answer.wrongMediaType('content_type') };
  if (!isXml) {
    const parsed = parseStrictJson(rawBody, limits);
    return parsed.kind === 'ok' ? parsed : { kind: 'refused', refused: answerToBody(parsed.reason, parsed.position) };
  }
  try {
    const [[name, content] = ['', null]] = Object.entries(readXml(rawBody));
    return { kind: 'ok', value: { ...(isObject(content) ? content : {}), '#name': name } };
  } catch (error) {
    return { kind: 'refused', refused: answer.notXml((error as Error).message) };
  }
}

function inXml(template: JsonObject, echoToken: Json | undefined, { receivedAt }: Arrived) {
  const now = new Date(receivedAt).toISOString().replace(/\.\d+Z$/, 'Z');
  const values: Record<string, string> = { now, echo_token: typeof echoToken === 'string' ? echoToken : '' };
  const text = JSON.stringify(template).replace(/\{(now|echo_token)\}/g, (_, name: string) =>
    JSON.stringify(values[name]).slice(1, -1),
  );
  return writeXml(JSON.parse(text) as JsonObject);
}

function answerToBody(reason: string, position: number | undefined): Refused {
  if (reason === 'not_utf8') return answer.notUtf8();
  return reason === 'not_json' ? answer.notJson(position) : answer.unsafeJson(reason, position);
}

/** Token buckets, one per key. A bucket that is full again is dropped. */
export class Buckets {
  readonly #rate: (key: string) => BucketRate;
  readonly #maxKeys: number;
  #levels = new Map<string, { tokens: number; at: EpochMs }>();

  constructor(rate: (key: string) => BucketRate, maxKeys: number) {
    this.#rate = rate;
    this.#maxKeys = maxKeys;
  }

  /** Takes the tokens if there are enough; otherwise returns how many seconds to wait. */
  take(key: string, now: EpochMs, tokens = 1): { kind: 'taken' } | { kind: 'wait'; seconds: number } {
    const rate = this.#rate(key);
    const level = this.#level(key, rate, now);
    if (level.tokens >= tokens) {
      level.tokens -= tokens;
      return { kind: 'taken' };
    }
    return { kind: 'wait', seconds: Math.max(1, Math.ceil((tokens - level.tokens) / rate.perSecond)) };
  }

  /** Whether a token is left, without taking it. */
  peek(key: string, now: EpochMs): { kind: 'taken' } | { kind: 'wait'; seconds: number } {
    return this.#levels.has(key) ? this.take(key, now, 0.000_001) : { kind: 'taken' };
  }

  /** Takes the tokens even below zero, so that the key waits longer. */
  charge(key: string, now: EpochMs, tokens: number): void {
    const rate = this.#rate(key);
    const level = this.#level(key, rate, now);
    level.tokens = Math.max(level.tokens - tokens, -rate.burst);
  }

  giveBack(key: string, tokens: number): void {
    const level = this.#levels.get(key);
    if (level) level.tokens = Math.min(this.#rate(key).burst, level.tokens + tokens);
  }

  #level(key: string, rate: BucketRate, now: EpochMs): { tokens: number; at: EpochMs } {
    let level = this.#levels.get(key);
    if (level === undefined) {
      if (this.#levels.size >= this.#maxKeys) this.#forget(now);
      level = { tokens: rate.burst, at: now };
      this.#levels.set(key, level);
      return level;
    }
    const elapsedMs = Math.max(0, now - level.at);
    level.tokens = Math.min(rate.burst, level.tokens + (elapsedMs / 1000) * rate.perSecond);
    level.at = now;
    return level;
  }

  /** Drops full buckets; if that is not enough, drops the oldest half, so that memory stays bounded. */
  #forget(now: EpochMs): void {
    for (const [key, level] of this.#levels) {
      const rate = this.#rate(key);
      if (level.tokens + (Math.max(0, now - level.at) / 1000) * rate.perSecond >= rate.burst) this.#levels.delete(key);
    }
    if (this.#levels.size < this.#maxKeys / 2) return;
    let surplus = this.#levels.size - this.#maxKeys / 2;
    for (const key of this.#levels.keys()) {
      if (surplus-- <= 0) break;
      this.#levels.delete(key);
    }
  }
}

/** Without the prefix that a dual-stack socket puts before IPv4 addresses. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/, '');

/** The key for limits per address: an IPv6 host usually controls a whole /64. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  return plain.includes(':') ? plain.split(':', 4).join(':') : plain;
}

/** Reads the events of a verified body: one event in our envelope, or those of the sender's own envelope. */
export function readEvents(settings: PushSettings, body: Json, { headers, query, rawBody }: Request): EventsRead {
  if (settings.envelope) return readForeign(settings.envelope, settings, { body, headers, query, rawBody });
  const read = readEnvelope(body, settings.brandId);
  const id = findEventId(settings.eventIdPlaces, { item: body, body, headers }, rawBody);
  if (read.kind === 'invalid' || id.kind === 'invalid') {
    const problems = read.kind === 'invalid' ? [...read.problems] : [];
    if (id.kind === 'invalid') problems.push(id);
    return { kind: 'invalid', problems };
  }
  const { eventId } = id;
  return { kind: 'ok', events: [{ ...read.envelope, eventId, body: rawBody }], eventId, ignored: 0 };
}
