import { hash } from 'node:crypto';
import { compilePlan, type Plan } from '../src/core/brand/compile.ts';
import { toReservation } from '../src/core/canonical/check.ts';
import { encodeRecord, type Reservation } from '../src/core/canonical/reservation.ts';
import type { Connector } from '../src/core/documents/connector.ts';
import { normalizeReservation } from '../src/core/normalize/normalize.ts';
import { decide, read } from '../src/core/pipeline.ts';
import type { Receipt } from '../src/core/reconcile/forms.ts';
import type { RawRecord } from '../src/core/shape/config.ts';
import type { Shaper } from '../src/core/shape/shape.ts';
import { compileRules, type RuleSet } from '../src/core/transform/rules.ts';
import { parseJson } from '../src/kit/json.ts';
import { withoutCards } from '../src/operator/privacy/cards.ts';
import type { EpochMs, Json } from '../src/terms.ts';
import { flat, integration, nested, pageText, rowsOf, transforms } from './shape/partner.ts';

/**
 * From parsed JSON to the reconciled change on one core, compared with JSON.parse of the same bytes in the same run. Covers the pipeline's
 * path (shape, check, normalize, rules, check of the rules' results), then encoding, hash and verdict per page, as
 * the store does; everything except the database.
 *
 * Every page is new, so caches of guests do not help, except on the line "pages seen again", which measures a repeated
 * poll. The steps are timed separately on further new pages, each over a whole page.
 *
 * Where the time goes (two x64 cores, one run, JSON.parse at 7.4 µs per reservation): normalize 59 µs, of which phone numbers take 38, check 13, rules and the
 * check after them 9, shape 8, encoding 5, hash 4; the whole path 135. A backfill took 550 µs of processor time per record in the same minute. Since every statement
 * lists what its message says, the whole path takes 166 to 175 µs (several runs, JSON.parse at 7.1 to 7.2).
 */

const count = 500;
const warmUp = 40;
const rounds = 60;

export async function run(_args: readonly string[]): Promise<void> {
  const path = pathOf(nested);
  const clocks = new Clocks();
  let page = 0;
  let bytes = 0;
  for (let round = -warmUp; round < rounds; round++) {
    if (round === 0) clocks.reset();
    const text = pageText(page++, count);
    const sent = Buffer.from(text);
    bytes = sent.length;
    clocks.time('card scan', () => withoutCards(sent));
    const body = clocks.time('JSON.parse', () => JSON.parse(text) as Json);
    clocks.time('parseJson', () => parseJson(text));
    clocks.time('path', () => changes(path, body));
    clocks.time('path, seen again', () => changes(path, body));
  }
  const lines = clocks.perSecond();
  steps(clocks, path.shapers.pull, page);
  lines.push(...clocks.perSecond());
  page += warmUp + rounds;
  const plain = pathOf(flat);
  for (let round = -warmUp; round < rounds; round++) {
    if (round === 0) clocks.reset();
    const rows = rowsOf(pageText(page++, count));
    clocks.time('path, flat rows', () => changes(plain, rows));
  }
  lines.push(...clocks.perSecond());
  report(new Map(lines), bytes);
}

/**
 * The path and JSON.parse of the same bytes, in microseconds per reservation, for the table of all figures. Short pages are timed by
 * the wall clock, and only the fastest fifth counts: the results are within 2 % of each other on a busy machine, where sums of processor
 * time differ by 20 %.
 */
export function measureShape(): { parseMicros: number; pathMicros: number } {
  const path = pathOf(nested);
  const short = 60;
  const parse: number[] = [];
  const whole: number[] = [];
  for (let page = 0; page < 1_200; page++) {
    const text = pageText(page, short);
    const from = performance.now();
    const body = JSON.parse(text) as Json;
    const parsed = performance.now();
    changes(path, body);
    if (page < 300) continue;
    parse.push((1000 * (parsed - from)) / short);
    whole.push((1000 * (performance.now() - parsed)) / short);
  }
  const fifth = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 5)] ?? NaN;
  return { parseMicros: fifth(parse), pathMicros: fifth(whole) };
}

const arrival: Receipt = { mode: 'pull', effectiveAt: 1 as EpochMs, cause: 'run', causeId: '1', seq: 1 };

function changes(path: Plan, body: Json): unknown[] {
  return recordsOf(path.shapers.pull, body).map((raw) => {
    const decision = decide(path, undefined, read(path, raw, arrival));
    if (decision.kind !== 'change') throw new Error(`a record was ${decision.kind}`);
    return decision;
  });
}

/** Each step alone, on the previous step's result for a new page. */
function steps(clocks: Clocks, shaper: Shaper, from: number): void {
  const { rules } = okay(compileRules(transforms));
  for (let round = -warmUp; round < rounds; round++) {
    if (round === 0) clocks.reset();
    const body = JSON.parse(pageText(from + warmUp + round, count)) as Json;
    const raws = recordsOf(shaper, body);
    const drafts = clocks.time('  shape', () => recordsOf(shaper, body).map((raw) => shaper.draft(raw)));
    const checked = clocks.time('  check', () => drafts.map((draft) => okay(toReservation(draft)).reservation));
    const clean = clocks.time('  normalize', () => checked.map((one) => normalizeReservation(one, region).reservation));
    const ruled = clocks.time('  rules, check', () => clean.map((one) => ruledBy(rules, one)));
    const texts = clocks.time('  encode', () => ruled.map(encodeRecord));
    clocks.time('  hash', () => texts.map(digest));
    clocks.time('origins', () => raws.map((raw) => shaper.origins(raw)));
  }
}

const region = { country: 'PT' };

function ruledBy(rules: RuleSet, clean: Reservation): Reservation {
  const ruled = rules.apply(clean);
  if (ruled.kind !== 'kept') throw new Error(`a rule ${ruled.kind}`);
  return ruled.changed ? okay(toReservation({ record: ruled.record })).reservation : clean;
}

const digest = (text: string): string => hash('sha256', text, 'hex');

function okay<Of extends { kind: string }>(result: Of): Extract<Of, { kind: 'ok' }> {
  if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
  return result as Extract<Of, { kind: 'ok' }>;
}

function recordsOf(shaper: Shaper, body: Json): RawRecord[] {
  return okay(shaper.records(body)).records;
}

function pathOf(connector: Connector): Plan {
  return okay(compilePlan(connector, integration)).plan;
}

/** Processor time of this thread, by step; other programs on the machine have no influence. */
class Clocks {
  #ms = new Map<string, number>();

  time<Of>(name: string, work: () => Of): Of {
    const from = process.threadCpuUsage();
    const result = work();
    const { user, system } = process.threadCpuUsage(from);
    this.#ms.set(name, (this.#ms.get(name) ?? 0) + (user + system) / 1000);
    return result;
  }

  reset(): void {
    this.#ms = new Map();
  }

  perSecond(): [string, number][] {
    return [...this.#ms].map(([name, ms]) => [name, (count * rounds * 1000) / ms]);
  }
}

function report(lines: ReadonlyMap<string, number>, bytes: number): void {
  const parse = lines.get('JSON.parse') ?? 0;
  console.log(
    `${count} reservations of ${Math.round(bytes / count)} bytes, ${rounds} new pages, processor time of one thread\n`,
  );
  for (const [name, rate] of lines) {
    const each = `${(1e6 / rate).toFixed(1)} µs`;
    console.log(
      `${name.padEnd(22)}${thousands(rate).padStart(12)} /s${each.padStart(12)}${`${(rate / parse).toFixed(2)} x JSON.parse`.padStart(20)}`,
    );
  }
}

function thousands(number: number): string {
  return Math.round(number).toLocaleString('en');
}
