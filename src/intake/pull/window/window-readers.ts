import { mayOverlap } from '../page/overlap.ts';
import type { Paginator } from '../page/paginate/paginator.ts';
import type { PullPlan, PullPorts } from '../ports.ts';
import { asksByDays } from '../request/list-request.ts';
import { limitsOf } from '../run/limits.ts';
import { type PassRules, WindowReader } from '../run/pass.ts';
import type { Position, Run } from '../run/run-state.ts';

/** One reader per window. A run resumed inside a window loads what its earlier pages showed. */
export class WindowReaders {
  readonly #runs: PullPorts['runs'];
  readonly #run: Run;
  readonly #rules: PassRules;
  #current: { readonly window: string; readonly reader: WindowReader } | undefined;

  constructor(ports: PullPorts, { settings }: PullPlan, run: Run, paginator: Paginator, acknowledges: boolean) {
    this.#runs = ports.runs;
    this.#run = run;
    const drains = acknowledges ? { byDays: asksByDays(settings, run) } : undefined;
    this.#rules = { paginator, limits: limitsOf(ports), mayOverlap: mayOverlap(settings), drains };
  }

  async at({ window, pass }: Position): Promise<WindowReader> {
    const key = `${window?.from} ${window?.to}`;
    const isBegun = pass.no > 1 || pass.pages > 0;
    if (this.#current?.window === key && isBegun) return this.#current.reader;
    // The earlier node may have died before it acknowledged what it stored: such rows are new to this one.
    const isKnown = isBegun && this.#rules.drains === undefined;
    const earlier = isKnown && window ? await this.#runs.windowPages(this.#run, window, pass.no) : undefined;
    const reader = new WindowReader(this.#rules, earlier);
    this.#current = { window: key, reader };
    return reader;
  }
}
