import { setTimeout as delay } from 'node:timers/promises';
import { openPool } from '../../src/core/store/db/pool.ts';
import { queueRun } from '../../src/core/store/runs/runs.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { type Endpoint, Partner, type PartnerTime } from '../../test/simulation/partner.ts';
import type { Dice } from '../../test/simulation/random.ts';
import type { NodeProcess } from './nodes.ts';

export const brands = ['lisbon', 'porto'] as const;
export const reservations = 40;

const realTime: PartnerTime = {
  get nowMs() {
    return Date.now();
  },
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export type Connection = Parameters<typeof openPool>[0]['connection'];

/** A partner that changes reservations, pushes most changes to any node that is ready, and is polled. */
export class Traffic {
  readonly partner: Partner;
  readonly #dice: Dice;
  readonly #nodes: () => readonly NodeProcess[];
  readonly #connection: () => Connection;
  #isOver = false;
  #sent = 0;
  #accepted = 0;
  #lastAcceptedAt = Date.now();
  #longestGapMs = 0;
  readonly #acceptedBy = new Map<NodeProcess, number>();

  constructor(
    dice: Dice,
    endpoints: ReadonlyMap<string, Endpoint>,
    nodes: () => readonly NodeProcess[],
    connection: () => Connection,
  ) {
    this.#dice = dice;
    this.#nodes = nodes;
    this.#connection = connection;
    this.partner = new Partner(realTime, dice, endpoints, (arrived) => this.#deliver(arrived));
  }

  get webhooks(): { readonly sent: number; readonly accepted: number; readonly longestGapMs: number } {
    return { sent: this.#sent, accepted: this.#accepted, longestGapMs: this.#longestGapMs };
  }

  acceptedBy(nodes: readonly NodeProcess[]): number {
    return nodes.reduce((sum, node) => sum + (this.#acceptedBy.get(node) ?? 0), 0);
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Until it is stopped. */
  async run(): Promise<void> {
    const dice = this.#dice;
    this.#lastAcceptedAt = Date.now();
    let pollAt = Date.now() + 3_000;
    while (!this.#isOver) {
      this.partner.change(dice.pick(brands), `R${dice.whole(1, reservations)}`, { pushes: !dice.happens(0.1) });
      if (Date.now() > pollAt) {
        pollAt = Date.now() + 8_000;
        await queuePoll(this.#connection(), dice.pick(brands)).catch(() => {});
      }
      await delay(dice.between(10, 70));
    }
  }

  async #deliver(arrived: Arrived): Promise<number | undefined> {
    this.#sent += 1;
    const open = this.#nodes().filter(({ url, role }) => url !== undefined && role !== 'worker');
    if (open.length === 0) return undefined;
    const node = this.#dice.pick(open);
    const status = await post(node.url as string, arrived);
    if (status !== undefined && status < 300) {
      this.#accepted += 1;
      this.#acceptedBy.set(node, (this.#acceptedBy.get(node) ?? 0) + 1);
      this.#longestGapMs = Math.max(this.#longestGapMs, Date.now() - this.#lastAcceptedAt);
      this.#lastAcceptedAt = Date.now();
    }
    return status;
  }
}

type Arrived = Parameters<ConstructorParameters<typeof Partner>[3]>[0];

async function post(url: string, { endpointId, headers, rawBody }: Arrived): Promise<number | undefined> {
  try {
    const answer = await fetch(`${url}/webhooks/${endpointId}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: new Uint8Array(rawBody),
      signal: AbortSignal.timeout(5_000),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}

async function queuePoll(connection: Connection, brand: string): Promise<void> {
  const pool = openPool({ connection, applicationName: 'bench', maxConnections: 1 });
  try {
    const integration = brand as IntegrationName;
    await queueRun(pool, { integration, sync: 'pre_stay', kind: 'manual', requestedBy: 'bench' });
  } finally {
    await pool.end().catch(() => {});
  }
}
