import { deliverPorts } from '../../../src/composition/deliver.ts';
import { eventWorkerPorts } from '../../../src/composition/push.ts';
import type { Message } from '../../../src/core/deliver/message.ts';
import type { Claimed, DeliverPorts, Lane } from '../../../src/core/deliver/ports.ts';
import { profilesDestination } from '../../../src/core/deliver/profiles.ts';
import { needsDelivered, select } from '../../../src/core/deliver/select.ts';
import type { NewEvent } from '../../../src/core/intake/push/ports.ts';
import { drainEvents } from '../../../src/core/intake/push/worker.ts';
import type { Pool } from '../../../src/core/store/db/pool.ts';
import { appendEvents } from '../../../src/core/store/events/append.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { openRuntime } from '../../../src/operator/operations/open-runtime.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import { integration, writeWorkspace } from './workspace.ts';

const hourMs = 3_600_000;

interface Leased {
  readonly lane: Lane;
  readonly claims: readonly Claimed[];
}

export interface NodeOptions {
  readonly dir: string;
  readonly databaseUrl: string;
  readonly rule: number;
  /** How far its clock is ahead. */
  readonly aheadMs: number;
  /** What arrives at a destination. */
  readonly arrived: (destination: string, message: Message) => void;
}

/** A node that does one thing at a time: everything but its loops. */
export class StoryNode {
  readonly runtime: Runtime;
  readonly #deliver: DeliverPorts;
  readonly #arrived: NodeOptions['arrived'];
  /** Leased to it and not sent yet. */
  #leased: Leased[] = [];
  /** Sent and not settled yet. */
  #sent: (Leased & { readonly skipped: ReadonlySet<Claimed> })[] = [];

  private constructor(runtime: Runtime, deliver: DeliverPorts, arrived: NodeOptions['arrived']) {
    this.runtime = runtime;
    this.#deliver = deliver;
    this.#arrived = arrived;
  }

  static async start({ dir, databaseUrl, rule, aheadMs, arrived }: NodeOptions): Promise<StoryNode> {
    await writeWorkspace(dir, rule);
    const runtime = await openRuntime({
      env: { DATABASE_URL: databaseUrl, INNBOUND_KEY: 'ab'.repeat(32) },
      workspaceDir: dir,
      purpose: 'service',
      describe: 'test',
      apply: 'always',
      nodeClock: { ...systemClock, now: () => Date.now() + aheadMs },
    });
    return new StoryNode(runtime, await deliverPorts(runtime), arrived);
  }

  get lanes(): readonly Lane[] {
    return this.#deliver.lanes().of(integration);
  }

  /** Breaks all its connections, also in the middle of a commit, and waits until the node has noticed. */
  async cut(watcher: Pool): Promise<void> {
    const pool = this.runtime.pool as unknown as {
      readonly _clients: readonly { readonly processID: number }[];
      readonly _idle: readonly { readonly client: { readonly processID: number } }[];
    };
    const pids = pool._clients.map(({ processID }) => processID).filter(Boolean);
    await watcher.query('select pg_terminate_backend(pid, 5000) from unnest($1::int[]) pid', [pids]);
    while (pool._idle.some(({ client }) => pids.includes(client.processID))) await new Promise(setImmediate);
  }

  async accept(event: NewEvent): Promise<void> {
    const [answer] = await appendEvents(this.runtime.pool, [event]);
    if (answer?.kind === 'refused') throw new Error(answer.reason);
  }

  work(): Promise<void> {
    return drainEvents(eventWorkerPorts(this.runtime));
  }

  /** Leases records of a lane; returns how many. */
  async claim(lane: Lane, most: number): Promise<number> {
    const withDelivered = needsDelivered(lane.destination.selection);
    const claims = await this.#deliver.store.claim(lane.destination.name, [integration], most, hourMs, {
      withDelivered,
    });
    if (claims.length > 0) this.#leased.push({ lane, claims });
    return claims.length;
  }

  /** Its leases have ended: it sends nothing more, and settles in vain what it has sent. */
  loseLeases(): void {
    this.#leased = [];
  }

  async send(): Promise<void> {
    const leased = this.#leased;
    this.#leased = [];
    for (const { lane, claims } of leased) {
      const skipped = new Set<Claimed>();
      const messages = claims.flatMap((claimed) => {
        const selected = select(lane, claimed);
        if (selected.kind === 'send') return [selected.message];
        skipped.add(claimed);
        return [];
      });
      await this.#call(lane, messages);
      this.#sent.push({ lane, claims, skipped });
    }
  }

  async #call({ destination }: Lane, messages: readonly Message[]): Promise<void> {
    if (destination.name !== profilesDestination) {
      for (const message of messages) this.#arrived(destination.name, message);
    } else if (messages.length > 0) {
      const profiles = await this.#deliver.open(destination);
      const batch = messages.map((message) => ({ message, changedAt: 0, mayHaveArrived: false, byConsent: false }));
      await profiles.deliver(batch, {} as never);
    }
  }

  /** Returns a function that writes the results, to be repeated if its answer is lost. */
  settling(isAnswerLost: () => boolean): () => Promise<unknown> {
    const sent = this.#sent;
    this.#sent = [];
    const settlements = sent.flatMap(({ lane, claims, skipped }) => {
      const isLost = isAnswerLost();
      return claims.map((claimed) => {
        const { type, id, version, fence, triesUsed } = claimed;
        const again = { kind: 'retry', delayMs: 0, triesUsed: triesUsed + 1 } as const;
        const result = skipped.has(claimed)
          ? ({ kind: 'skipped' } as const)
          : isLost
            ? again
            : ({ kind: 'delivered' } as const);
        const key = { integration, destination: lane.destination.name };
        return { ...key, type, id, version, fence, attempt: triesUsed + 1, result, durationMs: 1 };
      });
    });
    return () => this.#deliver.store.settle(settlements, 'node');
  }
}
