import { randomId } from '../../kit/ids.ts';
import { heldBack } from '../../reconcile/accidents/hold-back.ts';
import {
  type Counted,
  countSigns,
  isSuspicious,
  judge,
  type Normal,
  newest,
  nothingKnown,
  type SignedRow,
} from '../../reconcile/accidents/judge.ts';
import { isPartOf, type Sign, signsOf } from '../../reconcile/accidents/signs.ts';
import type { ApplyTarget, GuardPort } from '../../reconcile/apply-target.ts';
import type { Arriving, Decision, LockedRecord } from '../../reconcile/decision.ts';
import type { MessageOutcome, Prepared } from '../../reconcile/incoming.ts';
import type { EpochMs, LocalDate } from '../../terms.ts';
import type { Tx } from '../db/pool.ts';

export type Feed = 'pull' | 'push';

/** How many rows a page showed that are not among the messages, and for how many rows each message stands. */
export interface Shown {
  readonly unchanged: number;
  readonly of?: number | undefined;
}

/** A message, its decision, and the row that it found. */
export interface Step {
  readonly arriving: Arriving;
  readonly before: LockedRecord | undefined;
  readonly decision: Decision;
}

/** A batch in which several rows changed alike. */
export interface Suspicion {
  readonly batches: readonly Counted[];
  readonly signs: ReadonlyMap<number, ReadonlySet<Sign>>;
}

/**
 * Judges the changes of a batch before they are written (reconcile/accidents). This process counts the rows of ordinary batches by itself; the
 * store is asked only when several rows changed alike, so an ordinary batch costs no statement.
 */
export class Guard {
  readonly feed: Feed;
  readonly #port: GuardPort;
  readonly #at: EpochMs;
  readonly #run: string | undefined;

  /** Undefined if the brand has no guard, or an operator decided about the messages. */
  static of({ guard }: ApplyTarget, messages: readonly Prepared[]): Guard | undefined {
    const arrival = messages[0]?.arrival;
    const isJudged = arrival?.cause === 'run' || arrival?.cause === 'event';
    return guard && isJudged ? new Guard(guard, arrival) : undefined;
  }

  private constructor(port: GuardPort, arrival: Prepared['arrival']) {
    this.#port = port;
    this.feed = arrival.cause === 'run' ? 'pull' : 'push';
    this.#at = arrival.effectiveAt;
    this.#run = arrival.cause === 'run' ? arrival.causeId : undefined;
  }

  /** Counts a batch. Undefined if it is ordinary. */
  count(steps: readonly Step[], { unchanged, of }: Shown): Suspicion | undefined {
    const signs = new Map<number, ReadonlySet<Sign>>();
    const changed: SignedRow[] = [];
    const today = new Date(this.#at).toISOString().slice(0, 10);
    let stored = 0;
    for (const { arriving, before, decision } of steps) {
      if (before === undefined || before.version === 0) continue;
      stored++;
      if (decision.kind !== 'change') continue;
      const { event, diff, notes, content } = decision;
      const record = content.record as { check_in?: LocalDate; check_out?: LocalDate };
      const own = signsOf({ event, diff, notes, record }, today);
      if (own.size === 0) continue;
      signs.set(arriving.index, own);
      const { check_in = '', check_out = '' } = record;
      changed.push({ signs: own, check_in, check_out });
    }
    const memory = this.#memory;
    const batch: Counted = { rows: of ?? stored + unchanged, ...countSigns(changed), run: this.#run, at: this.#at };
    if (batch.rows === 0) return undefined;
    memory.recent = newest([...memory.recent, batch]);
    memory.unsaved = [...memory.unsaved, batch];
    if (!isSuspicious(memory.recent, this.#port.limits)) {
      if (memory.unsaved.length > mostUnsaved) memory.unsaved = [joined(memory.unsaved)];
      return undefined;
    }
    const batches = memory.unsaved;
    memory.unsaved = [];
    return { batches, signs };
  }

  /** With what the store knows: the messages to hold back, by their index in the batch, and what it knows from now on. */
  decide(
    { batches, signs }: Suspicion,
    steps: readonly Step[],
    before: Normal,
    now: EpochMs,
  ): { readonly normal: Normal; readonly held: ReadonlyMap<number, Arriving> } {
    const { normal, held: all } = judge(before, batches, this.#port.limits, { now, newId: () => randomId('hld') });
    this.#memory.isHolding = normal.holds.some(({ state }) => state === 'open');
    const held = new Map<number, Arriving>();
    for (const { arriving } of all.size === 0 ? [] : steps) {
      const own = [...(signs.get(arriving.index) ?? [])];
      const holds = [...all.values()].filter(({ sign }) => own.some((one) => isPartOf(one, sign)));
      if (holds.length > 0) held.set(arriving.index, { ...arriving, held: heldBack(holds) });
    }
    return { normal, held };
  }

  /** After events were applied: what was held of earlier ones about the same reservations is out of date. */
  async settle(tx: Tx, { integration }: ApplyTarget, outcomes: readonly MessageOutcome[]): Promise<void> {
    const memory = this.#memory;
    if (this.feed !== 'push' || !memory.isHolding) return;
    const ids = outcomes.flatMap(({ id, isHeld }) => (isHeld || id === undefined ? [] : [id]));
    memory.isHolding = await closeOutdated(tx, integration, ids);
  }

  get #memory() {
    return memoryOf(this.#port, this.feed);
  }
}

/** The messages to hold back. */
export async function judgeSteps(
  tx: Tx,
  guard: Guard,
  { integration }: ApplyTarget,
  steps: readonly Step[],
  shown: Shown,
): Promise<ReadonlyMap<number, Arriving>> {
  const suspicion = guard.count(steps, shown);
  if (suspicion === undefined) return new Map();
  const known = await lockNormal(tx, integration, guard.feed);
  const { normal, held } = guard.decide(suspicion, steps, known.normal, known.now);
  await saveNormal(tx, integration, guard.feed, normal);
  return held;
}

const mostUnsaved = 50;

/** Older batches of this process, which were not suspicious: only their sums matter. */
function joined(batches: readonly Counted[]): Counted {
  const signs: { [sign: Sign]: number } = {};
  for (const batch of batches)
    for (const [sign, count] of Object.entries(batch.signs)) signs[sign] = (signs[sign] ?? 0) + count;
  const last = batches.at(-1);
  return { rows: batches.reduce((sum, { rows }) => sum + rows, 0), signs, run: last?.run, at: last?.at };
}

function memoryOf({ memory }: GuardPort, feed: Feed) {
  const known = memory.get(feed) ?? { recent: [], unsaved: [], isHolding: true };
  memory.set(feed, known);
  return known;
}

/** Rows of a page without news. They belong to the run's other rows. */
export function countUnchanged(target: ApplyTarget, run: string, rows: number): void {
  if (target.guard === undefined || rows === 0) return;
  const memory = memoryOf(target.guard, 'pull');
  const last = memory.recent.at(-1);
  const isSame = last?.run === run && Object.keys(last.signs).length === 0;
  const page = { rows: rows + (isSame ? last.rows : 0), signs: {}, run };
  memory.recent = newest([...memory.recent.slice(0, isSame ? -1 : undefined), page]);
  memory.unsaved = [...memory.unsaved, { rows, signs: {}, run }];
  if (memory.unsaved.length > mostUnsaved) memory.unsaved = [joined(memory.unsaved)];
}

export async function lockNormal(tx: Tx, integration: string, feed: string): Promise<{ normal: Normal; now: EpochMs }> {
  await tx.query('insert into guards (integration, feed, normal) values ($1, $2, $3) on conflict do nothing', [
    integration,
    feed,
    nothingKnown,
  ]);
  const { rows } = await tx.query<{ normal: Normal; now: EpochMs }>(
    `select normal, (extract(epoch from now()) * 1000)::float8 as now from guards
      where integration = $1 and feed = $2 for update`,
    [integration, feed],
  );
  return rows[0] ?? { normal: nothingKnown, now: 0 };
}

export async function saveNormal(tx: Tx, integration: string, feed: string, normal: Normal): Promise<void> {
  await tx.query('update guards set normal = $3 where integration = $1 and feed = $2', [integration, feed, normal]);
}

/** True if held events remain. */
async function closeOutdated(tx: Tx, integration: string, ids: readonly string[]): Promise<boolean> {
  await tx.query(
    `update dead_letters set state = 'dropped', closed_at = now(), closed_by = 'run',
            closed_reason = 'A later message about this reservation was processed.'
      where integration = $1 and type = 'reservation' and id = any($2) and state = 'open' and code = 'record.held'`,
    [integration, ids],
  );
  const { rows } = await tx.query(
    `select from dead_letters where integration = $1 and state = 'open' and code = 'record.held' and kind = 'event' limit 1`,
    [integration],
  );
  return rows.length > 0;
}
