import { type AskCounts, type Asked, type Asker, openAsker } from './ask.ts';
import { formStaged } from './form.ts';
import { limitsOf } from './limits.ts';
import { type Row, readPage, type WholePage } from './page.ts';
import { paginatorFor } from './paginate/paginate.ts';
import type { Paginator } from './paginate/paginator.ts';
import { type Taken, WindowReader } from './pass.ts';
import type { PageTurn, PullPlan, PullPorts } from './ports.ts';
import { preparePage, pulledOf } from './prepare-page.ts';
import { bareList, fetchRelated, withTables } from './related.ts';
import { listValues, type OpenRequest, openRequest } from './request.ts';
import type { RunOptions, RunOutcome } from './run.ts';
import {
  type Counters,
  noCounts,
  type PageCommit,
  type Position,
  type Run,
  type RunEnd,
  sum,
  type Waiting,
} from './run-state.ts';
import { afterPage, concluded, failedEnd, type Turn, withoutAnswer } from './turn.ts';
import { daysIn } from './windows.ts';

type Answer = Extract<Asked, { kind: 'answer' }>;

/** A page that was asked for, and what asking took. */
type Fetched = { readonly asked: Asked; readonly counts: AskCounts };

/** A page is on its way to the store: where the run goes on, with the next page already asked for. */
type Committed = {
  readonly kind: 'committed';
  readonly position: Position;
  readonly ahead: Promise<Fetched> | undefined;
};

/**
 * One node's work on a run, as a line: while two pages are prepared and written, the next is read, and the one after that is asked
 * for. Pages count one after the other, each with the place after it, so that whatever is lost with the process was never counted.
 */
export class Execution {
  readonly #ports: PullPorts;
  readonly #plan: PullPlan;
  readonly #run: Run;
  readonly #options: RunOptions;
  readonly #paginator: Paginator;
  readonly #asker: Asker;
  readonly #stop = new AbortController();
  #fenced = false;
  /** The last two pages under way, the newer one second. */
  #writing: readonly [Writing, Writing] = [written, written];
  #pages: number;
  #counters: Counters;
  /** Counted since the last page was taken up. */
  #open: Counters = noCounts;
  #waiting: Waiting | undefined;
  #position: Position | undefined;
  #reader: { readonly key: string; readonly reader: WindowReader } | undefined;

  constructor(ports: PullPorts, plan: PullPlan, run: Run, options: RunOptions) {
    this.#ports = ports;
    this.#plan = plan;
    this.#run = run;
    this.#options = options;
    this.#counters = run.counters;
    this.#pages = run.counters.pages;
    this.#paginator = paginatorFor(plan.settings.pagination);
    this.#asker = openAsker(ports, plan, {
      parkable: options.parkable,
      isPatient: () => this.#counters.pages > 0,
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
    let ahead = this.#fetch(position);
    while (ahead !== undefined) {
      this.#progress(position);
      const { asked, counts } = await ahead;
      this.#waiting = undefined;
      this.#open = sum(this.#open, counts);
      const turn =
        asked.kind === 'answer' ? await this.#page(position, asked, counts) : await this.#without(position, asked);
      if (turn.kind === 'committed') {
        ({ position, ahead } = turn);
      } else if (turn.kind === 'move') {
        if (!(await this.#ports.runs.commitPosition(this.#run, turn.position))) return { kind: 'fenced' };
        position = turn.position;
        ahead = this.#fetch(position);
      } else {
        return this.#leave(turn);
      }
    }
    return this.#conclude(position);
  }

  async #without(position: Position, asked: Exclude<Asked, Answer>): Promise<Turn> {
    if (!(await this.#committing)) return { kind: 'stop' };
    return withoutAnswer(position, asked, this.#counters.pages > 0, limitsOf(this.#ports).waitMs);
  }

  /** Asks for the page that the position stands before; undefined behind the last one. */
  #fetch(position: Position): Promise<Fetched> | undefined {
    const { window, pass } = position;
    if (window === undefined) return undefined;
    const counts: AskCounts = { requests: 0, retries: 0, waitedMs: 0 };
    const asked = this.#asker.ask(this.#request(position), {
      canShrink: daysIn(window) > 1,
      firstPage: pass.no === 1 && pass.pages === 0,
      ...(pass.tried && { tried: pass.tried }),
      counts,
    });
    const fetched = asked.then((done) => ({ asked: done, counts }));
    // It may fail while the page before is still being committed; it is looked at after that.
    fetched.catch(() => {});
    return fetched;
  }

  #request({ window, from, to, pass }: Position): OpenRequest {
    const { settings } = this.#plan;
    const { sync } = this.#run;
    const state = pass.page ?? this.#paginator.first;
    const status = sync === undefined ? undefined : settings.syncs[sync]?.status;
    const values = listValues({
      window: window ?? { from, to },
      timezone: settings.timezone,
      brandId: settings.brandId,
      ...(sync !== undefined && { sync }),
      ...(status !== undefined && { status }),
    });
    const request = openRequest(settings.request, settings.baseUrl, values, this.#paginator.placements(state));
    const address = this.#paginator.address?.(state);
    return address === undefined ? request : { ...request, base: address, query: [] };
  }

  async #page(position: Position, answer: Answer, counts: AskCounts): Promise<Turn | Committed> {
    const page = readPage(this.#plan, answer);
    if (page.kind === 'misshapen') {
      await this.#committing;
      return { kind: 'end', end: failedEnd(page.code, page.message, position) };
    }
    const { pass } = position;
    const reader = await this.#readerOf(position);
    const next = this.#paginator.after(pass.page ?? this.#paginator.first, {
      rows: page.count,
      ...(page.total !== undefined && { total: page.total }),
      body: answer.body ?? null,
      headers: answer.headers,
      url: answer.url,
    });
    const taken = reader.take(pass, page, next);
    const rows = await this.#withRelated(position, answer, taken.rows, counts);
    if ('kind' in rows) return this.#without(position, rows);
    const after = afterPage(position, taken);
    const ahead = this.#fetch(after);
    const [before] = this.#writing;
    if (!(await before.committed)) return { kind: 'stop' };
    this.#write(this.#prepared(position, after, page, { ...taken, rows }, answer, counts));
    return { kind: 'committed', position: after, ahead };
  }

  /** The rows with what they only name by id; what kept us from it where it could not be had. */
  async #withRelated(
    { pass }: Position,
    { body }: Answer,
    rows: readonly Row[],
    ofPage: AskCounts,
  ): Promise<readonly Row[] | Exclude<Asked, Answer>> {
    const { settings } = this.#plan;
    if (settings.related.length === 0 || rows.length === 0 || body === undefined) return rows;
    const counts: AskCounts = { requests: 0, retries: 0, waitedMs: 0 };
    const mostPages = limitsOf(this.#ports).pages;
    const values = rows.map(({ raw }) => raw.value);
    const got = await fetchRelated(this.#asker, settings, values, { counts, mostPages, tried: pass.tried });
    this.#waiting = undefined;
    this.#open = sum(this.#open, counts);
    // The page's log tells all that the page took.
    ofPage.requests += counts.requests;
    ofPage.waitedMs += counts.waitedMs;
    if (got.kind !== 'tables') return got;
    this.#open = sum(this.#open, { bytes: got.bytes });
    const whole = withTables(body, got.tables);
    if (whole === undefined) return { kind: 'failed', code: 'pull.wrong_shape', message: bareList };
    return rows.map((row) => (row.raw.body === undefined ? row : { ...row, raw: { ...row.raw, body: whole } }));
  }

  async #prepared(
    position: Position,
    after: Position,
    page: WholePage,
    taken: Taken,
    answer: Answer,
    counts: AskCounts,
  ): Promise<PageCommit> {
    const { requestedAt, bytes } = answer;
    const { rows } = taken;
    const recognisable = this.#plan.shaper.flat ? [] : rows.flatMap((row) => pulledOf(row) ?? []);
    const open = this.#open;
    this.#open = noCounts;
    const known = await this.#ports.runs.known(this.#plan.target, recognisable);
    const made = preparePage(this.#plan, this.#run, position, rows, known, requestedAt);
    const counted = sum(sum(open, made.counted), { pages: 1, bytes, rows: page.count });
    const log = {
      window: position.window ?? position,
      pass: position.pass.no,
      requestedAt,
      durationMs: Math.round(answer.durationMs),
      tries: counts.requests,
      waitedMs: counts.waitedMs,
      bytes,
      rows: page.count,
      fresh: taken.fresh,
      mark: taken.mark,
      fingerprint: page.fingerprint,
      seen: taken.seen,
    };
    return { ...made, counted, position: after, requestedAt, log };
  }

  #write(prepared: Promise<PageCommit>): void {
    const [, before] = this.#writing;
    const turn = { after: this.#pages++, before: before.committed };
    const ids = prepared.then(idsOf);
    const committed = (async () => {
      const commit = await prepared;
      // Side by side are only pages that speak of different reservations: of the same, each must see what the other made of it.
      if (!(await ids).isDisjointFrom(await before.ids) && !(await before.committed)) return false;
      // The answer to the page before may come later than its own.
      return (await this.#commit(commit, turn)) && before.committed;
    })();
    // They are looked at later; a failure in between must not end the process.
    ids.catch(() => {});
    committed.catch(() => {});
    this.#writing = [before, { ids, committed }];
  }

  /** Whether the run is still ours after all that is under way. */
  get #committing(): Promise<boolean> {
    return this.#writing[1].committed;
  }

  async #commit(commit: PageCommit, turn: PageTurn): Promise<boolean> {
    const { leaseMs } = limitsOf(this.#ports);
    const counted = await this.#ports.runs.commitPage(this.#run, leaseMs, commit, this.#plan.target, turn);
    if (counted === 'fenced') {
      this.#fenced = true;
      return false;
    }
    this.#counters = sum(this.#counters, counted);
    return true;
  }

  /** One reader per window; where the run is resumed inside one, it is told what the pages before had shown. */
  async #readerOf({ window, pass }: Position): Promise<WindowReader> {
    const key = `${window?.from} ${window?.to}`;
    const isBegun = pass.no > 1 || pass.pages > 0;
    if (this.#reader?.key === key && isBegun) return this.#reader.reader;
    const earlier = isBegun && window ? await this.#ports.runs.windowPages(this.#run, window, pass.no) : undefined;
    const rules = { paginator: this.#paginator, limits: limitsOf(this.#ports) };
    this.#reader = { key, reader: new WindowReader(rules, earlier) };
    return this.#reader.reader;
  }

  async #conclude(position: Position): Promise<RunOutcome> {
    if (!(await this.#committing)) return { kind: 'fenced' };
    const formed = await formStaged(this.#ports, this.#plan, this.#run, position, this.#stop.signal);
    if (formed.kind !== 'ok') return this.#leave({ kind: 'stop' });
    this.#counters = sum(this.#counters, formed.counters);
    return this.#finish(concluded(position));
  }

  async #finish(end: RunEnd): Promise<RunOutcome> {
    const counters = sum(this.#counters, this.#open);
    const held = !this.#fenced && (await this.#ports.runs.finish(this.#run, end, this.#open));
    return held ? { kind: 'finished', end, counters } : { kind: 'fenced' };
  }

  async #leave(turn: Exclude<Turn, { kind: 'move' }>): Promise<RunOutcome> {
    if (turn.kind === 'end') return this.#finish(turn.end);
    if (this.#fenced) return { kind: 'fenced' };
    const { runs } = this.#ports;
    if (turn.kind === 'stop') {
      return (await runs.park(this.#run, 0, undefined, this.#open)) ? { kind: 'stopped' } : { kind: 'fenced' };
    }
    const { ms, reason, position } = turn;
    const counted = sum(this.#open, { waitedMs: ms });
    const held = await runs.park(this.#run, ms, reason, counted, position);
    return held ? { kind: 'parked', ms, reason } : { kind: 'fenced' };
  }

  #progress(position: Position): void {
    this.#position = position;
    this.#options.onProgress?.({ position, counters: sum(this.#counters, this.#open) });
  }

  #onWait(reason: Waiting, ms: number): void {
    this.#waiting = reason;
    if (this.#position === undefined) return;
    const counters = sum(this.#counters, this.#open);
    this.#options.onProgress?.({ position: this.#position, counters, waiting: { reason, ms } });
  }
}

/** A page on its way into the store. */
interface Writing {
  /** What it speaks of. */
  readonly ids: Promise<ReadonlySet<string>>;
  /** Whether the run is still ours after it. */
  readonly committed: Promise<boolean>;
}

const written: Writing = { ids: Promise.resolve(new Set()), committed: Promise.resolve(true) };

function idsOf({ prepared, known }: PageCommit): Set<string> {
  const ids = new Set(known.map(({ id }) => id));
  for (const one of prepared) {
    const id = one.kind === 'record' ? one.incoming.id : one.kind === 'dropped' ? one.id : one.deadLetter.id;
    if (id !== undefined) ids.add(id);
  }
  return ids;
}
