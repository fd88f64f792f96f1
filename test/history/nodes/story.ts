import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { encodeMessage, type Message } from '../../../src/core/deliver/message.ts';
import type { EventType } from '../../../src/core/intake/push/envelope.ts';
import { openPool, type Pool } from '../../../src/core/store/db/pool.ts';
import { endAbandonedLeases } from '../../../src/core/store/lease.ts';
import { addressFor } from '../../../src/operator/operations/endpoints.ts';
import { eraseGuest } from '../../../src/operator/operations/erase-guest.ts';
import type { EndpointId, JsonObject } from '../../../src/terms.ts';
import { stateText } from '../../simulation/partner.ts';
import { Dice } from '../../simulation/random.ts';
import type { TestDatabase } from '../../support/database.ts';
import type { Erasure, Statement } from '../history.ts';
import { StoryNode } from './node.ts';
import { Poll } from './poll.ts';
import { emailOf, integration, reservation, reservationIds } from './workspace.ts';

/** What a destination received. */
interface Sent {
  readonly destination: string;
  readonly message: Message;
  readonly body: string;
  readonly atStep: number;
}

/**
 * Two nodes on one database that take random steps: events, guest events, polls, deliveries, erasures. Between any two steps a node may
 * be killed and come back with edited documents, or lose its leases; its connections may break in the middle of a step.
 */
export class NodesStory {
  readonly statements: Statement[] = [];
  /** What partners said about the consent of each guest. */
  readonly consents: { readonly email: string; readonly atMs: number; readonly value: boolean }[] = [];
  readonly sent: Sent[] = [];
  readonly erasures: Erasure[] = [];
  readonly log: string[] = [];
  readonly pool: Pool;
  readonly #dice: Dice;
  readonly #database: TestDatabase;
  readonly #folder: string;
  readonly #nodes: StoryNode[] = [];
  #poll: { readonly place: number; readonly poll: Poll } | undefined;
  #endpointId = '' as EndpointId;
  #step = 0;
  #lastMs = 0;

  private constructor(seed: number, database: TestDatabase, folder: string) {
    this.#dice = new Dice(seed);
    this.#database = database;
    this.#folder = folder;
    this.pool = openPool({ connection: database.connection, applicationName: 'watcher' });
  }

  static async open(seed: number, database: TestDatabase): Promise<NodesStory> {
    const story = new NodesStory(seed, database, await mkdtemp(path.join(os.tmpdir(), 'innbound-story-')));
    for (const place of [0, 1]) await story.#start(place);
    story.#endpointId = (await addressFor(story.#node(0).runtime, integration)).endpoint_id as EndpointId;
    return story;
  }

  async close(): Promise<void> {
    for (const { runtime } of this.#nodes) await runtime.close();
    await this.pool.end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async take(steps: number): Promise<void> {
    await this.#request(0, reservationIds);
    await this.#storePage();
    for (let i = 0; i < steps; i++) await this.#anyStep();
  }

  /** All work is done, by whichever node. */
  async finish(): Promise<void> {
    await this.#storePage();
    await this.#endLeases();
    for (let quiet = 0; quiet < 2; quiet++) {
      for (const node of this.#nodes) {
        await node.runtime.refresh();
        await this.pool.query(`update events set due_at = now() where state = 'waiting'`);
        await node.work();
        for (const lane of [...node.lanes, ...node.lanes]) {
          while ((await node.claim(lane, 100)) > 0) {
            quiet = 0;
            this.#step += 1;
            await node.send();
            await node.settling(() => false)();
          }
        }
      }
    }
  }

  async #anyStep(): Promise<void> {
    this.#step += 1;
    const dice = this.#dice;
    const place = dice.whole(0, 1);
    const node = this.#node(place);
    const id = dice.pick(reservationIds);
    const steps: readonly (readonly [weight: number, name: string, run: () => Promise<unknown>])[] = [
      [20, 'event', () => this.#say(place, id)],
      [12, 'guest event', () => this.#sayGuest(place, id)],
      [
        6,
        'request a page',
        () =>
          this.#request(
            place,
            reservationIds.filter(() => dice.happens(0.5)),
          ),
      ],
      [6, 'store the page', () => this.#storePage()],
      [10, 'work', () => this.#cutDuring(place, () => node.work())],
      [15, 'claim', () => this.#cutDuring(place, () => node.claim(dice.pick(node.lanes), dice.whole(1, 4)))],
      [15, 'send', () => node.send()],
      [
        15,
        'settle',
        () =>
          this.#surely(
            place,
            node.settling(() => dice.happens(0.2)),
          ),
      ],
      [1, 'erase', () => this.#erase(place, id)],
      [4, 'refresh', () => node.runtime.refresh()],
      [3, 'kill', () => this.#kill(place)],
      [3, 'leases end', () => this.#endLeases()],
    ];
    const [, name, run] = dice.pick(steps.flatMap((step) => Array.from({ length: step[0] }, () => step)));
    this.log.push(`${this.#step}: node ${place}, ${name}, ${id}`);
    await run();
  }

  #node(place: number): StoryNode {
    return this.#nodes[place] as StoryNode;
  }

  async #start(place: number): Promise<void> {
    this.#nodes[place] = await StoryNode.start({
      dir: path.join(this.#folder, String(place)),
      databaseUrl: this.#database.url,
      rule: this.#step,
      aheadMs: place * 300_000,
      arrived: (destination, message) =>
        this.sent.push({ destination, message, body: encodeMessage(message), atStep: this.#step }),
    });
  }

  /** Distinct times, so that it is known which of two statements is the newer one. */
  async #now(): Promise<number> {
    const { rows } = await this.pool.query<{ ms: number }>(
      `select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as ms from pg_sleep(0.002)`,
    );
    this.#lastMs = Math.max(this.#lastMs + 1, rows[0]?.ms ?? 0);
    return this.#lastMs;
  }

  /** Now and then the node's connections break during the work. False if it failed, whether or not it was committed. */
  async #cutDuring(place: number, work: () => Promise<unknown>): Promise<boolean> {
    if (!this.#dice.happens(0.15)) {
      await work();
      return true;
    }
    const afterMs = this.#dice.between(0, 12);
    const working = work().then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await this.#node(place).cut(this.pool);
    this.log.push(`  connections broke after ${afterMs.toFixed(1)} ms`);
    return working;
  }

  /** Repeats the work if its answer was lost. */
  async #surely(place: number, work: () => Promise<unknown>): Promise<void> {
    if (!(await this.#cutDuring(place, work))) await work();
  }

  async #say(place: number, id: string): Promise<void> {
    const value = this.#dice.happens(0.5);
    const data = reservation(id, this.#dice.whole(1, 500), value);
    const { eventId, atMs } = await this.#event(place, 'reservation.updated', data);
    this.#note(eventId, data, { atMs, isEvent: true });
  }

  async #sayGuest(place: number, id: string): Promise<void> {
    const email = emailOf(id);
    const value = this.#dice.happens(0.5);
    const data = { email, first_name: this.#dice.pick(['Ana', 'Anna']), marketing_consent: value };
    const { atMs } = await this.#event(place, 'guest.updated', data);
    this.consents.push({ email, atMs, value });
  }

  /** The partner repeats an event that was not answered, at the other node. */
  async #event(place: number, event: EventType, data: JsonObject): Promise<{ eventId: string; atMs: number }> {
    const atMs = (await this.#now()) - (this.#dice.happens(0.5) ? this.#dice.whole(1, 1_000) : 0);
    const eventId = `event-${this.#step}`;
    const envelope = { event, timestamp: new Date(atMs).toISOString(), brand_id: 'LIS01', data };
    const rawBody = Buffer.from(JSON.stringify(envelope));
    const stored = {
      integration,
      endpointId: this.#endpointId,
      secretNo: 1,
      eventId,
      event,
      occurredAt: atMs,
      rawBody,
    };
    if (!(await this.#cutDuring(place, () => this.#node(place).accept(stored))))
      await this.#node(1 - place).accept(stored);
    return { eventId, atMs };
  }

  #note(id: string, said: JsonObject, { atMs, isEvent }: { readonly atMs: number; readonly isEvent: boolean }): void {
    const [guest] = said.guests as { email: string; marketing_consent: boolean }[];
    if (guest) this.consents.push({ email: guest.email, atMs, value: guest.marketing_consent });
    const record = `${integration}/${said.id}`;
    this.statements.push({ id, record, value: stateText(said), fromMs: atMs, toMs: atMs, isAccepted: true, isEvent });
  }

  /** The page is stored some steps later, when newer events about its reservations may have been received. */
  async #request(place: number, ids: readonly string[]): Promise<void> {
    if (this.#poll !== undefined) return;
    const rows = ids.map((id) => reservation(id, this.#dice.whole(1, 500), this.#dice.happens(0.5)));
    const poll = await Poll.request(this.#node(place).runtime, rows, () => this.#now());
    if (poll) this.#poll = { place, poll };
  }

  async #storePage(): Promise<void> {
    if (this.#poll === undefined) return;
    const { place, poll } = this.#poll;
    this.#poll = undefined;
    // A page that was stored and not answered is fenced the second time.
    await this.#surely(place, () => poll.store());
    await poll.finish();
    for (const row of poll.rows) this.#note(`${poll.runId} ${row.id}`, row, { atMs: poll.requestedAt, isEvent: false });
  }

  async #erase(place: number, id: string): Promise<void> {
    const email = emailOf(id);
    await this.#surely(place, () => eraseGuest(this.#node(place).runtime, { email }, 'test'));
    // What was read before may be sent until its lease ends.
    await this.#endLeases();
    this.erasures.push({ beganMs: this.#step, atMs: this.#step, marks: [email] });
  }

  /** Another node finds its leases and its run when they have ended. */
  async #kill(place: number): Promise<void> {
    await this.#node(place).cut(this.pool);
    await this.#node(place).runtime.close();
    await this.#start(place);
    await this.#endLeases();
    if (this.#poll?.place !== place) return;
    this.#poll = undefined;
    await Poll.giveUp(this.#node(1 - place).runtime);
  }

  /** As if both nodes were frozen for longer than a lease. */
  async #endLeases(): Promise<void> {
    await endAbandonedLeases(this.pool);
    for (const node of this.#nodes) node.loseLeases();
  }
}
