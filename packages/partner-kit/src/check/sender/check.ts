import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../../json.ts';
import { close, type Exchange, json, listen } from '../../simulate/exchange.ts';
import { decode } from '../client.ts';
import { excerpt } from '../redact.ts';
import { type Report, reportOf } from '../report.ts';
import { judge } from '../rule.ts';
import { dataRules, envelopeRules } from './event-rules.ts';
import { type Delivery, eventIdOf, Plan } from './plan.ts';
import { requestRules } from './request-rules.ts';
import { retryRules } from './retry-rules.ts';

export interface SenderCheckOptions {
  /** Default: a new one. */
  readonly secret?: string;
  readonly brandId?: string;
  readonly host?: string;
  readonly port?: number;
  /** The partner's address for this listener, if it differs from the address it listens on. */
  readonly publicUrl?: string;
  /** The longest the check waits. Default: 10 minutes. */
  readonly patienceMs?: number;
  /** How long to watch for a further retry after the last. Default: twice the last delay, at most 30 s. */
  readonly settleMs?: number;
  readonly now?: () => number;
  readonly onProgress?: (progress: SenderProgress) => void;
}

interface SenderProgress {
  readonly events: number;
  readonly requests: number;
  /** What the check waits for, as text. */
  readonly waitingFor: string;
}

export interface SenderCheck {
  /** What to configure in the partner's sender. */
  readonly url: string;
  readonly secret: string;
  /** Resolves when everything was observed, when the time is up, or after finish(). */
  readonly report: Promise<Report>;
  finish(): void;
}

export const senderRules = [...requestRules, ...envelopeRules, ...retryRules, ...dataRules];

const mostDeliveries = 2_000;

/** Acts as the service for a partner's sender: accepts events, refuses some on purpose, then judges each rule. */
export async function startSenderCheck(options: SenderCheckOptions = {}): Promise<SenderCheck> {
  const { host = '127.0.0.1', port = 0, patienceMs = 600_000, now = Date.now } = options;
  const secret = options.secret ?? `whsec_${randomBytes(24).toString('base64url')}`;
  const path = `/webhooks/check-${randomBytes(6).toString('hex')}`;
  const plan = new Plan();
  const ended = new AbortController();
  let count = 0;

  const settle = () => {
    const last = plan.events.find(({ role }) => role === 'fail')?.deliveries.slice(-2) ?? [];
    const gapMs = (last[1]?.atMs ?? 0) - (last[0]?.atMs ?? 0);
    sleep(options.settleMs ?? Math.min(30_000, Math.max(1_000, gapMs * 2)), undefined, { signal: ended.signal }).then(
      () => ended.abort(),
      () => undefined,
    );
  };

  const { server, baseUrl } = await listen(
    async (exchange) => {
      if (count >= mostDeliveries) return { answer: json(503, {}) };
      count += 1;
      const wasComplete = plan.complete;
      const delivery = read(exchange, count, now());
      const { status, retryAfter } = plan.take(delivery);
      options.onProgress?.({ events: plan.events.length, requests: count, waitingFor: awaited(plan) });
      if (plan.complete && !wasComplete) settle();
      const told = {
        status: status < 300 ? 'accepted' : 'refused by the check',
        event_id: eventIdOf(delivery) ?? null,
      };
      return { answer: json(status, told, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }) };
    },
    host,
    port,
  );
  const origin = options.publicUrl?.replace(/\/+$/, '') ?? baseUrl;
  const url = `${origin}${path}`;

  const finished = async (): Promise<Report> => {
    await sleep(patienceMs, undefined, { signal: ended.signal }).catch(() => undefined);
    ended.abort();
    await close(server);
    const { deliveries } = plan;
    const evidence = { plan, deliveries, secret, path, brandId: options.brandId };
    const results = senderRules.map((rule) => judge(rule, evidence));
    return reportOf(
      'sender',
      url,
      now(),
      results,
      deliveries.map((delivery) => shown(delivery, url)),
    );
  };
  return { url, secret, report: finished(), finish: () => ended.abort() };
}

function read({ method, path, headers, body: raw }: Exchange, number: number, atMs: number): Omit<Delivery, 'status'> {
  const { body, utf8 } = decode(raw);
  return {
    number,
    atMs,
    method,
    path,
    contentType: headers['content-type'] ?? '',
    signature: headers['x-webhook-signature'],
    timestamp: headers['x-webhook-timestamp'],
    raw,
    utf8,
    json: utf8 ? parseJson(body) : undefined,
  };
}

function awaited({ events }: Plan): string {
  const tries = events.find(({ role }) => role === 'fail')?.deliveries.length;
  if (events.length < 2) return 'another event; the check refuses it to observe the retries';
  if (tries !== undefined && tries < 5) return `retry ${tries} of 4 of the event that is being refused`;
  if (events.length < 3) return 'a third event; the check answers it once with 429';
  return 'the retry of the event that got a 429';
}

function shown(delivery: Delivery, url: string) {
  const { number, method, path, contentType, timestamp, signature, status, raw } = delivery;
  const headers: Record<string, string> = { 'Content-Type': contentType };
  if (timestamp !== undefined) headers['X-Webhook-Timestamp'] = timestamp.slice(0, 40);
  if (signature !== undefined)
    headers['X-Webhook-Signature'] = `${signature.slice(0, 15)}… (${signature.length} characters)`;
  return {
    number,
    purpose: `answered with ${status}`,
    method,
    url: new URL(path, url).href,
    headers,
    status,
    ms: 0,
    contentType,
    excerpt: excerpt(raw.toString('utf8')),
  };
}
