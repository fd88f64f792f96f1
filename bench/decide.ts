import { compilePlan, type Plan } from '../src/core/brand/compile.ts';
import { readEvent } from '../src/core/intake/push/reservation-event.ts';
import { decide, read } from '../src/core/pipeline.ts';
import type { Receipt, Statement, Stored } from '../src/core/reconcile/forms.ts';
import { storedAfter } from '../src/core/store/records/ingest.ts';
import { parseJson } from '../src/kit/json.ts';
import type { Json, JsonObject } from '../src/terms.ts';
import { integration, nested, pageText } from './shape/partner.ts';

/**
 * What one statement costs on one core, from its parsed payload to the decision, without the database: a new record, an update by the list, an
 * event on a pulled booking, a third event, and an event that is late. `read` is what the payload says (`state`), `decide` the rest. The state
 * beside the record is parsed and written as the store does it. Processor time of this thread, whose clock may tick every 4 ms, so all pages
 * after the first count together.
 */

const perPage = 60;
const pages = 120;
const warmUp = 20;

type Case = 'new record' | 'update by the list' | 'event on a pulled booking' | 'third event' | 'late event';

export async function run(_args: readonly string[]): Promise<void> {
  const compiled = compilePlan(nested, integration);
  if (compiled.kind === 'invalid') throw new Error(JSON.stringify(compiled.problems));
  const { plan } = compiled;
  const brand = { ...plan, connector: { name: 'nested', version: 1, body: nested } };
  const times = new Map<Case, { read: number[]; decide: number[]; parse: number[] }>();
  const micros = (work: () => void): number => {
    const from = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(from);
    return (user + system) / perPage;
  };
  const measure = (name: Case, page: number, read: () => Statement[], stored: readonly (Stored | undefined)[]) => {
    let statements: Statement[] = [];
    let decisions: unknown[] = [];
    const readMicros = micros(() => {
      statements = read();
    });
    const known = stored.map((one) => one && { ...one, claims: one.claims && JSON.stringify(one.claims) });
    const decideMicros = micros(() => {
      decisions = statements.map((statement, n) => {
        const one = known[n];
        const before = one && ({ ...one, claims: one.claims && JSON.parse(one.claims) } as Stored);
        const decision = decide(plan, before, statement);
        if ('state' in decision) JSON.stringify(decision.state?.claims);
        return storedAfter(decision, before) ?? before;
      });
    });
    if (page >= warmUp) {
      const all = times.get(name) ?? { read: [], decide: [], parse: [] };
      times.set(name, all);
      all.read.push(readMicros);
      all.decide.push(decideMicros);
    }
    return decisions as (Stored | undefined)[];
  };
  for (let page = 0; page < pages; page++) {
    const body = parseJson(pageText(page, perPage)) as JsonObject;
    const rows = body.reservations as JsonObject[];
    const changed = rows.map((row) => ({ ...row, totals: { gross: 777.5 }, channel: 'NEW' }));
    const pull = (all: readonly JsonObject[], at: number) => () =>
      records(plan, { ...body, reservations: all as Json }).map((raw) => read(plan, raw, arrival('pull', at)));
    const push = (all: readonly JsonObject[], at: number) => () =>
      all.map((data) => readEvent(brand, { event: 'reservation.updated', data }, arrival('push', at)));
    const created = measure(
      'new record',
      page,
      pull(rows, 1_000),
      rows.map(() => undefined),
    );
    measure('update by the list', page, pull(changed, 2_000), created);
    const first = measure('event on a pulled booking', page, push(changed, 3_000), created);
    const second = push(rows, 4_000)().map((statement, n) => {
      const decision = decide(plan, first[n], statement);
      return storedAfter(decision, first[n]) ?? first[n];
    });
    measure('third event', page, push(changed, 5_000), second);
    measure('late event', page, push(changed, 3_500), second);
  }
  console.log(`${perPage} reservations a page, ${pages - warmUp} pages, µs of one thread per statement\n`);
  console.log(`${''.padEnd(28)}${'read'.padStart(8)}${'decide'.padStart(8)}${'sum'.padStart(8)}`);
  for (const [name, { read, decide: decided }] of times) {
    const [a, b] = [mean(read), mean(decided)];
    console.log(
      `${name.padEnd(28)}${a.toFixed(0).padStart(8)}${b.toFixed(0).padStart(8)}${(a + b).toFixed(0).padStart(8)}`,
    );
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

const arrival = (mode: Receipt['mode'], effectiveAt: number): Receipt => ({
  mode,
  effectiveAt,
  cause: mode === 'pull' ? 'run' : 'event',
  causeId: '1',
  seq: effectiveAt,
});

function records(path: Plan, body: Json) {
  const read = path.shapers.pull.records(body);
  if (read.kind !== 'ok') throw new Error(read.message);
  return read.records;
}
