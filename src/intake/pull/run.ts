import type { ErrorCode } from '../../errors.ts';
import { type AskCounts, type Asked, type Asker, openAsker } from './ask.ts';
import { formStaged } from './form.ts';
import { limitsOf } from './limits.ts';
import { type Page, readPage } from './page.ts';
import { paginatorFor } from './paginate/paginate.ts';
import type { PageState, Paginator } from './paginate/paginator.ts';
import { type Taken, WindowReader } from './pass.ts';
import type { PullPlan, PullPorts } from './ports.ts';
import { preparePage } from './prepare-page.ts';
import { afterWindow, startOf } from './range.ts';
import { listValues, type OpenRequest, openRequest } from './request.ts';
import {
  type Counters,
  firstPass,
  noCounts,
  type Position,
  type Run,
  type RunEnd,
  sum,
  type Waiting,
} from './run-state.ts';
import { daysIn, firstHalf } from './windows.ts';

export type RunOutcome =
  | { readonly kind: 'finished'; readonly end: RunEnd; readonly counters: Counters }
  /** Given back until the partner can be asked again. */
  | { readonly kind: 'parked'; readonly ms: number; readonly reason: Waiting }
  /** Another node has it. */
  | { readonly kind: 'fenced' }
  /** We are being shut down; the run was given back. */
  | { readonly kind: 'stopped' };

export interface Progress {
  readonly position: Position;
  readonly counters: Counters;
  readonly waiting?: { readonly reason: Waiting; readonly ms: number };
}

export interface RunOptions {
  /** Long waits give the run back instead of holding the place. */
  readonly parkable: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Runs a claimed run to its end, or until it has to be given back. Every page is on disk before the next is worked on. */
export async function executeRun(ports: PullPorts, run: Run, options: RunOptions): Promise<RunOutcome> {
  const planned = await ports.plan(run.integration);
  if (planned.kind === 'unavailable') return finish(ports, run, failed(planned.code, planned.message), noCounts);
  const { plan } = planned;
  const { connectorVersion, integrationVersion } = plan.target;
  const isSame = run.connectorVersion === connectorVersion && run.integrationVersion === integrationVersion;
  let position = isSame ? run.position : undefined;
  if (position === undefined) {
    const ranged = startOf(run, plan.settings, ports.clock.now());
    if (ranged.kind === 'invalid') return finish(ports, run, failed(ranged.code, ranged.message), noCounts);
    position = ranged.position;
    if (!(await ports.runs.start(run, position, plan.target))) return { kind: 'fenced' };
  }
  const execution = new Execution(ports, plan, isSame ? run : { ...run, counters: noCounts }, options);
  return execution.run(position);
}

function failed(code: ErrorCode, message: string, findings: RunEnd['findings'] = []): RunEnd {
  return { state: 'failed', code, message, findings };
}

async function finish(ports: PullPorts, run: Run, end: RunEnd, counted: Counters): Promise<RunOutcome> {
  const counters = sum(run.counters, counted);
  return (await ports.runs.finish(run, end, counted)) ? { kind: 'finished', end, counters } : { kind: 'fenced' };
}

/** A page that was asked for, together with where it stands. */
interface Fetched {
  readonly asked: Asked;
  readonly counts: AskCounts;
}

class Execution {
  readonly #ports: PullPorts;
  readonly #plan: PullPlan;
  readonly #run: Run;
  readonly #options: RunOptions;
  readonly #paginator: Paginator;
  readonly #asker: Asker;
  readonly #stop = new AbortController();
  #fenced = false;
  #counters: Counters;
  /** Counted since the last commit. */
  #open: Counters = noCounts;
  #uncut = 0;
  /** The most rows that came on one page: a page with fewer was not cut. */
  #largestPage = 0;
  #reader: { readonly key: string; readonly reader: WindowReader } | undefined;
  #waiting: Waiting | undefined;

  constructor(ports: PullPorts, plan: PullPlan, run: Run, options: RunOptions) {
    this.#ports = ports;
    this.#plan = plan;
    this.#run = run;
    this.#options = options;
    this.#counters = run.counters;
    this.#paginator = paginatorFor(plan.settings.pagination);
    this.#asker = openAsker(ports, plan, {
      parkable: options.parkable,
      signal: this.#stop.signal,
      onWait: (reason, ms) => this.#onWait(reason, ms),
    });
  }

  async run(position: Position): Promise<RunOutcome> {
    const { leaseMs } = limitsOf(this.#ports);
    const stop = () => this.#stop.abort();
    if (this.#options.signal?.aborted) stop();
    this.#options.signal?.addEventListener('abort', stop, { once: true });
    const beat = setInterval(() => void this.#extend(leaseMs), leaseMs / 3);
    try {
      return await this.#windows(position);
    } finally {
      clearInterval(beat);
      this.#stop.abort();
      this.#options.signal?.removeEventListener('abort', stop);
    }
  }

  async #extend(leaseMs: number): Promise<void> {
    // A store that does not answer ends the lease by itself; the next commit will tell.
    const held = await this.#ports.runs.extend(this.#run, leaseMs, this.#waiting).catch(() => true);
    if (held) return;
    this.#fenced = true;
    this.#stop.abort();
  }

  async #windows(start: Position): Promise<RunOutcome> {
    let position = start;
    this.#uncut = await this.#ports.partners.uncutRows(this.#run.integration);
    let ahead = position.window === undefined ? undefined : this.#fetch(position);
    while (position.window !== undefined && ahead !== undefined) {
      this.#progress(position);
      const { asked, counts } = await ahead;
      this.#waiting = undefined;
      this.#count({ requests: counts.requests, retries: counts.retries, waitedMs: counts.waitedMs });
      const turned: Turned =
        asked.kind === 'answer' ? await this.#page(position, asked, counts) : this.#unanswered(position, asked);
      if (turned.kind === 'out') return this.#leave(turned.outcome);
      if (turned.kind === 'end') return this.#finish(turned.end);
      ahead = turned.ahead ?? (turned.position.window === undefined ? undefined : this.#fetch(turned.position));
      if (turned.kind === 'moved' && !(await this.#ports.runs.commitPosition(this.#run, turned.position))) {
        return { kind: 'fenced' };
      }
      position = turned.position;
    }
    return this.#conclude(position);
  }

  #fetch(position: Position): Promise<Fetched> {
    const counts: AskCounts = { requests: 0, retries: 0, waitedMs: 0 };
    const window = position.window ?? { from: position.from, to: position.to };
    const asked = this.#asker.ask(this.#request(position), {
      canShrink: daysIn(window) > 1,
      firstPage: position.pass.no === 1 && position.pass.pages === 0,
      counts,
    });
    return asked.then((done) => ({ asked: done, counts }));
  }

  #request(position: Position): OpenRequest {
    const { settings } = this.#plan;
    const state: PageState = position.pass.page ?? this.#paginator.first;
    const address = this.#paginator.address?.(state);
    const template = settings.request;
    const sync = this.#run.sync;
    const status = sync === undefined ? undefined : settings.syncs[sync]?.status;
    const values = listValues({
      window: position.window ?? position,
      timezone: settings.timezone,
      brandId: settings.brandId,
      ...(sync !== undefined && { sync }),
      ...(status !== undefined && { status }),
    });
    const request = openRequest(template, settings.baseUrl, values, this.#paginator.placements(state));
    return address === undefined ? request : { ...request, base: address, query: [] };
  }

  /** What to do where there is no answer. */
  #unanswered(position: Position, asked: Exclude<Asked, { kind: 'answer' }>): Turned {
    const { window } = position;
    if (asked.kind === 'stopped') return { kind: 'out', outcome: { kind: 'stopped' } };
    if (asked.kind === 'park') return { kind: 'out', outcome: { kind: 'parked', ms: asked.ms, reason: asked.reason } };
    const half = asked.kind === 'shrink' && window !== undefined ? firstHalf(window) : undefined;
    if (half !== undefined) {
      const smaller = { ...position, pass: firstPass, window: half, stepDays: daysIn(half) };
      return { kind: 'moved', position: smaller };
    }
    const passable = asked.code === 'pull.timeout' || asked.code === 'pull.too_large';
    const last = window === undefined || window.to >= position.to;
    if (passable && window !== undefined && !(last && this.#counters.pages === 0)) {
      return {
        kind: 'moved',
        position: afterWindow(position, { ...window, code: asked.code, message: asked.message }),
      };
    }
    return { kind: 'end', end: failed(asked.code, asked.message, position.findings) };
  }

  async #page(position: Position, answer: Extract<Asked, { kind: 'answer' }>, counts: AskCounts): Promise<Turned> {
    const { window, pass } = position;
    if (window === undefined) throw new TypeError('a page without a window');
    const page = readPage(this.#plan, answer, this.#paginator.counts);
    if (page.kind === 'misshapen') return { kind: 'end', end: failed(page.code, page.message, position.findings) };
    const reader = await this.#readerOf(position);
    const next = this.#paginator.after(pass.page ?? this.#paginator.first, {
      rows: page.count,
      ...(page.total !== undefined && { total: page.total }),
      body: answer.body ?? null,
      headers: answer.headers,
      url: answer.url,
    });
    const taken = reader.take(pass, { ...page, url: answer.url }, next);
    this.#largestPage = Math.max(this.#largestPage, page.count);
    const after = nextPosition(position, taken);
    if (taken.uncut !== undefined) await this.#provenUncut(taken.uncut);
    // The partner works on the next page while this one is taken in.
    const ahead = after.window === undefined ? undefined : this.#fetch(after);
    ahead?.catch(() => {});
    const committed = await this.#commit(position, after, page, taken, answer, counts);
    if (!committed) return { kind: 'out', outcome: { kind: 'fenced' } };
    return { kind: 'committed', position: after, ...(ahead && { ahead }) };
  }

  async #commit(
    position: Position,
    next: Position,
    page: Extract<Page, { kind: 'page' }>,
    taken: Taken,
    answer: Extract<Asked, { kind: 'answer' }>,
    counts: AskCounts,
  ): Promise<boolean> {
    const { window, pass } = position;
    if (window === undefined) return false;
    const made = preparePage(this.#plan, this.#run, position, taken.rows, answer.requestedAt);
    const counted = sum(this.#open, { pages: 1, bytes: answer.bytes, rows: page.count, ...made.counted });
    const tally = await this.#ports.runs.commitPage(
      this.#run,
      limitsOf(this.#ports).leaseMs,
      {
        position: next,
        prepared: made.prepared,
        counted,
        staged: made.staged,
        log: {
          window,
          pass: pass.no,
          requestedAt: answer.requestedAt,
          durationMs: Math.round(answer.durationMs),
          tries: counts.requests,
          waitedMs: counts.waitedMs,
          bytes: answer.bytes,
          rows: page.count,
          fresh: taken.fresh,
          mark: taken.mark,
          fingerprint: page.fingerprint,
          seen: taken.seen,
        },
      },
      this.#plan.target,
    );
    if (tally === 'fenced') return false;
    this.#counters = sum(sum(this.#counters, counted), tally);
    this.#open = noCounts;
    if (tally.changed > 0) this.#ports.changed();
    return true;
  }

  /** One reader per window and run; a resumed run gives it what the pages before had shown. */
  async #readerOf(position: Position): Promise<WindowReader> {
    const { window, pass } = position;
    const key = `${window?.from} ${window?.to}`;
    if (this.#reader?.key === key) return this.#reader.reader;
    const isBegun = pass.no > 1 || pass.pages > 0;
    const earlier = isBegun && window ? await this.#ports.runs.windowPages(this.#run, window, pass.no) : undefined;
    const rules = {
      paginator: this.#paginator,
      limits: limitsOf(this.#ports),
      uncutRows: () => Math.max(this.#uncut, this.#largestPage - 1),
    };
    this.#reader = { key, reader: new WindowReader(rules, earlier) };
    return this.#reader.reader;
  }

  async #provenUncut(rows: number): Promise<void> {
    this.#uncut = rows;
    await this.#ports.partners.setUncutRows(this.#run.integration, rows);
  }

  /** Every window is done. */
  async #conclude(position: Position): Promise<RunOutcome> {
    const { findings } = position;
    const formed = await formStaged(this.#ports, this.#plan, this.#run, position, this.#stop.signal);
    if (formed.kind !== 'ok') return this.#leave({ kind: formed.kind });
    this.#counters = sum(this.#counters, formed.counters);
    const [first] = findings;
    if (first === undefined) return this.#finish({ state: 'complete', findings });
    const more = findings.length > 1 ? `, and ${findings.length - 1} more of the kind` : '';
    const message = `${first.message} (${first.from} to ${first.to}${more})`;
    return this.#finish({ state: 'incomplete', code: first.code, message, findings });
  }

  async #finish(end: RunEnd): Promise<RunOutcome> {
    if (this.#fenced) return { kind: 'fenced' };
    const run = { ...this.#run, counters: this.#counters };
    return finish(this.#ports, run, end, this.#open);
  }

  async #leave(outcome: RunOutcome): Promise<RunOutcome> {
    if (this.#fenced) return { kind: 'fenced' };
    if (outcome.kind === 'parked') {
      const counted = sum(this.#open, { waitedMs: outcome.ms });
      const held = await this.#ports.runs.park(this.#run, outcome.ms, outcome.reason, counted);
      return held ? outcome : { kind: 'fenced' };
    }
    if (outcome.kind === 'stopped') await this.#ports.runs.park(this.#run, 0, undefined, this.#open);
    return outcome;
  }

  #count(more: Partial<Counters>): void {
    this.#open = sum(this.#open, more);
  }

  #lastPosition: Position | undefined;

  #progress(position: Position): void {
    this.#lastPosition = position;
    this.#options.onProgress?.({ position, counters: sum(this.#counters, this.#open) });
  }

  #onWait(reason: Waiting, ms: number): void {
    this.#waiting = reason;
    if (this.#lastPosition === undefined) return;
    const counters = sum(this.#counters, this.#open);
    this.#options.onProgress?.({ position: this.#lastPosition, counters, waiting: { reason, ms } });
  }
}

type Turned =
  | { readonly kind: 'committed' | 'moved'; readonly position: Position; readonly ahead?: Promise<Fetched> }
  | { readonly kind: 'end'; readonly end: RunEnd; readonly position?: never; readonly ahead?: never }
  | { readonly kind: 'out'; readonly outcome: RunOutcome; readonly position?: never; readonly ahead?: never };

function nextPosition(position: Position, { follow }: Taken): Position {
  if (follow.kind !== 'done') return { ...position, pass: follow.pass };
  const { window } = position;
  return afterWindow(position, follow.finding && window && { ...follow.finding, ...window });
}
