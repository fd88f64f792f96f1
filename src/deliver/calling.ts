import { errorFacts } from '../kit/log.ts';
import { type BatchContext, type Counts, deliverBatch } from './batch.ts';
import type { Leased } from './claiming.ts';
import type { Destination } from './destination.ts';

export interface CallingEvents {
  /** A slot became free, or a call was settled. */
  readonly onFree: () => void;
  /** The destination asked to wait, and that is stored. */
  readonly onWaitAsked: () => Promise<void>;
  readonly onSettled: (counts: Counts) => void;
}

/** A destination that takes single records and answers faster than this on average gets several per free call from one claim (bench/mechanisms.md, 5). */
const quickMs = 1_000;
const quickCalls = 4;

/**
 * Calls one destination: at most `concurrency` calls wait for its answer, and at most as many again wait for their settlement to be
 * written.
 */
export class Calling {
  readonly #context: Omit<BatchContext, 'destination' | 'onAnswered' | 'onWaitAsked'>;
  readonly #events: CallingEvents;
  readonly #running = new Set<Promise<void>>();
  #waitingForAnswer = 0;
  /** Moving average. */
  #answerMs = quickMs;

  constructor(context: Omit<BatchContext, 'destination' | 'onAnswered' | 'onWaitAsked'>, events: CallingEvents) {
    this.#context = context;
    this.#events = events;
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  get hasFreeSlot(): boolean {
    return this.#waitingForAnswer < this.#context.config.concurrency;
  }

  /** Too many results wait to be written: starting more calls would only make the store slower. */
  get isStoreBehind(): boolean {
    return this.#running.size >= 2 * this.#context.config.concurrency;
  }

  /** How many calls to claim for. */
  get capacity(): number {
    const { concurrency, batch, rate } = this.#context.config;
    const isQuick = batch === 1 && !rate && this.#answerMs < quickMs;
    return concurrency * (isQuick ? quickCalls : 1) - this.#waitingForAnswer;
  }

  start(destination: Destination, leased: Leased): void {
    const { ports, config } = this.#context;
    const startedAtMs = ports.clock.uptimeMs();
    this.#waitingForAnswer += 1;
    let isAnswered = false;
    const onAnswered = (): void => {
      if (isAnswered) return;
      isAnswered = true;
      this.#waitingForAnswer -= 1;
      this.#answerMs += (ports.clock.uptimeMs() - startedAtMs - this.#answerMs) / 8;
      this.#events.onFree();
    };
    const context: BatchContext = {
      ...this.#context,
      destination,
      onAnswered,
      onWaitAsked: this.#events.onWaitAsked,
    };
    const call = deliverBatch(context, leased)
      .then(this.#events.onSettled)
      .catch((error: unknown) => {
        ports.log.error(
          { destination: config.name, error: errorFacts(error) },
          'deliver: call failed; its leases expire',
        );
      })
      .finally(() => {
        onAnswered();
        this.#running.delete(call);
        this.#events.onFree();
      });
    this.#running.add(call);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}
