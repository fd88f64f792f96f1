import { Handover } from '../../src/core/deliver/handover.ts';
import type { IntegrationName } from '../../src/terms.ts';
import type { History, Violation, Write } from '../history/history.ts';
import { accident } from './accidents.ts';
import { accidentBrand, allBrands, brandNames, destinationNames } from './brands.ts';
import { type Fault, type Script, scriptOf } from './faults.ts';
import { Host } from './host.ts';
import { directLink } from './model/link.ts';
import { modelPorts, observeModel } from './model/model.ts';
import { StoreModel } from './model/state.ts';
import { calm, Network } from './network.ts';
import { type SimulatedNode, startNode } from './node.ts';
import { Partner, stateText } from './partner.ts';
import { Dice } from './random.ts';
import { Sink } from './sink.ts';
import { VirtualTime } from './time.ts';

/** The `whsec_` secret of every endpoint. */
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const endpoints = new Map(allBrands.map((name) => [name as string, { endpointId: `${name}-endpoint`, secret }]));
const startMs = Date.UTC(2026, 5, 1, 12);

const endOf = (fault: Fault): number => fault.atMs + ('forMs' in fault ? fault.forMs : 0);

const quietWithinMs = 600_000;

/** Partners, nodes, store and destinations, with the faults of the seed. */
export class World {
  readonly script: Script;
  readonly time = new VirtualTime(startMs);
  readonly #time = this.time;
  readonly #dice: Dice;
  readonly #model = new StoreModel(() => this.time.nowMs);
  readonly #scheduler = modelPorts(this.#model, directLink).runs(new Handover());
  readonly #network: Network;
  readonly #partner: Partner;
  readonly #sinks: readonly Sink[];
  readonly #writes: Write[] = [];
  readonly #nodes: (SimulatedNode | undefined)[];
  #restarts = 0;
  /** What the world itself saw go wrong. */
  readonly violations: Violation[] = [];

  constructor(seed: number) {
    const { time } = this;
    this.#dice = new Dice(seed);
    this.script = scriptOf(this.#dice);
    const { nodes, lost, slow, slowMs, listFaults, sinkFaults, hasPoison, hasTotal } = this.script;
    this.#network = new Network(time, this.#dice, { ...calm, lost, slow, slowMs });
    this.#partner = new Partner(time, this.#dice, endpoints, (arrived) => this.#webhook(arrived));
    this.#partner.listFaults = listFaults;
    this.#partner.hasTotal = hasTotal;
    const isPoisoned = (id: string) => hasPoison && id === 'R1';
    this.#sinks = destinationNames.map((name) => new Sink(name, time, this.#dice, this.#writes, isPoisoned));
    for (const sink of this.#sinks) sink.faults.failing = sinkFaults;
    this.#nodes = Array.from({ length: nodes }, () => undefined);
  }

  async run(): Promise<History> {
    for (const place of this.#nodes.keys()) this.#start(place);
    this.#load();
    for (const fault of this.script.faults) this.#time.after(fault.atMs, () => this.#strike(fault));
    const lastMs = Math.max(this.script.loadMs, ...this.script.faults.map(endOf));
    await this.#time.until(() => false, lastMs);
    this.#calmDown();
    let isQuiet = await this.#time.until(() => this.#isQuiet(), quietWithinMs);
    if (isQuiet && (this.script.endsWithPoll || this.script.accident)) {
      isQuiet = await this.#lastPoll();
    }
    if (!isQuiet) this.#broke(`work is left ${quietWithinMs} ms after the last fault`);
    return this.#history();
  }

  async #lastPoll(): Promise<boolean> {
    const beganAtMs = this.#time.nowMs;
    for (const name of allBrands) await this.#queue(name);
    const isQuiet = await this.#time.until(() => this.#isQuiet(), quietWithinMs);
    for (const { run, state } of this.#model.runs.slice(-allBrands.length)) {
      if (state === 'complete') this.#partner.noteComplete(run.integration, beganAtMs);
      else this.#broke(`the last poll of ${run.integration} ended ${state}`);
    }
    return isQuiet;
  }

  #broke(message: string): void {
    this.violations.push({ rule: 'accepted_is_accounted_for', message });
  }

  #load(): void {
    const { changes, reservations, polls, loadMs, unpushed } = this.script;
    for (let i = 0; i < changes; i++) {
      this.#time.after(this.#dice.between(0, loadMs), () => {
        const id = `R${this.#dice.whole(1, reservations)}`;
        this.#partner.change(this.#dice.pick(brandNames), id, { pushes: !this.#dice.happens(unpushed) });
      });
    }
    for (let i = 0; i < polls; i++) {
      this.#time.after(this.#dice.between(0, loadMs), () => void this.#queue(this.#dice.pick(brandNames)));
    }
    if (this.script.accident) this.#loadAccident(this.script.accident);
  }

  /** A brand that is polled, changes as others do, and has an accident once its bookings are stored. */
  #loadAccident({ kinds, bookings }: NonNullable<Script['accident']>): void {
    const { loadMs } = this.script;
    const change = (n: number, pushes: boolean) => this.#partner.change(accidentBrand, `R${n}`, { pushes });
    for (let n = 1; n <= bookings; n++) change(n, false);
    void this.#queue(accidentBrand);
    const strike = (): void => {
      const stored = this.#model.records.keys().filter((key) => key.startsWith(`record ${accidentBrand} `));
      if ([...stored].length < bookings) return void this.#time.after(200, strike);
      this.#partner.accident = this.#time.nowMs - startMs < loadMs ? kinds : [];
    };
    this.#time.after(this.#dice.between(200, loadMs / 2), strike);
    for (let i = 0; i < 6; i++) {
      this.#time.after(this.#dice.between(0, loadMs), () => void this.#queue(accidentBrand));
      const n = this.#dice.whole(1, bookings);
      this.#time.after(this.#dice.between(0, loadMs), () => change(n, this.#dice.happens(0.5)));
    }
  }

  async #queue(integration: string): Promise<void> {
    const request = { integration: integration as IntegrationName, sync: 'pre_stay', kind: 'manual' } as const;
    await this.#scheduler.queue({ ...request, requestedBy: 'simulation' });
    for (const node of this.#nodes) node?.host.enter(() => node.wake.arrived('runs'));
  }

  #start(place: number): void {
    this.#restarts += 1;
    const host = new Host(`node ${place}.${this.#restarts}`, this.#time, this.script.clockErrorMs * place);
    const store = modelPorts(this.#model, this.#network.linkOf(host));
    const attempt = (): void => {
      if (host.isDead) return;
      startNode({
        host,
        store,
        chance: this.#dice.next,
        endpoints,
        http: this.#partner.httpFor(host),
        destinations: new Map(this.#sinks.map((sink) => [sink.name, sink.destinationOn(host)])),
        relay: (topic) => this.#relay(host, topic),
      }).then(
        (node) => {
          this.#nodes[place] = node;
        },
        // The database was unreachable while the node started: start it again.
        () => this.#time.after(500, attempt),
      );
    };
    attempt();
  }

  /** Signals between nodes only save time: some are lost. */
  #relay(from: Host, topic: string): void {
    for (const node of this.#nodes) {
      if (node === undefined || node.host === from || this.#dice.happens(0.1)) continue;
      this.#time.after(this.#network.latencyMs(), () => node.host.enter(() => node.wake.arrived(topic)));
    }
  }

  /** A load balancer: any node that runs. The answer may be lost on its way. */
  #webhook(arrived: Parameters<ConstructorParameters<typeof Partner>[3]>[0]): Promise<number | undefined> {
    return new Promise((resolve) => {
      const running = this.#nodes.filter((node) => node !== undefined && !node.host.isDead) as SimulatedNode[];
      const giveUp = this.#time.after(5_000, () => resolve(undefined));
      if (running.length === 0) return;
      const { host, intake, now } = this.#dice.pick(running);
      const isLost = this.#dice.happens(this.#network.weather.lost);
      this.#time.after(this.#network.latencyMs(), () =>
        host.enter(() => {
          const request = { ...arrived, query: '', receivedAt: now() };
          const origin = () => ({
            requestId: '',
            address: '192.0.2.1',
            endpointId: arrived.endpointId,
            headerNames: [],
            bodyBytes: arrived.rawBody.length,
          });
          void intake.receive(request, '192.0.2.1', origin).then(({ answer }) =>
            this.#time.after(this.#network.latencyMs(), () => {
              if (isLost || host.isDead) return;
              giveUp();
              resolve(answer.status);
            }),
          );
        }),
      );
    });
  }

  #strike(fault: Fault): void {
    const place = this.#dice.whole(0, this.#nodes.length - 1);
    const node = this.#nodes[place];
    switch (fault.kind) {
      case 'kill': {
        if (node === undefined) return;
        this.#nodes[place] = undefined;
        node.host.kill();
        this.#time.after(fault.forMs, () => this.#start(place));
        return;
      }
      case 'freeze': {
        node?.host.freeze();
        this.#time.after(fault.forMs, () => node?.host.thaw());
        return;
      }
      case 'clock': {
        if (node) node.host.clockAheadMs += fault.byMs;
        return;
      }
      case 'store_away': {
        this.#network.weather.isStoreAway = true;
        this.#time.after(fault.forMs, () => {
          this.#network.weather.isStoreAway = false;
        });
        return;
      }
      case 'sink_away': {
        const sink = this.#dice.pick(this.#sinks);
        sink.faults.isAway = true;
        this.#time.after(fault.forMs, () => {
          sink.faults.isAway = false;
        });
      }
    }
  }

  /** Every scheduled fault has ended by now; random ones may still occur. */
  #calmDown(): void {
    Object.assign(this.#network.weather, calm);
    this.#partner.listFaults = 0;
    this.#partner.accident = [];
    for (const sink of this.#sinks) Object.assign(sink.faults, { failing: 0, isAway: false });
    for (const node of this.#nodes) node?.host.thaw();
  }

  #isQuiet(): boolean {
    const { events, runs, outbox } = this.#model;
    return (
      !this.#partner.hasUnsentEvents &&
      events.every(({ state }) => state === 'done' || state === 'dead') &&
      runs.every(({ state }) => state !== 'queued' && state !== 'running') &&
      outbox.values().every(({ dueAt }) => dueAt === undefined)
    );
  }

  #history(): History {
    const { fates, versions, settled, runs } = observeModel(this.#model);
    return {
      statements: this.#partner.statements,
      fates,
      mentions: this.#partner.mentions,
      versions: versions.map((one) => ({ ...one, value: stateText(JSON.parse(one.value)), text: one.value })),
      settled,
      writes: this.#writes,
      runs,
      erasures: [],
      accidents: [accident],
      // Everything should be done by now: work that is still pending would stay pending for ever.
      isQuiet: true,
    };
  }
}
