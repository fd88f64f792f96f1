import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type BackoffOptions, backoffMs, defaultBackoff } from './backoff.ts';
import { Lanes } from './lanes.ts';
import { type DeadLetter, type Letter, type OutgoingEvent, orderKeyOf } from './letter.ts';
import type { Observation, SenderStats, SendResult, WebhookSenderOptions } from './options.ts';
import { type PostOutcome, post } from './post.ts';
import { FolderSpool, MemorySpool, type Spool } from './spool.ts';

/**
 * Sends events to one webhook endpoint.
 *
 *   send() -> stored (fsync) -> attempt -> 2xx: delivered, removed
 *                                 ^    \-> otherwise: wait, sign again, retry; after the last retry: dead letter
 *                                 |                                                                        |
 *                                 +-------------------------------- replay --------------------------------+
 *
 * At least once: an event is removed only after a 2xx. Once in effect: every attempt has the same event_id and the same bytes.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #spool: Spool;
  readonly #lanes: Lanes;
  readonly #backoff: BackoffOptions;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #now: () => number;
  readonly #counts = { delivered: 0, retried: 0, dead: 0 };

  private constructor(options: WebhookSenderOptions, spool: Spool) {
    this.#options = options;
    this.#spool = spool;
    this.#lanes = new Lanes(options.concurrency ?? 8);
    this.#backoff = { ...defaultBackoff, ...options.backoff };
    this.#now = options.now ?? Date.now;
  }

  /** Opens the folder and resumes events that a crash left pending. */
  static async open(options: WebhookSenderOptions): Promise<WebhookSender> {
    // One that only lists dead letters needs none.
    if (options.resume !== false && options.secret.length < 24) throw new Error('A secret has at least 24 characters.');
    const spool = options.folder === undefined ? new MemorySpool() : await FolderSpool.open(options.folder);
    const sender = new WebhookSender(options, spool);
    if (options.resume === false) return sender;
    for (const { name, letter } of await spool.pending()) void sender.#track(sender.#settle(name, letter));
    return sender;
  }

  get stats(): SenderStats {
    return { queued: this.#underWay.size, ...this.#counts };
  }

  /** Resolves when the event is accepted or dead. You need not await it before the next call: order is kept per reservation. */
  async send(event: OutgoingEvent): Promise<SendResult> {
    const eventId = event.event_id ?? randomUUID();
    if (this.#closing.signal.aborted) return { kind: 'refused', eventId, why: 'The sender is closed.' };
    const most = this.#options.maxQueued ?? 10_000;
    if (this.#underWay.size >= most)
      return { kind: 'refused', eventId, why: `${most} events are already queued; wait until some are settled.` };
    const letter = this.#envelope(event, eventId);
    const kept = this.#spool.keep(letter);
    // Report a full disk to the caller, who may be waiting behind another event of the lane.
    kept.catch(() => undefined);
    this.#observe({ kind: 'accepted', eventId, event: event.event, queued: this.#underWay.size + 1 });
    return this.#track(this.#settle(kept, letter));
  }

  deadLetters(): Promise<DeadLetter[]> {
    return this.#spool.dead();
  }

  /** Sends dead letters again, by id or all: same event id, new signature, the full number of attempts. */
  async replay(ids: readonly string[] | 'all'): Promise<SendResult[]> {
    const letters = (await this.#spool.dead()).filter((letter) => ids === 'all' || ids.includes(letter.id));
    return Promise.all(
      letters.map(({ id, attempts, failedAt: _at, failure: _failure, ...letter }) =>
        this.#track(this.#settle(id, letter, attempts)),
      ),
    );
  }

  async drop(id: string): Promise<boolean> {
    const known = (await this.#spool.dead()).some((letter) => letter.id === id);
    if (known) await this.#spool.forget(id);
    return known;
  }

  /** Waits until no event is pending. */
  async drain(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled([...this.#underWay]);
  }

  /** Accepts nothing more, aborts delays and requests, and leaves unsettled events in the folder. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.drain();
  }

  #envelope(event: OutgoingEvent, eventId: string): Letter {
    const now = new Date(this.#now());
    const happened = event.timestamp instanceof Date ? event.timestamp.toISOString() : event.timestamp;
    const body = JSON.stringify({
      event: event.event,
      event_id: eventId,
      timestamp: happened ?? now.toISOString(),
      brand_id: event.brand_id ?? this.#options.brandId,
      data: event.data,
    });
    return { eventId, event: event.event, orderKey: orderKeyOf(event, eventId), body, acceptedAt: now.toISOString() };
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const done = () => this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }

  #settle(kept: string | Promise<string>, letter: Letter, triedBefore = 0): Promise<SendResult> {
    return this.#lanes.run(letter.orderKey, async (): Promise<SendResult> => {
      const name = await kept;
      const { eventId } = letter;
      const tries = 1 + (this.#options.retries ?? 4);
      for (let attempt = 1; ; attempt += 1) {
        if (this.#closing.signal.aborted) return { kind: 'pending', eventId };
        const outcome = await this.#lanes.inPlace(() => this.#attempt(letter, attempt));
        if (outcome.kind === 'delivered') {
          await this.#spool.forget(name);
          this.#counts.delivered += 1;
          const { status, duplicate } = outcome;
          const settled = { kind: 'delivered', eventId, attempts: attempt, duplicate } as const;
          this.#observe(settled);
          return { ...settled, status };
        }
        if (outcome.kind === 'cut') return { kind: 'pending', eventId };
        const { failure } = outcome;
        if (attempt >= tries) {
          const attempts = triedBefore + attempt;
          const failedAt = new Date(this.#now()).toISOString();
          await this.#spool.bury({ ...letter, id: name, attempts, failedAt, failure });
          this.#counts.dead += 1;
          this.#observe({ kind: 'dead', eventId, attempts, failure });
          return { kind: 'dead', eventId, attempts, failure, deadLetterId: name };
        }
        const asked = Math.min(outcome.retryAfterMs ?? 0, this.#options.maxRetryAfterMs ?? 3_600_000);
        const delayMs = Math.max(asked, backoffMs(this.#backoff, attempt, this.#options.random ?? Math.random));
        this.#counts.retried += 1;
        this.#observe({ kind: 'retry', eventId, attempt, delayMs, failure });
        await this.#wait(delayMs).catch(() => undefined);
      }
    });
  }

  async #attempt(letter: Letter, attempt: number): Promise<PostOutcome> {
    const startedAt = this.#now();
    const outcome = await post(this.#options, letter, this.#now, this.#closing.signal);
    const status =
      outcome.kind === 'failed' ? outcome.failure.status : outcome.kind === 'delivered' ? outcome.status : undefined;
    const seen = { kind: 'attempt', eventId: letter.eventId, attempt, ms: this.#now() - startedAt } as const;
    this.#observe(status === undefined ? seen : { ...seen, status });
    return outcome;
  }

  #wait(ms: number): Promise<void> {
    const { signal } = this.#closing;
    return this.#options.wait?.(ms, signal) ?? wait(ms, undefined, { signal });
  }

  #observe(observation: Observation): void {
    this.#options.observe?.(observation);
  }
}
