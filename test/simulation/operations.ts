import { encodeRecord } from '../../src/core/canonical/reservation.ts';
import { Handover } from '../../src/core/deliver/handover.ts';
import type { Claimed, LaneKey, Settlement } from '../../src/core/deliver/ports.ts';
import { preparePage, recognisableRows } from '../../src/core/intake/pull/page/page-commit.ts';
import { noCounts, type Run, sum } from '../../src/core/intake/pull/run/run-state.ts';
import type { EventType } from '../../src/core/intake/push/envelope.ts';
import { type EventSession, workBrand } from '../../src/core/intake/push/worker.ts';
import type { EndpointId, EpochMs, IntegrationName, JsonObject } from '../../src/terms.ts';
import { brand, brandNames, destinationNames, pullPlan } from './brands.ts';
import { pageLog, position } from './pulled-page.ts';
import type { Dice } from './random.ts';
import type { StorePorts } from './store-ports.ts';

/**
 * Operations on a store, chosen by a seed. Leases, delays and pauses last zero seconds or an hour, so that the speed of a store does not
 * matter: the same work is due on both.
 */
export interface Operation {
  readonly name: string;
  run(client: Client): Promise<unknown>;
}

const hourMs = 3_600_000;

/** One of two nodes that use the store, with what it holds. */
export class Client {
  readonly store: StorePorts;
  readonly endpoints: ReadonlyMap<string, string>;
  /** Claims by batch, old ones included: a node may try to settle records that it no longer holds. */
  readonly claims = new Map<string, Claimed[]>();
  readonly runs: Run[] = [];
  readonly #runNames = new Map<string, string>();

  constructor(store: StorePorts, endpoints: ReadonlyMap<string, string>) {
    this.store = store;
    this.endpoints = endpoints;
  }

  hold(batch: LaneKey, claims: readonly Claimed[]): void {
    const name = `${batch.integration} ${batch.destination}`;
    this.claims.set(name, [...(this.claims.get(name) ?? []), ...claims]);
  }

  /** What is queued is leased to this node, up to `most` records a lane; otherwise it is offered. */
  handover({ most, batch }: { readonly most: number; readonly batch: number }) {
    const handover = new Handover();
    const leased: unknown[] = [];
    const offered: string[] = [];
    handover.connect({
      room: (lane) => ({
        most,
        batch,
        leaseMs: hourMs,
        take: (claims) => {
          this.hold(lane, claims);
          leased.push([lane, shown(claims)]);
        },
      }),
      offer: (lanes) => offered.push(...lanes.map(({ integration, destination }) => `${integration} ${destination}`)),
    });
    return {
      handover,
      offered: () => ({ leased: leased.map((one) => JSON.stringify(one)).sort(), offered: offered.sort() }),
    };
  }

  /** Stores name runs as they like. */
  runName(runId: string): string {
    const name = this.#runNames.get(runId) ?? `run ${this.#runNames.size + 1}`;
    this.#runNames.set(runId, name);
    return name;
  }
}

let events = 0;

const roomOf = (dice: Dice) =>
  dice.pick([
    { most: 0, batch: 1 },
    { most: 100, batch: 1 },
    { most: 100, batch: 2 },
  ]);

/** The next operation. All choices are made here, so that both stores get the same. */
export function operationOf(dice: Dice): Operation {
  const integration = dice.pick(brandNames);
  const batch = { integration, destination: dice.pick(destinationNames) };
  const leaseMs = dice.pick([0, hourMs]);
  const { next: roll } = new DiceCopy(dice);
  switch (dice.pick(kinds)) {
    case 'insert': {
      const ids = Array.from({ length: dice.whole(1, 3) }, () => `R${dice.whole(1, 3)}`);
      const amounts = ids.map(() => dice.whole(1, 4));
      const agoMs = ids.map(() => dice.pick([0, 1_000, 60_000, -60_000]));
      const eventIds = ids.map(() => {
        if (!dice.happens(0.15)) events += 1;
        return `event-${events}`;
      });
      const at = baseMs + dice.whole(0, 5) * 1_000;
      const applies = dice.happens(0.5);
      const room = roomOf(dice);
      return {
        name: applies ? 'insert, applied' : 'insert',
        run: async (client) => {
          const { handover, offered } = client.handover(room);
          const { store, endpoints } = client;
          const outcomes: unknown[] = [];
          const session = (): EventSession => ({
            work: async (own, batch) => {
              const settled = await workBrand(batch, own);
              outcomes.push([own.integration, settled.map(({ seq: _, ...one }) => one)]);
              return settled;
            },
            done: () => {},
          });
          const events = { brandOf: brand, othersAt: () => [], handover };
          const stored = await store.insert(
            ids.map((id, i) => ({
              integration: integration as IntegrationName,
              endpointId: endpoints.get(integration) as EndpointId,
              secretNo: 1,
              eventId: eventIds[i] as string,
              event: 'reservation.updated' as EventType,
              occurredAt: at - (agoMs[i] as number),
              rawBody: Buffer.from(JSON.stringify({ event: 'x', data: reservation(id, amounts[i] as number) })),
            })),
            () => {},
            applies ? { store: events, session } : undefined,
          );
          return { stored, outcomes, ...offered() };
        },
      };
    }
    case 'batch': {
      const limit = dice.pick([1, 200]);
      const only = dice.happens(0.5) ? integration : undefined;
      const room = roomOf(dice);
      return {
        name: 'batch',
        run: async (client) => {
          const outcomes: [brand: string, settled: unknown][] = [];
          const { handover, offered } = client.handover(room);
          const result = await client.store.batch(
            { brandOf: brand, othersAt: () => [], handover },
            { limit, ...(only && { only }) },
            async (own, batch) => {
              const settled = await workBrand(batch, own);
              outcomes.push([own.integration, settled.map(({ seq: _, ...one }) => one)]);
              return settled;
            },
          );
          return { result, outcomes: outcomes.sort(([a], [b]) => (a < b ? -1 : 1)), ...offered() };
        },
      };
    }
    case 'setAside':
      return { name: 'setAside', run: ({ store }) => store.setAside(brand(integration), new Error('broken')) };
    case 'claim': {
      const isProbe = dice.happens(0.2);
      return {
        name: 'claim',
        run: async (client) => {
          const claims = await client.store.outbox.claim(batch.destination, [batch.integration], 100, leaseMs, {
            isProbe,
          });
          client.hold(batch, claims);
          return shown(claims);
        },
      };
    }
    case 'settle': {
      const results = Array.from({ length: 8 }, () => resultOf(dice));
      return {
        name: 'settle',
        run: async (client) => {
          const claims = some(client.claims.get(`${batch.integration} ${batch.destination}`) ?? [], roll);
          const settlements = claims.map(
            ({ type, id, version, fence, triesUsed }, i): Settlement => ({
              ...batch,
              type,
              id,
              version,
              fence,
              attempt: triesUsed + 1,
              result: results[i % results.length] as Settlement['result'],
              durationMs: 1,
            }),
          );
          const more = await client.store.outbox.settle(settlements, 'node');
          return more.map((one) => `${one.integration} ${one.destination}`).sort();
        },
      };
    }
    case 'release': {
      const how = dice.pick(['extend', 'putBack', 'abandon'] as const);
      return {
        name: how,
        run: async ({ store: { outbox }, claims }) => {
          const released = some(claims.get(`${batch.integration} ${batch.destination}`) ?? [], roll);
          if (how === 'putBack') return outbox.putBack(batch, released);
          return outbox.extend(batch, released, how === 'abandon' ? 0 : leaseMs);
        },
      };
    }
    case 'due':
      return {
        name: 'due',
        run: async ({ store }) => {
          const due = await store.outbox.nextDue([batch]);
          const count = await store.outbox.countDue(batch, 100);
          return [due.map(({ dueInMs, isProbe }) => [dueInMs > 1_000, isProbe]), count];
        },
      };
    case 'circuit': {
      const { destination } = batch;
      const failure = {
        kind: 'failed' as const,
        message: 'It took too long.',
        unreachable: dice.happens(0.5),
        records: dice.pick([['a'], ['b'], ['a', 'b']]),
      };
      const cooldownMs = dice.pick([0, hourMs]);
      const how = dice.pick(['fail', 'fail', 'fail', 'life', 'probe', 'release', 'wait', 'budget'] as const);
      const severalAnswers = dice.happens(0.3);
      return {
        name: how,
        run: async ({ store: { outbox } }) => {
          if (how === 'life') return outbox.noteAnswer(destination);
          if (how === 'probe') return outbox.takeProbe(destination, leaseMs);
          if (how === 'release') return outbox.releaseProbe(destination);
          if (how === 'budget') {
            const { granted, waitMs } = await outbox.takeBudget(destination, 3, { everyMs: 1_000_000, burst: 5 });
            return { granted, waitMs: Math.round(waitMs / 100_000) };
          }
          // Short pauses are over at once, or most of the trial would be spent paused.
          const waitMs = severalAnswers ? 0 : 0.001;
          if (how === 'wait') return outbox.noteWaitRequest(destination, { records: ['a'], severalAnswers, waitMs });
          const circuit = { failuresToOpen: 4, firstMs: cooldownMs, mostMs: hourMs };
          return outbox.noteFailure(destination, failure, circuit);
        },
      };
    }
    case 'run':
      return runOperation(dice, integration, leaseMs, roll);
    case 'partner': {
      const how = dice.pick(['admit', 'admit', 'failed', 'failed', 'succeeded', 'pause'] as const);
      const api = `https://${integration}.example`;
      const cooldownMs = dice.pick([0, hourMs]);
      return {
        name: `partner ${how}`,
        run: async ({ store: { partners } }) => {
          if (how === 'failed') return partners.failed(api, cooldownMs, 'broken');
          if (how === 'succeeded') return partners.succeeded(api);
          if (how === 'pause') return partners.pause(integration as IntegrationName, 0);
          const asking = { rate: undefined, hasWaited: false, mostMs: 1_000 };
          const admission = await partners.admit(api, integration as IntegrationName, asking);
          return admission.kind === 'wait' ? [admission.reason, admission.ms > 1_000] : admission;
        },
      };
    }
  }
}

const kinds = [
  'insert',
  'insert',
  'insert',
  'batch',
  'batch',
  'setAside',
  'claim',
  'claim',
  'claim',
  'settle',
  'settle',
  'settle',
  'release',
  'due',
  'circuit',
  'run',
  'run',
  'run',
  'partner',
] as const;

/** The same numbers for both stores, drawn when the operation runs. */
class DiceCopy {
  readonly next: (name: string) => number;

  constructor(dice: Dice) {
    const salt = dice.whole(0, 1_000_000);
    this.next = (name) => {
      let hash = salt;
      for (const char of name) hash = (Math.imul(hash, 31) + char.charCodeAt(0)) | 0;
      return (hash >>> 0) / 4_294_967_296;
    };
  }
}

/** Each claim once or not at all; a record at most once, as in a real batch. */
function some(claims: readonly Claimed[], roll: (name: string) => number): Claimed[] {
  const chosen = new Map<string, Claimed>();
  for (const claim of claims) {
    if (roll(`${claim.id} ${claim.fence}`) < 0.6) chosen.set(claim.id, claim);
  }
  return [...chosen.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function resultOf(dice: Dice): Settlement['result'] {
  const delayMs = dice.pick([0, hourMs]);
  return dice.pick<Settlement['result']>([
    { kind: 'delivered' },
    { kind: 'delivered' },
    { kind: 'delivered' },
    { kind: 'skipped' },
    { kind: 'retry', delayMs, triesUsed: 1 },
    { kind: 'retry', delayMs, triesUsed: 0, mayHaveArrived: true },
    { kind: 'dead' },
  ]);
}

/** A claim without the parts that differ between stores: the time of the change, and functions. */
function shown(claims: readonly Claimed[]) {
  return claims
    .map(({ change, ...claim }) => ({
      ...claim,
      event: change?.event,
      key: change?.idempotencyKey,
      record: change && encodeRecord(change.record()),
    }))
    .sort((a, b) => (a.id === b.id ? a.fence - b.fence : a.id < b.id ? -1 : 1));
}

function runOperation(dice: Dice, integration: string, leaseMs: number, roll: (name: string) => number): Operation {
  const how = dice.pick(['queue', 'claimDue', 'page', 'page', 'page', 'extend', 'park', 'finish', 'known'] as const);
  const rows = Array.from({ length: 3 }, (_, i) => reservation(`R${i + 1}`, dice.whole(1, 4)));
  const requestedAt = baseMs + dice.whole(0, 5) * 1_000;
  const state = dice.pick(['complete', 'incomplete', 'failed'] as const);
  const room = roomOf(dice);
  return {
    name: `run ${how}`,
    run: async (client) => {
      const { handover, offered } = client.handover(room);
      const runs = client.store.runs(handover);
      const name = integration as IntegrationName;
      if (how === 'queue') {
        const queued = await runs.queue({ integration: name, sync: 'pre_stay', kind: 'manual', requestedBy: 'test' });
        const run = queued.kind === 'queued' ? queued.run : undefined;
        return [queued.kind, client.runName(run?.runId ?? (queued as { runId: string }).runId)];
      }
      if (how === 'claimDue') {
        const [run] = await runs.claimDue(1, 'node', leaseMs);
        if (run === undefined) return undefined;
        client.runs.push(run);
        if (run.position === undefined) await runs.start(run, position, brand(run.integration));
        return { ...run, runId: client.runName(run.runId) };
      }
      const run = client.runs[Math.floor(roll('run') * client.runs.length)];
      if (run === undefined) return 'no run';
      if (how === 'extend') return runs.extend(run, leaseMs, 'rate');
      if (how === 'park') return runs.park(run, { ...noCounts, requests: 1 }, { afterMs: 0 });
      if (how === 'finish') return runs.finish(run, { state, findings: [] }, { ...noCounts, requests: 1 });
      const plan = pullPlan(run.integration);
      const read = plan.brand.shapers.pull.records({ reservations: rows });
      if (read.kind === 'invalid') throw new Error(read.message);
      const page = read.records.map((raw) => ({ raw, content: Number((raw.value as JsonObject).total_amount) }));
      const known = await runs.known(plan.brand, recognisableRows(page as never, plan.brand));
      if (how === 'known') return known.map(({ key }) => key).sort();
      const view = await runs.get(run.integration, run.runId);
      const made = preparePage({ plan, run, position, requestedAt: requestedAt as EpochMs }, page as never, known);
      const after = view?.counters.pages ?? 0;
      const commit = {
        ...made,
        counted: sum(made.counted, { pages: 1, rows: rows.length }),
        position,
        requestedAt,
        log: { ...pageLog, requestedAt },
      };
      const counted = await runs.commitPage(run, leaseMs, commit, plan.brand, after);
      const { state: now, counters } = (await runs.get(run.integration, run.runId)) ?? {};
      return [counted, now, counters, offered()];
    },
  };
}

const baseMs = Date.UTC(2026, 5, 1, 12);

function reservation(id: string, amount: number): JsonObject {
  return {
    id,
    confirmation_number: `C-${id}`,
    check_in: '2026-06-03',
    check_out: '2026-06-04',
    status: amount === 4 ? 'cancelled' : 'confirmed',
    total_amount: amount,
    currency: 'EUR',
    guests: [{ first_name: 'Ana', last_name: 'Exemplo', email: `${id.toLowerCase()}@guests.example` }],
    rooms: [],
    charges: [],
  };
}
