import type { Host } from './host.ts';
import type { Link } from './model/link.ts';
import { connectionLost } from './model/transaction.ts';
import type { Dice } from './random.ts';
import type { VirtualTime } from './time.ts';

/** How bad the network between nodes and store is. */
export interface Weather {
  /** Of a call to the store: the request is lost, the answer is lost, either takes long. */
  lost: number;
  slow: number;
  slowMs: number;
  /** The store answers nobody. */
  isStoreAway: boolean;
}

export const calm: Readonly<Weather> = { lost: 0, slow: 0, slowMs: 0, isStoreAway: false };

/** Clock queries are small and frequent: they never take long, so the error stays within two of these. */
const quickMs = 20;

export class Network {
  readonly weather: Weather;
  readonly #time: VirtualTime;
  readonly #dice: Dice;

  constructor(time: VirtualTime, dice: Dice, weather: Weather) {
    this.#time = time;
    this.#dice = dice;
    this.weather = weather;
  }

  latencyMs(canBeSlow = true): number {
    const isSlow = canBeSlow && this.#dice.happens(this.weather.slow);
    return isSlow ? this.#dice.between(100, this.weather.slowMs) : this.#dice.between(0.05, quickMs / 4);
  }

  /** A statement that was sent runs at the store even if its node dies meanwhile. */
  linkOf(host: Host): Link {
    const call = <T>(name: string, statement: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        const canBeSlow = name !== 'clock';
        const lost = this.#dice.happens(this.weather.lost)
          ? this.#dice.pick(['request', 'answer'] as const)
          : undefined;
        const answer = (settle: () => void) => this.#time.after(this.latencyMs(canBeSlow), () => host.enter(settle));
        this.#time.after(this.latencyMs(canBeSlow), () => {
          if (this.weather.isStoreAway || lost === 'request') return answer(() => reject(connectionLost()));
          try {
            const result = statement();
            return answer(() => (lost === 'answer' ? reject(connectionLost()) : resolve(result)));
          } catch (error) {
            return answer(() => reject(error));
          }
        });
      });
    return {
      call,
      begin: (open) =>
        call('begin', () => {
          const tx = open();
          if (host.isDead) tx.rollBack();
          else host.transactions.add(tx);
          return tx;
        }),
    };
  }
}
