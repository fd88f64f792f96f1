import type { Reservation } from '../src/core/canonical/reservation.ts';
import { joined } from '../src/core/reconcile/accidents/guard.ts';
import {
  type Baseline,
  type Counted,
  countSigns,
  evaluate,
  type GuardLimits,
  isSuspicious,
  newest,
  nothingKnown,
  type SignedRow,
} from '../src/core/reconcile/accidents/judge.ts';
import { type Sign, signsOf } from '../src/core/reconcile/accidents/signs.ts';
import type { Change } from '../src/core/reconcile/forms.ts';
import type { Json } from '../src/terms.ts';
import { Dice } from '../test/simulation/random.ts';
import { said } from '../test/support/brand.ts';

/**
 * `accidents [BRANDS] [SEED]` lives a year of ordinary hotel life for brands of 8 to 2,000 rooms and counts the holds, each of which is a
 * false alarm. Then it plants accidents in every brand and counts those that are held. Ordinary life has seasons, groups that are cancelled,
 * moved, renamed and renegotiated as one, night audits, options that expire, weekly changeovers, purges of guest data and polls that failed
 * for a day. A group arrives on one day, and a purge concerns the guests who left on one day.
 */
export async function run([brands = '100', seed = '1']: readonly string[]): Promise<void> {
  const found = Array.from(
    { length: Number(brands) },
    (_, n) => new Brand(Number(seed) * 1_000 + n, n / Number(brands)),
  );
  const alarms = found.flatMap((brand) => brand.liveAYear());
  console.log(`${found.length} brand-years, ${alarms.length} holds (false alarms)`);
  for (const [why, all] of Map.groupBy(alarms, (one) => one)) console.log(`  ${all.length} × ${why}`);
  const planted = found.flatMap((brand) => brand.plantAccidents());
  const missed = planted.filter(({ isHeld }) => !isHeld);
  console.log(`${planted.length} planted accidents in most of 8 or more rows, ${missed.length} not held`);
  for (const { what } of missed.slice(0, 20)) console.log(`  missed: ${what}`);
  const events = planted.filter(({ feed }) => feed === 'events');
  const leaky = events.filter(({ leaked, rows }) => leaked > Math.max(4, rows / 10));
  const most = Math.max(0, ...events.map(({ leaked }) => leaked));
  console.log(`events that passed before the hold: ${most} at most; more than a tenth, or four: ${leaky.length}`);
  for (const { what, leaked } of leaky.slice(0, 20)) console.log(`  ${leaked} passed: ${what}`);
  if (missed.length + leaky.length > 0 || alarms.length > found.length / 10) process.exitCode = 1;
}

const limits: GuardLimits = { rows: 5, share: 0.5 };
const day = '2026-03-02';
const pageSize = 200;

type Row = SignedRow;
type Signs = ReadonlySet<Sign>;
type Stay = Pick<Row, 'check_in' | 'check_out'>;

const record = { id: 'A', check_in: '2026-03-05', check_out: '2026-03-07', status: 'confirmed' } as Reservation;
const statement = said(record);
/** What happens to a reservation, as the store sees it. */
const change = (path: string, before: Json, after?: Json, more: Partial<Change> = {}): Signs => {
  const diff = [{ path, before, ...(after !== undefined && { after }) }];
  const state = { time: [1, 1], claims: undefined } as const;
  const made = { kind: 'change', event: 'updated', version: 2, record, text: '', state, diff, notes: [] } as const;
  return signsOf({ statement, stored, decision: { ...made, ...more } }, day);
};

const stored = { version: 1, event: 'created', time: [0, 0], text: '' } as const;

class Brand {
  readonly #dice: Dice;
  readonly #rooms: number;
  readonly #isWeekly: boolean;
  readonly #purges: boolean;
  readonly #hasOptions: boolean;
  readonly #flatPrice: boolean;
  readonly #groupsAYear: number;
  readonly #closedMonths: number;
  readonly #pushes: boolean;
  readonly #isGone: boolean;
  #normal: Baseline = nothingKnown;
  #recent: readonly Counted[] = [];
  #unsaved: readonly Counted[] = [];
  #alarms: string[] = [];
  #hourNow = 0;
  #bookings = 0;
  #ids = 0;

  constructor(seed: number, size: number) {
    this.#dice = new Dice(seed);
    this.#rooms = Math.round(8 * 250 ** size);
    this.#isWeekly = this.#chance(0.1);
    this.#purges = this.#chance(0.1);
    this.#flatPrice = this.#chance(0.1);
    this.#groupsAYear = this.#rooms < 15 ? 0 : this.#between(0, 20 + this.#rooms / 10);
    this.#closedMonths = this.#chance(0.3) ? this.#between(1, 5) : 0;
    this.#pushes = this.#chance(0.3);
    this.#isGone = this.#chance(0.2) && !this.#pushes;
    this.#hasOptions = this.#chance(0.2);
  }

  liveAYear(): string[] {
    this.#alarms = [];
    let late: Row[] = [];
    let awayUntil = -1;
    for (let hour = 0; hour < 365 * 24; hour++) {
      const rows = this.#rowsAt(hour);
      const { single, groups } = this.#hour(hour, rows);
      if (this.#chance(2 / 8_760)) awayUntil = hour + this.#between(4, 30);
      if (hour < awayUntil) {
        late.push(...single, ...groups.flat());
        continue;
      }
      this.#hourNow = hour;
      this.#bookings = rows;
      if (this.#pushes) this.#events([...single, ...late, ...groups.flat()]);
      else this.#poll(rows, [...single, ...late], groups);
      late = [];
    }
    return this.#alarms;
  }

  /** Every kind of accident, at 60 to 100 % of the rows. */
  plantAccidents(): { what: string; isHeld: boolean; feed: string; leaked: number; rows: number }[] {
    // Some days later: what was released is not remembered for long.
    this.#hourNow = 370 * 24;
    const rows = this.#rowsAt(200 * 24);
    this.#bookings = rows;
    if (rows < 8) return [];
    // Absence is noticed by polls only.
    const ofPolls = new Set(['gone']);
    const possible = Object.entries(accidents).filter(([name]) => !this.#pushes || !ofPolls.has(name));
    return possible.map(([name, signsOfRow]) => {
      const before = this.#normal;
      [this.#recent, this.#unsaved] = [[], []];
      const least = rows < 20 ? 0.85 : 0.55;
      const affected = Math.ceil(rows * (least + this.#dice.next() * (1 - least)));
      const signs = Array.from({ length: rows }, (_, n) => this.#row(n < affected ? signsOfRow(n) : new Set()));
      const shuffled = signs.map((one) => ({ one, at: this.#dice.next() })).sort((a, b) => a.at - b.at);
      let [held, leaked] = [0, 0];
      const size = this.#pushes ? 3 : pageSize;
      this.#hourNow++;
      for (let at = 0; at < rows; at += size) {
        // Within an hour: the sender repeats all its bookings.
        if (this.#pushes) this.#hourNow += (0.9 * size) / rows;
        const page = shuffled.slice(at, at + size).map(({ one }) => one);
        const isHeld = this.#take(page.length, page, undefined);
        if (isHeld) held++;
        else if (held === 0) leaked += page.filter((one) => one.signs.size > 0).length;
      }
      this.#normal = before;
      const feed = this.#pushes ? 'events' : 'pull';
      return { what: `${name} in ${affected} of ${rows} rows (${feed})`, isHeld: held > 0, feed, leaked, rows };
    });
  }

  /** Reservations in the lists of a poll: a week ahead, in house, and a week back. */
  #rowsAt(hour: number): number {
    const month = Math.floor(hour / 24 / 30.5);
    if (month < this.#closedMonths) return 0;
    const season = 0.55 + 0.35 * Math.sin(((month - 3) / 12) * 2 * Math.PI);
    const weekend = Math.floor(hour / 24) % 7 > 4 ? 1.1 : 0.95;
    return Math.round(this.#rooms * season * weekend * (this.#isWeekly ? 3 : 5));
  }

  #hour(hour: number, rows: number): { single: Row[]; groups: Row[][] } {
    const single: Row[] = [];
    const some = (perWeek: number, make: () => Signs) => {
      for (let n = this.#poisson((rows * perWeek) / 168); n > 0; n--) single.push(this.#row(make()));
    };
    some(0.04, () => this.#cancelled());
    some(0.03, () => change('check_out', day, `2026-03-0${this.#between(3, 6)}`));
    some(0.2, () => change('total_amount', this.#between(80, 1_500), this.#between(80, 1_500)));
    some(0.1, () => change('guests[0].email', 'a@alias.example', `guest${this.#between(1, 1e6)}@mail.example`));
    some(0.02, () => change('guests[0].phone', '+351912345678'));
    some(0.05, () => change('rooms[0].room_type', 'Standard', 'Superior'));
    some(0.02, () => change('guests[0].last_name', 'Silva', 'da Silva'));
    some(0.01, () => change('status', 'checked_in', 'confirmed'));
    const inHouse = Math.round(rows * 0.35);
    const groups: Row[][] = [];
    // The night audit posts charges to all rooms in house.
    if (hour % 24 === 3) {
      const posted = (n: number) => {
        const before = this.#flatPrice ? 89 : 60 + ((n * 37) % 900) + this.#dice.next();
        return change('total_amount', before, before + (this.#flatPrice ? 2 : this.#between(2, 60)));
      };
      groups.push(Array.from({ length: inHouse }, (_, n) => this.#row(posted(n))));
      const departed = this.#isWeekly ? (Math.floor(hour / 24) % 7 === 6 ? rows * 0.3 : 0) : rows / 15;
      if (this.#purges) {
        const left = { check_out: dayOf(-1) };
        const forget = () => this.#row(change('guests[0].phone', '+351912345678'), left);
        groups.push(Array.from({ length: Math.round(departed) }, forget));
      }
    }
    // Options that were not confirmed in time are cancelled in one go.
    if (this.#hasOptions && hour % 24 === 4) {
      const expired = Math.min(this.#poisson(rows * 0.004), 30);
      single.push(...Array.from({ length: expired }, () => this.#row(this.#cancelled())));
    }
    if (this.#chance(this.#groupsAYear / 8_760)) groups.push(this.#group(rows));
    return { single, groups };
  }

  /** A stay somewhere around today; of a house with weekly changes, from Saturday to Saturday. */
  #stay(): Stay {
    const from = this.#isWeekly ? 7 * this.#between(-1, 2) : this.#between(-6, 13);
    return { check_in: dayOf(from), check_out: dayOf(from + (this.#isWeekly ? 7 : this.#between(1, 5))) };
  }

  #row = (signs: Signs, stay?: Partial<Stay>): Row => ({ ...this.#stay(), ...stay, signs });

  #cancelled = (): Signs =>
    this.#isGone
      ? change('status', 'confirmed', 'cancelled', { notes: [goneNote] })
      : change('status', 'confirmed', 'cancelled');

  #group(rows: number): Row[] {
    const size = Math.min(this.#between(5, 60), Math.round(this.#rooms * 0.5), rows);
    const days = this.#between(1, 3);
    const what = this.#dice.next();
    const stay = this.#stay();
    const booked = { ...stay, bookers: [`group ${this.#dice.next()}`] };
    const each = (make: (n: number) => Signs) => Array.from({ length: size }, (_, n) => this.#row(make(n), booked));
    if (what < 0.15) return each(() => this.#cancelled());
    if (what < 0.25) return each(() => change('check_in', day, `2026-03-0${2 + days}`));
    if (what < 0.35) return each(() => change('guests[0].last_name', 'Tours', 'Ferreira'));
    if (what < 0.55) return each(() => change('total_amount', 200, 190));
    // The rooming list arrives: the guests' own addresses replace the agency's.
    if (what < 0.6) return each((n) => change('guests[0].email', 'agency@mail.example', `guest${n}@mail.example`));
    return each((n) => change('guests[0].last_name', 'Tours', `Guest ${n}`));
  }

  /** The worker takes what has arrived: single events, or some at once. */
  #events(signsOfRows: readonly Row[]): void {
    for (let at = 0; at < signsOfRows.length; ) {
      const batch = signsOfRows.slice(at, at + this.#between(1, 30));
      this.#take(batch.length, batch, 'events');
      at += batch.length;
    }
  }

  /** The changes of a group stand together in the list; the others anywhere. */
  #poll(rows: number, single: readonly Row[], groups: readonly Row[][]): void {
    const pages = Array.from({ length: Math.ceil(rows / pageSize) }, () => [] as Row[]);
    if (pages.length === 0) return;
    for (const one of single) pages[this.#between(0, pages.length - 1)]?.push(one);
    for (const group of groups) {
      let at = this.#between(0, pages.length - 1);
      for (const one of group) {
        if ((pages[at]?.length ?? 0) >= pageSize) at = (at + 1) % pages.length;
        pages[at]?.push(one);
      }
    }
    for (const [n, page] of pages.entries()) {
      const size = n === pages.length - 1 ? rows - n * pageSize : pageSize;
      this.#take(Math.max(size, page.length), page, 'pull');
    }
  }

  #take(rows: number, signsOfRows: readonly Row[], countedAs: string | undefined): boolean {
    const batch: Counted = {
      rows,
      ...countSigns(signsOfRows),
      at: this.#hourNow * 3_600_000,
      ...(!this.#pushes && { run: String(this.#hourNow) }),
    };
    const now = this.#hourNow * 3_600_000;
    // As the guard of a brand does: the store is asked only when several rows changed alike.
    this.#recent = newest([...this.#recent, batch]);
    this.#unsaved = [...this.#unsaved, batch];
    if (!isSuspicious(this.#recent, limits)) {
      if (this.#unsaved.length > 50) this.#unsaved = [joined(this.#unsaved)];
      return false;
    }
    const batches = this.#unsaved;
    this.#unsaved = [];
    const verdict = evaluate(this.#normal, batches, limits, {
      now,
      newId: () => `hld ${this.#ids++}`,
      bookings: this.#bookings,
      expected: 0,
    });
    // Somebody looks and releases it: it was genuine.
    const holds = verdict.normal.holds.map((hold) =>
      countedAs && hold.state === 'open' ? { ...hold, state: 'released' as const, closedAt: now } : hold,
    );
    const known = new Set(this.#normal.holds.map(({ id }) => id));
    for (const { sign } of countedAs ? verdict.normal.holds.filter(({ id }) => !known.has(id)) : []) {
      this.#alarms.push(`${countedAs}: ${sign.split(' ').slice(0, 2).join(' ')}`);
    }
    this.#normal = { ...verdict.normal, holds };
    return verdict.held.size > 0;
  }

  #between = (low: number, high: number): number => low + Math.floor(this.#dice.next() * (high - low + 1));
  #chance = (share: number): boolean => this.#dice.next() < share;

  #poisson(mean: number): number {
    if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * (this.#dice.next() * 2 - 1) * 1.7));
    let [product, count] = [this.#dice.next(), 0];
    for (const least = Math.exp(-mean); product > least; count++) product *= this.#dice.next();
    return count;
  }
}

const days = Array.from({ length: 40 }, (_, n) =>
  new Date(Date.parse(day) + (n - 10) * 86_400_000).toISOString().slice(0, 10),
);
const dayOf = (from: number): string => days[from + 10] ?? day;

const goneNote = { step: 'reconcile', field: 'status', code: 'gone_is_cancelled', reason: '' } as const;

const accidents: { readonly [name: string]: (n: number) => Signs } = {
  'rename:email': (n) => change('guests[0].email', `g${n}@mail.example`),
  'lose:guests': (n) => change('guests[0]', { last_name: `G${n}` }),
  'factor:100': (n) => change('total_amount', 50 + n, (50 + n) * 100),
  'shift:1': () => change('check_in', '2026-03-05', '2026-03-06'),
  'status:cancelled': () => change('status', 'confirmed', 'cancelled'),
  'status:other': () => change('status', 'confirmed', 'other'),
  'change:email': (n) => change('guests[0].email', `g${n}@mail.example`, `g${n + 1}@mail.example`),
  'change:currency': () => change('currency', 'EUR', 'USD'),
  'change:check_out': (n) => change('check_out', '2026-03-07', `2026-03-${10 + (n % 9)}`),
  'constant:name': (n) => change('guests[0].last_name', `Guest ${n}`, 'Demo'),
  'mask:name': (n) => change('guests[0].last_name', `Guest ${n}`, `G${'*'.repeat(3 + (n % 5))}`),
  gone: () => change('status', 'confirmed', 'cancelled', { notes: [goneNote] }),
};
