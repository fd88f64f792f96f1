import type { EpochMs, LocalDate } from '../../../terms.ts';
import type { Reservation } from '../../canonical/reservation.ts';
import { type Feed, feedOf, type Statement } from '../forms.ts';
import { type HeldPath, togetherWith } from '../quarantine.ts';
import {
  type Counted,
  countSigns,
  type GuardLimits,
  type Hold,
  isStrange,
  isSuspicious,
  newest,
  type SignedRow,
  type Verdict,
} from './judge.ts';
import { type Decided, describeSign, heldPathOf, isPartOf, isStillOf, type Sign, signsOf } from './signs.ts';

/** What one process counted of a feed. `unsaved` is not in the store yet. */
export interface Memory {
  recent: readonly Counted[];
  unsaved: readonly Counted[];
  /** What a run stored first: a queue of cancellations is read after the one of bookings, and ends some of those in the first import. */
  readonly created: Map<string, Set<string>>;
}

/** Keeps the accidents of a partner from the records of one brand. */
export interface Guard {
  readonly limits: GuardLimits;
  readonly memory: Map<Feed, Memory>;
  /** The bookings that the list of a run's window should show. */
  expected?: { readonly of: string; readonly bookings: number };
}

/** How many rows a page showed that are not among the statements, and for how many rows each statement stands. */
export interface Shown {
  readonly unchanged: number;
  readonly of?: number | undefined;
  /** Holds that the page shows to be over: what still looks like them is meant. */
  readonly over?: ReadonlySet<string>;
  /** The days that the page is about, and the run that reads it. */
  readonly window?: { readonly from: LocalDate; readonly to: LocalDate; readonly runId: string } | undefined;
}

/** A batch in which several rows changed alike. */
interface Suspicion {
  readonly batches: readonly Counted[];
  readonly signs: ReadonlyMap<Statement, ReadonlySet<Sign>>;
  /** All that is unusual is that nearly all bookings are unknown: usual for a brand that has none. */
  readonly isOnlyStrange: boolean;
}

const mostUnsaved = 50;
const mostCreated = 20_000;
/** A brand's syncs run beside each other. */
const mostRuns = 4;

/**
 * Counts a batch. Undefined if it is ordinary: this process counts those by itself, and the store is asked only when several rows changed
 * alike, so that an ordinary batch costs no statement.
 */
export function countBatch(
  guard: Guard,
  steps: readonly Decided[],
  { unchanged, of, window }: Shown,
): Suspicion | undefined {
  const [first] = steps;
  const feed = first && feedOf([first.statement]);
  if (first === undefined || feed === undefined) return undefined;
  const { effectiveAt, receivedAt: at = effectiveAt, causeId } = first.statement.receipt;
  const signs = new Map<Statement, ReadonlySet<Sign>>();
  const signed: SignedRow[] = [];
  const today = new Date(effectiveAt).toISOString().slice(0, 10);
  const memory = memoryOf(guard, feed);
  const run = feed === 'pull' ? causeId : undefined;
  const created = run === undefined ? undefined : createdIn(memory, run);
  let rows = 0;
  for (const step of steps) {
    const { statement, stored, decision } = step;
    if (created?.has(statement.id)) continue;
    const own = signsOf(step, today);
    const isStored = stored !== undefined && stored.version > 0;
    if (!isStored && decision.kind === 'change' && created && created.size < mostCreated) created.add(statement.id);
    if (isStored || own.size > 0) rows++;
    if (own.size === 0) continue;
    signs.set(statement, own);
    const record = (decision.kind === 'change' ? decision.record : {}) as Partial<Reservation>;
    const { check_in = '', check_out = '' } = record;
    signed.push({ signs: own, check_in, check_out, bookers: bookersOf(record) });
  }
  const batch: Counted = { rows: of ?? rows + unchanged, ...countSigns(signed), run, at };
  if (batch.rows === 0) return undefined;
  memory.recent = newest([...memory.recent, batch]);
  memory.unsaved = [...memory.unsaved, batch];
  const mayBeOthers = window !== undefined && isStrange(batch, guard.limits);
  const isAmongHeld = signs.size > 0 && steps.some((step) => holdsOn(step).length > 0);
  if (!isSuspicious(memory.recent, guard.limits) && !mayBeOthers && !isAmongHeld) {
    if (memory.unsaved.length > mostUnsaved) memory.unsaved = [joined(memory.unsaved)];
    return undefined;
  }
  const batches = memory.unsaved;
  memory.unsaved = [];
  return { batches, signs, isOnlyStrange: !isAmongHeld && !isSuspicious(memory.recent, guard.limits) };
}

/** Fields of a partner's own that name who booked. */
const bookerFields = /group|block|compan|corporate|agen|booker|allotment/i;

/** Who may have booked it: the first guest's address or number, and what the partner says of a company, an agency, a group or a block. */
function bookersOf({ guests = [], extra = {} }: Partial<Reservation>): readonly string[] {
  const { email, phone, extra: more = {} } = guests[0] ?? {};
  const named = Object.entries({ ...more, ...extra }).filter(([name]) => bookerFields.test(name));
  const values = [
    email,
    phone,
    ...named.map(([name, value]) => (value ? `${name} ${JSON.stringify(value)}` : undefined)),
  ];
  return values.flatMap((one) => (one === undefined ? [] : [digest(one)]));
}

/** Two texts with one digest are taken for one booker; the store keeps no name. */
function digest(text: string): string {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  return (sum >>> 0).toString(36);
}

/** The holds that keep values of a row's source back. */
export const holdsOn = ({ statement: { source }, stored }: Decided): readonly string[] =>
  stored?.claims?.quarantine?.flatMap((one) => (one.state === 'held' && one.source === source ? one.hold : [])) ?? [];

/** Rows of a page without news. They belong to the run's other rows. */
export function countUnchanged(guard: Guard | undefined, run: string, rows: number): void {
  if (guard === undefined || rows === 0) return;
  const memory = memoryOf(guard, 'pull');
  const last = memory.recent.at(-1);
  const isSame = last?.run === run && Object.keys(last.signs).length === 0;
  const page = { rows: rows + (isSame ? last.rows : 0), signs: {}, run };
  memory.recent = newest([...memory.recent.slice(0, isSame ? -1 : undefined), page]);
  memory.unsaved = [...memory.unsaved, { rows, signs: {}, run }];
  if (memory.unsaved.length > mostUnsaved) memory.unsaved = [joined(memory.unsaved)];
}

/** Older batches of this process, which were not suspicious: only their sums matter. */
export function joined(batches: readonly Counted[]): Counted {
  const signs: { [sign: Sign]: number } = {};
  for (const batch of batches)
    for (const [sign, count] of Object.entries(batch.signs)) signs[sign] = (signs[sign] ?? 0) + count;
  const last = batches.at(-1);
  return { rows: batches.reduce((sum, { rows }) => sum + rows, 0), signs, run: last?.run, at: last?.at };
}

const memoryOf = ({ memory }: Guard, feed: Feed): Memory =>
  memory.getOrInsertComputed(feed, () => ({ recent: [], unsaved: [], created: new Map() }));

function createdIn({ created }: Memory, run: string): Set<string> {
  const [oldest] = created.keys();
  if (!created.has(run) && created.size >= mostRuns && oldest !== undefined) created.delete(oldest);
  return created.getOrInsertComputed(run, () => new Set());
}

export interface Held extends HeldPath {
  readonly reason: string;
}

/** The values to set aside, by statement. Of another hotel's list, everything. A row may join an accident of which others wait already. */
export function heldIn(
  { signs }: Suspicion,
  steps: readonly Decided[],
  { held: accidents, normal }: Verdict,
  { over }: Pick<Shown, 'over'>,
): ReadonlyMap<Statement, readonly Held[]> {
  const held = new Map<Statement, readonly Held[]>();
  const strangers = accidents.get('strangers');
  const before = new Set(steps.flatMap(holdsOn));
  // Signs of one value that were seen together, such as later days of arrival and departure, are one accident.
  const isOver = (hold: Hold) =>
    normal.holds.some(
      ({ id, sign, at }) =>
        over?.has(id) &&
        (id === hold.id || (at === hold.at && togetherWith(heldPathOf(sign)).includes(heldPathOf(hold.sign)))),
    );
  for (const { statement } of steps) {
    const own = [...(signs.get(statement) ?? [])];
    const isOf = ({ id, sign, state }: Hold) =>
      own.some((one) =>
        accidents.get(sign)?.id === id
          ? isPartOf(one, sign)
          : state === 'open' && before.has(id) && isStillOf(one, sign),
      );
    const ofThis = strangers ? [strangers] : normal.holds.filter((hold) => !isOver(hold) && isOf(hold));
    if (ofThis.length > 0) held.set(statement, ofThis.map(heldBy));
  }
  return held;
}

const heldBy = (hold: Hold): Held => ({
  hold: hold.id,
  path: heldPathOf(hold.sign),
  reason: `Held: ${describeSign(hold.sign, hold)}.`,
});

/** The hold after it kept values of more bookings back. */
export const withRows = (hold: Hold, rows: number, at: EpochMs): Hold => ({
  ...hold,
  rows: hold.rows + rows,
  heldAt: at,
});
