import type { Exchange } from '../../../outbound/ask/exchange.ts';
import { planFor } from '../page/routing.ts';
import type { Acknowledger } from './acknowledge.ts';
import { formStaged } from './form.ts';
import { readInventory } from './inventory.ts';
import type { RunCounters } from './run-counters.ts';
import type { RunLease } from './run-lease.ts';
import type { Finding, Position, RunEnd, RunOutcome } from './run-state.ts';
import { concluded, type Turn } from './turn.ts';
import { followUp, type RunContext, unlistedIn } from './unlisted.ts';

/** How a node's work on a run ends. The run is written only while this node holds its lease; otherwise the outcome is `fenced`. */
export class RunEnding {
  readonly #context: RunContext;
  readonly #lease: RunLease;
  readonly #counters: RunCounters;
  readonly #acknowledger: Acknowledger | undefined;
  lastRequest: Exchange | undefined;

  constructor(context: RunContext, lease: RunLease, counters: RunCounters, acknowledger: Acknowledger | undefined) {
    this.#context = context;
    this.#lease = lease;
    this.#counters = counters;
    this.#acknowledger = acknowledger;
  }

  /** All windows were read and written: forms what was staged, follows up what was not listed, and finishes the run. */
  async conclude(position: Position, isResumedAtEnd: boolean): Promise<RunOutcome> {
    // Some of the staged rows that show what was listed may have been grouped and deleted already.
    const missing = isResumedAtEnd ? [] : await this.#missing(position);
    const formed = await formStaged(this.#context, position, this.#lease.signal);
    if (formed.kind !== 'ok') return this.leave(formed.kind === 'end' ? formed : { kind: 'stop' });
    this.#counters.stored(formed.counters);
    for (const { context, unlisted } of missing) {
      const followed = await followUp(context, position, unlisted);
      if (followed.kind === 'fenced') return { kind: 'fenced' };
      this.#counters.stored(followed.counters);
    }
    const { from, to } = position;
    const unacknowledged = this.#acknowledger?.firstFailure;
    const ended = withCutGroups(position, formed.heldBack);
    const findings = unacknowledged ? [...ended.findings, { ...unacknowledged, from, to }] : ended.findings;
    const unread: Finding[] = [];
    for (const context of this.#brands()) unread.push(...(await readInventory(context)));
    return this.#finish(concluded({ ...ended, findings }, unread));
  }

  /** Ends the run with an error, parks it until the partner may be asked again, or gives it back. */
  async leave(turn: Exclude<Turn, { kind: 'move' }>): Promise<RunOutcome> {
    if (turn.kind === 'end') return this.#finish(turn.end);
    if (this.#lease.isLost) return { kind: 'fenced' };
    const { run, ports } = this.#context;
    if (turn.kind === 'stop') {
      const isHeld = await ports.runs.park(run, this.#counters.pending, { afterMs: 0 });
      return isHeld ? { kind: 'stopped' } : { kind: 'fenced' };
    }
    const { ms, reason, position } = turn;
    this.#counters.add({ waitedMs: ms });
    const isHeld = await ports.runs.park(run, this.#counters.pending, { afterMs: ms, waiting: reason, position });
    return isHeld ? { kind: 'parked', ms, reason } : { kind: 'fenced' };
  }

  /** The reservations that the lists of each brand should have shown and did not. */
  async #missing(position: Position) {
    const found = [];
    for (const context of this.#brands()) {
      const property = this.#context.plan.routing && context.plan.settings.brandId;
      const unlisted = await unlistedIn(context, position, property);
      if (unlisted.missing.length > 0) found.push({ context, unlisted });
    }
    return found;
  }

  /** The brands that the run serves. */
  #brands(): RunContext[] {
    const { plan } = this.#context;
    const plans = [plan, ...(plan.routing?.brands ?? []).map((brand) => planFor(plan, brand))];
    return plans.map((one) => ({ ...this.#context, plan: one }));
  }

  async #finish(ended: RunEnd): Promise<RunOutcome> {
    const { ports, run } = this.#context;
    const end = this.lastRequest ? { ...ended, request: this.lastRequest } : ended;
    const counters = this.#counters.total;
    const isHeld = !this.#lease.isLost && (await ports.runs.finish(run, end, this.#counters.pending));
    return isHeld ? { kind: 'finished', end, counters } : { kind: 'fenced' };
  }
}

function withCutGroups(position: Position, heldBack: number): Position {
  if (heldBack === 0) return position;
  const message =
    heldBack === 1
      ? '1 reservation arrived with fewer rooms than stored and was held back.'
      : `${heldBack} reservations arrived with fewer rooms than stored and were held back.`;
  return {
    ...position,
    findings: [...position.findings, { code: 'pull.group_cut', from: position.from, to: position.to, message }],
  };
}
