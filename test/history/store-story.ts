import type { Brand } from '../../src/core/brand/brand.ts';
import { encodeRecord } from '../../src/core/canonical/reservation.ts';
import { Handover } from '../../src/core/deliver/handover.ts';
import type { Claimed, LaneKey } from '../../src/core/deliver/ports.ts';
import { preparePage } from '../../src/core/intake/pull/page/page-commit.ts';
import { noCounts, type Run, sum } from '../../src/core/intake/pull/run/run-state.ts';
import type { BrandBatch } from '../../src/core/intake/push/brand-batch.ts';
import type { NewEvent } from '../../src/core/intake/push/ports.ts';
import { workBrand } from '../../src/core/intake/push/worker.ts';
import { read } from '../../src/core/pipeline.ts';
import type { Pool } from '../../src/core/store/db/pool.ts';
import { newKey } from '../../src/kit/crypto.ts';
import { suppression } from '../../src/operator/privacy/suppress.ts';
import type { EndpointId, IntegrationName, JsonObject } from '../../src/terms.ts';
import { brand, destinationNames, pullPlan } from '../simulation/brands.ts';
import { observeDatabase } from '../simulation/observe.ts';
import { stateText } from '../simulation/partner.ts';
import { pageLog, position } from '../simulation/pulled-page.ts';
import { realPorts } from '../simulation/real-store.ts';
import { withErasure } from '../support/brand.ts';
import type { Erasure, History, Statement, Write } from './history.ts';

const integration = 'lisbon' as IntegrationName;
const hourMs = 3_600_000;

/** An event of a partner; `agoMs` before now by its own timestamp. */
interface Said {
  readonly id: string;
  readonly amount: number;
  readonly agoMs?: number;
  readonly email?: string;
  readonly at?: string;
}

/** What partners, nodes and destinations do to a PostgreSQL store, one step at a time, recorded as a history. */
export class StoreStory {
  readonly #pool: Pool;
  readonly #store: ReturnType<typeof realPorts>;
  readonly #endpoints: ReadonlyMap<string, string>;
  readonly #targets: ReadonlyMap<string, Brand>;
  readonly #statements: Statement[] = [];
  readonly #writes: Write[] = [];
  readonly #erasures: Erasure[] = [];
  readonly #listed = new Map<string, number>();
  #events = 0;
  #steps = 0;

  constructor(pool: Pool, endpoints: ReadonlyMap<string, string>) {
    this.#pool = pool;
    this.#store = realPorts(pool);
    this.#endpoints = endpoints;
    const erasure = suppression([newKey()]);
    this.#targets = new Map([...endpoints.keys()].map((name) => [name, withErasure(brand(name), erasure)]));
  }

  /** An event that is stored first. */
  async say(id: string, amount: number, more: { agoMs?: number; email?: string } = {}): Promise<void> {
    const event = await this.#event({ id, amount, ...more });
    const [stored] = await this.#store.insert([event.stored], () => {});
    await this.#note(event, stored?.kind === 'stored');
  }

  /** Events that one statement stores. */
  async arrive(said: readonly Said[]): Promise<void> {
    const events: SaidEvent[] = [];
    for (const one of said) events.push(await this.#event(one));
    await this.#store.insert(
      events.map(({ stored }) => stored),
      () => {},
    );
    for (const event of events) await this.#note(event, true);
  }

  async #event({ id, amount, agoMs = 0, email, at = integration }: Said): Promise<SaidEvent> {
    this.#events += 1;
    const eventId = `event-${this.#events}`;
    const occurredAt = Math.floor(await this.#store.clock()) - agoMs;
    const data = reservation(id, amount, email);
    const rawBody = Buffer.from(JSON.stringify({ event: 'reservation.updated', data }));
    const endpointId = this.#endpoints.get(at) as EndpointId;
    const of = { integration: at as IntegrationName, endpointId, secretNo: 1, eventId };
    return {
      stored: { ...of, occurredAt, rawBody, event: 'reservation.updated' },
      record: `${at}/${id}`,
      value: stateText(data),
      agoMs,
    };
  }

  async #note({ stored: { eventId, occurredAt = 0 }, record, value, agoMs }: SaidEvent, isAccepted: boolean) {
    const receivedBy = Math.ceil(await this.#store.clock());
    this.#statements.push({
      id: eventId,
      record,
      value,
      fromMs: agoMs >= 0 ? occurredAt : occurredAt + agoMs,
      toMs: agoMs >= 0 ? occurredAt : receivedBy,
      isAccepted,
      isEvent: true,
    });
  }

  #target(name: string): Brand {
    return this.#targets.get(name) as Brand;
  }

  /** Works until nothing is pending. `meanwhile` runs after a batch was read and before anything was written. */
  async work({ meanwhile = async () => {} } = {}): Promise<void> {
    const store = { brandOf: (name: string) => this.#targets.get(name), othersAt: () => [], handover: new Handover() };
    const process = async (own: Brand, batch: BrandBatch) => {
      await meanwhile();
      return workBrand(batch, own);
    };
    while ((await this.#store.batch(store, { limit: 200 }, process)).more);
  }

  /** Claims what is due. A lease of length zero ends at once, like that of a frozen node. */
  async claim(destination: string, { isFrozen = false, at = integration as string } = {}): Promise<readonly Claimed[]> {
    return this.#store.outbox.claim(destination, [at], 100, isFrozen ? 0 : hourMs);
  }

  /** A node releases what it claimed. */
  async putBack(destination: string, claims: readonly Claimed[]): Promise<void> {
    await this.#store.outbox.putBack(laneTo(destination), claims);
  }

  send(destination: string, claims: readonly Claimed[], at: string = integration): void {
    this.#steps += 1;
    for (const { id, version, change } of claims) {
      if (change === undefined) continue;
      const record = change.record();
      this.#writes.push({
        destination,
        record: `${at}/${id}`,
        version,
        key: change.idempotencyKey,
        value: stateText(record as { status?: unknown }),
        body: encodeRecord(record),
        startedAtMs: this.#steps,
      });
    }
  }

  async settle(
    destination: string,
    claims: readonly Claimed[],
    kind: 'delivered' | 'retry' | 'dead' = 'delivered',
    at: string = integration,
  ): Promise<void> {
    const result = kind === 'retry' ? { kind, delayMs: 0, triesUsed: 1 } : { kind };
    const settlements = claims.map(({ type, id, version, fence, triesUsed }) => ({
      ...laneTo(destination, at),
      type,
      id,
      version,
      fence,
      attempt: triesUsed + 1,
      result,
      durationMs: 1,
    }));
    await this.#store.outbox.settle(settlements, 'node');
  }

  /** Delivers until nothing is due: each claim is for all brands. */
  async deliver(): Promise<void> {
    for (const destination of destinationNames) {
      for (;;) {
        const claimed = await this.#store.outbox.claim(destination, [...this.#targets.keys()], 100, hourMs);
        if (claimed.length === 0) break;
        for (const [at, claims] of Map.groupBy(claimed, (one) => one.integration)) {
          this.send(destination, claims, at);
          await this.settle(destination, claims, 'delivered', at);
        }
      }
    }
  }

  /** A node claims a run and reads its one page; `isFrozen`: its lease has ended by the time it writes. */
  async startRun({ isFrozen = false } = {}): Promise<Run> {
    const runs = this.#store.runs(new Handover());
    await runs.queue({ integration, sync: 'pre_stay', kind: 'manual', requestedBy: 'test' });
    const [run] = await runs.claimDue(1, 'node', isFrozen ? 0 : hourMs);
    if (run === undefined) throw new Error('no run is due');
    await runs.start(run, position, this.#target(integration));
    return run;
  }

  /** Stores the page as the page after `after` others. */
  async storePage(run: Run, rows: readonly { id: string; amount: number }[], after = 0): Promise<void> {
    const runs = this.#store.runs(new Handover());
    const plan = pullPlan(integration);
    const read = plan.brand.shapers.pull.records({
      reservations: rows.map(({ id, amount }) => reservation(id, amount)),
    });
    if (read.kind === 'invalid') throw new Error(read.message);
    const requestedAt = Math.floor(await this.#store.clock());
    const page = read.records.map((raw, i) => ({ raw, content: i }));
    const made = preparePage({ plan, run, position, requestedAt }, page as never, []);
    const counted = sum(made.counted, { pages: 1, rows: rows.length });
    const commit = { ...made, counted, position, requestedAt, log: { ...pageLog, requestedAt } };
    const result = await runs.commitPage(run, hourMs, commit, this.#target(integration), after);
    if (result === 'fenced') return;
    this.#listed.set(run.runId, rows.length);
    for (const { id, amount } of rows) {
      this.#statements.push({
        id: `${run.runId} ${id}`,
        record: `${integration}/${id}`,
        value: stateText(reservation(id, amount)),
        fromMs: requestedAt,
        toMs: requestedAt,
        isAccepted: true,
        isEvent: false,
      });
    }
  }

  async endRun(run: Run): Promise<void> {
    await this.#store.runs(new Handover()).finish(run, { state: 'complete', findings: [] }, noCounts);
  }

  /** The guest with this address was erased: no later message may store the guest again. */
  async erased(email: string): Promise<void> {
    const own = brand(integration);
    const shaped = own.shapers.push.single(reservation('any', 1, email));
    if (shaped.kind === 'invalid') throw new Error(shaped.message);
    const arrival = { mode: 'push', effectiveAt: 0, cause: 'event', causeId: '0' } as const;
    const hashes = this.#target(integration).erasure?.hashesOf(read(own, shaped.record, arrival), own.integration);
    await this.#pool.query(`insert into erasures (erasure_id, requested_by, subject) values ('era', 'test', '')`);
    await this.#pool.query(
      `insert into erased_guests (hash, erasure_id) select decode(h, 'hex'), 'era' from unnest($1::text[]) h`,
      [[...(hashes ?? [])]],
    );
    this.#erasures.push({ atMs: this.#steps, marks: [email] });
  }

  async history(): Promise<History> {
    const { fates, versions, settled, runs } = await observeDatabase(this.#pool);
    const { rows: bodies } = await this.#pool.query<{ place: string; text: string }>(
      `select 'event ' || event_id as place, convert_from(body, 'UTF8') as text from events where body is not null`,
    );
    return {
      statements: this.#statements,
      fates,
      versions: versions.map((one) => ({ ...one, value: stateText(JSON.parse(one.value)), text: one.value })),
      settled,
      writes: this.#writes,
      runs: runs.map((run) => ({
        ...run,
        ...(this.#listed.has(run.id) && { listed: this.#listed.get(run.id) as number }),
      })),
      erasures: this.#erasures,
      kept: bodies,
      isQuiet: true,
    };
  }
}

const laneTo = (destination: string, at: string = integration): LaneKey => ({
  integration: at as IntegrationName,
  destination,
});

interface SaidEvent {
  readonly stored: NewEvent;
  readonly record: string;
  readonly value: string;
  readonly agoMs: number;
}

function reservation(id: string, amount: number, email = `${id.toLowerCase()}@guests.example`): JsonObject {
  return {
    id,
    confirmation_number: `C-${id}`,
    check_in: '2026-06-03',
    check_out: '2026-06-04',
    status: 'confirmed',
    total_amount: amount,
    currency: 'EUR',
    guests: [{ first_name: 'Ana', last_name: 'Exemplo', email }],
    rooms: [],
    charges: [],
  };
}
