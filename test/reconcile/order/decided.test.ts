import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amended } from '../../../src/core/intake/push/guest-event.ts';
import { readEvent } from '../../../src/core/intake/push/reservation-event.ts';
import { readGuests } from '../../../src/core/pipeline/guest.ts';
import { read } from '../../../src/core/pipeline.ts';
import { heldPathOf, isTold, signsOf } from '../../../src/core/reconcile/accidents/signs.ts';
import type { Receipt, Statement, Stored } from '../../../src/core/reconcile/forms.ts';
import { amendGuest } from '../../../src/core/reconcile/guest-update.ts';
import { aboutRecord } from '../../../src/core/reconcile/profile.ts';
import { decideBatch } from '../../../src/core/store/records/ingest.ts';
import type { JsonObject, LocalDate } from '../../../src/terms.ts';
import { testBrand } from '../../support/brand.ts';
import { Model, modelled } from './model.ts';
import { type Block, blocks, type Told } from './stories.ts';

/**
 * Accidents that an operator releases or refuses in between, in any order of arrival: the bookings are what the model says. The same stories
 * are told to a running service in `test/operations/any-order.test.ts`; here thousands of them take seconds.
 */
const brand = testBrand('lisbon', {}, { lagMs: 1_800_000 });

class ToldBrand {
  rows: ReadonlyMap<string, Stored> = new Map();
  readonly #heard: Statement[] = [];
  #seq = 0;

  /** A guest's own event waits for a booking that has the guest. */
  isReady({ kind, rows: [row = {}] }: Told): boolean {
    if (kind !== 'guest.updated') return true;
    const id = row.guest_id === 'g-ana' ? 'b-1' : 'b-2';
    return (this.#record(id)?.guests as unknown[] | undefined)?.length === 1;
  }

  hear(told: Told): void {
    for (const row of JSON.parse(JSON.stringify(told.rows).replace(/"p-(\d)"/g, '"+35191200000$1"'))) {
      const statement = this.#statement(told, row);
      if (statement === undefined) continue;
      this.#heard.push(statement);
      this.#take(statement, told.isAccident);
    }
  }

  #statement({ kind, place }: Told, row: JsonObject): Statement | undefined {
    const seq = ++this.#seq;
    const about = { effectiveAt: 1_000_000 + place * 1_000, seq, causeId: String(seq) };
    if (kind === 'list' || kind === 'single') {
      const mode = kind === 'list' ? 'pull' : 'single';
      return read(brand, { key: String(row.id), value: row }, { ...about, mode, cause: 'run' });
    }
    const arrival: Receipt = { ...about, mode: 'push', cause: 'event', receivedAt: about.effectiveAt };
    if (kind === 'reservation.updated') {
      const { id, ...rest } = row;
      return readEvent(brand, { event: kind, data: { reservation_id: id ?? '', ...rest } }, arrival);
    }
    const id = row.guest_id === 'g-ana' ? 'b-1' : 'b-2';
    const record = this.#record(id) as never as Parameters<typeof amendGuest>[0];
    const own = readGuests(brand, row, false);
    if (own.kind === 'invalid') assert.fail(own.message);
    const update = own.updates[0]?.update;
    const amendment = update && amendGuest(record, record.guests[0] ?? {}, update, '2027-01-01' as LocalDate);
    return amendment && amended({ ...arrival, cause: 'guest' }, { ...amendment, record }, row);
  }

  #record(id: string): JsonObject | undefined {
    const row = this.rows.get(`reservation ${id}`);
    return row === undefined || row.version === 0 ? undefined : (JSON.parse(row.text) as JsonObject);
  }

  booking(id: string): JsonObject | undefined {
    const record = this.#record(id);
    return record && modelled(JSON.parse(JSON.stringify(record).replace(/"\+35191200000(\d)"/g, '"p-$1"')), true);
  }

  #take(statement: Statement, isJudged: boolean): void {
    const first = decideBatch(brand, this.rows, [statement]);
    const [step] = first.steps;
    const signs = isJudged && step ? [...signsOf(step, '2027-01-01' as LocalDate)] : [];
    const held = signs
      .filter((sign) => sign !== 'strangers' && !isTold(sign))
      .map((sign) => ({ hold: `${statement.source} ${sign}`, path: heldPathOf(sign), reason: 'Held.' }));
    this.rows = decideBatch(brand, this.rows, [statement], new Map(held.length > 0 ? [[statement, held]] : [])).rows;
  }

  decide(is: 'released' | 'refused'): void {
    const holds = [...this.rows.values()].flatMap(({ claims }) => claims?.quarantine?.map(({ hold }) => hold) ?? []);
    for (const hold of new Set(holds)) {
      if (is === 'refused') this.rows = new Map([...this.rows].map(([key, row]) => [key, refused(row, hold)]));
      else
        for (const id of ['b-1', 'b-2']) {
          const held = this.rows.get(`reservation ${id}`)?.claims?.quarantine ?? [];
          const one = held.find((each) => each.hold === hold && each.state === 'held');
          if (one === undefined) continue;
          const [effectiveAt, seq] = one.at;
          const arrival = { mode: 'pull', effectiveAt, seq, cause: 'replay', causeId: hold } as const;
          const about = aboutRecord('reservation', id, arrival);
          this.#take({ ...about, content: { values: {}, lists: {} }, releases: hold }, false);
        }
    }
  }

  reprocess(): void {
    const inTime = this.#heard.toSorted((a, b) => a.receipt.effectiveAt - b.receipt.effectiveAt);
    for (const one of inTime) {
      if (one.failure !== undefined && !this.rows.has(`reservation ${one.id}`)) continue;
      this.#take({ ...one, receipt: { ...one.receipt, cause: 'reprocess' } }, false);
    }
  }
}

function refused(row: Stored, hold: string): Stored {
  const own = row.claims?.quarantine;
  if (own?.some((one) => one.hold === hold && one.state === 'held') !== true) return row;
  const quarantine = own.map((one) => (one.hold === hold ? { ...one, state: 'refused' as const } : one));
  return { ...row, claims: { ...row.claims, quarantine } };
}

function tell({ stories: [story], decisions, reprocessedAfter }: Block): void {
  const { told, arrivals } = story as Block['stories'][number];
  const [brand, model] = [new ToldBrand(), new Model(true)];
  let waiting: readonly Told[] = [];
  for (const [turn, place] of arrivals.entries()) {
    const due = [told[place] as Told, ...waiting];
    waiting = [];
    for (const one of due) {
      if (!brand.isReady(one)) {
        waiting = [...waiting, one];
        continue;
      }
      brand.hear(one);
      model.hear(one);
    }
    for (const { is } of decisions.filter(({ after }) => after === turn)) {
      brand.decide(is);
      model.decide(is);
    }
    if (reprocessedAfter.includes(turn)) brand.reprocess();
    for (const id of ['b-1', 'b-2']) {
      assert.deepEqual(brand.booking(id), model.booking(id), `${id} after turn ${turn}`);
    }
  }
}

const { INNBOUND_ORDERS: runs = 400, INNBOUND_SEED: seed } = process.env;

test('property: a held value counts as the operator decided, whatever comes before and after', () => {
  fc.assert(fc.property(blocks(true, 1), tell), {
    numRuns: Number(runs),
    seed: Number(seed ?? 1),
    endOnFailure: seed === undefined,
  });
});
