import { type Destination, lostLease, type Outcome } from '../../src/core/deliver/destination.ts';
import { encodeMessage } from '../../src/core/deliver/message.ts';
import type { Write } from '../history/history.ts';
import type { Host } from './host.ts';
import { stateText } from './partner.ts';
import type { Dice } from './random.ts';
import type { VirtualTime } from './time.ts';

export interface SinkFaults {
  /** Of a call: refused before it took effect, or its answer lost after that. */
  failing: number;
  isAway: boolean;
}

/** A destination outside: it checks nothing, refuses some records for good, and records what took effect. */
export class Sink {
  readonly name: string;
  readonly faults: SinkFaults = { failing: 0, isAway: false };
  readonly #time: VirtualTime;
  readonly #dice: Dice;
  readonly #writes: Write[];
  readonly #isPoisoned: (id: string) => boolean;

  constructor(name: string, time: VirtualTime, dice: Dice, writes: Write[], isPoisoned: (id: string) => boolean) {
    this.name = name;
    this.#time = time;
    this.#dice = dice;
    this.#writes = writes;
    this.#isPoisoned = isPoisoned;
  }

  /** The destination as one node calls it. */
  destinationOn(host: Host): Destination {
    return {
      deliver: (batch, limits) =>
        new Promise((resolve) => {
          const lost = lostLease(limits, limits.deadlineMs);
          if (lost) return resolve(batch.map(() => lost));
          const startedAtMs = this.#time.nowMs;
          const answer = (outcomes: readonly Outcome[], ms: number) =>
            this.#time.after(ms, () => host.enter(() => resolve(outcomes)));
          const all = (outcome: Outcome) => batch.map(() => outcome);
          // A call ends by its deadline: half of it for the request, half for the answer.
          const most = limits.deadlineMs / 2;
          const wayMs = this.#dice.happens(0.1) ? this.#dice.between(0, most) : this.#dice.between(0.5, 20);
          this.#time.after(wayMs, () => {
            const fault = this.#dice.happens(this.faults.failing)
              ? this.#dice.pick(['before', 'after', 'wait'] as const)
              : undefined;
            if (this.faults.isAway) return answer(all(unreachable), this.#dice.between(1, 50));
            if (fault === 'before') return answer(all(failed), 5);
            if (fault === 'wait') return answer(all(askedToWait), 5);
            const outcomes = batch.map(({ message }): Outcome => {
              const { integration, data, version, idempotency_key: key } = message;
              if (this.#isPoisoned(data.id)) return refused;
              this.#writes.push({
                destination: this.name,
                record: `${integration}/${data.id}`,
                version,
                key,
                value: stateText(data),
                body: encodeMessage(message),
                startedAtMs,
              });
              return { kind: 'delivered' };
            });
            if (fault === 'after') return answer(all(timedOut), most);
            return answer(outcomes, this.#dice.between(0.5, 20));
          });
        }),
      close: async () => {},
    };
  }
}

const unreachable: Outcome = { kind: 'retry', code: 'deliver.unreachable', message: 'refused' };
const failed: Outcome = { kind: 'retry', code: 'deliver.server_error', message: '503', status: 503 };
const timedOut: Outcome = { kind: 'retry', code: 'deliver.timeout', message: 'no answer' };
const askedToWait: Outcome = {
  kind: 'retry',
  code: 'deliver.rate_limited',
  message: '429',
  status: 429,
  afterMs: 500,
  free: true,
};
const refused: Outcome = { kind: 'dead', code: 'deliver.refused', message: '422', status: 422 };
