import type { Span } from '../../../kit/trace.ts';
import { type Asker, noAskCounts, openAsker } from '../../../outbound/ask/ask.ts';
import type { AnswerRead, AskCounts, NoAnswer } from '../../../outbound/ask/asked.ts';
import type { WaitReason } from '../../../outbound/ask/ports.ts';
import { addedParameters } from '../../../outbound/auth/secrets.ts';
import type { Json } from '../../../terms.ts';
import { NextPageCheck, seenPage } from '../page/next-page-check.ts';
import { readPage, type WholePage } from '../page/page.ts';
import { makePageCommit } from '../page/page-commit.ts';
import { PageWriter } from '../page/page-writer.ts';
import { paginatorFor } from '../page/paginate/paginate.ts';
import type { Next, Paginator } from '../page/paginate/paginator.ts';
import { addRelated } from '../page/related.ts';
import { RepeatedPageCheck } from '../page/repeated-page-check.ts';
import type { Row } from '../page/row.ts';
import type { PullPlan, PullPorts } from '../ports.ts';
import { isCut } from '../request/list-request.ts';
import { type Fetched, fetchPage, pageRequest } from '../request/page-request.ts';
import { byPartnersClock } from '../window/since.ts';
import { WindowReaders } from '../window/window-readers.ts';
import { daysIn } from '../window/windows.ts';
import { Acknowledger } from './acknowledge.ts';
import { limitsOf } from './limits.ts';
import { otherBrand } from './other-brand.ts';
import { RunCounters } from './run-counters.ts';
import { RunEnding } from './run-ending.ts';
import { RunLease } from './run-lease.ts';
import type { Position, Run, RunOptions, RunOutcome } from './run-state.ts';
import { afterPage, failedEnd, type Turn, withoutAnswer } from './turn.ts';

/** A page was read and passed to the writer; the request for the next one has been sent. */
interface Advanced {
  readonly kind: 'advanced';
  readonly position: Position;
  readonly next: Promise<Fetched> | undefined;
}

/**
 * One node's work on a run, as a pipeline: while a page is written and the next one prepared (PageWriter), another is read and
 * the one after that is requested. Pages are counted in order, each together with the position after it: a crash loses only work
 * that was never counted.
 *
 *   for each position:  answer ──▶ read page ──▶ related tables ──▶ request the next page ──▶ hand this one to the writer
 *   ends as:            finished | parked (wait for the partner) | stopped (shutdown) | fenced (another node has the run)
 */
export class Execution {
  readonly #ports: PullPorts;
  readonly #plan: PullPlan;
  readonly #run: Run;
  readonly #options: RunOptions;
  readonly #paginator: Paginator;
  readonly #asker: Asker;
  readonly #lease: RunLease;
  readonly #counters: RunCounters;
  readonly #writer: PageWriter;
  readonly #ending: RunEnding;
  /** The position being worked on, for progress reports. */
  #current: Position | undefined;
  readonly #nextPages: NextPageCheck;
  readonly #repeatedPages: RepeatedPageCheck;
  readonly #readers: WindowReaders;
  readonly #acknowledges: boolean;
  readonly #wholeTables = new Map<string, Json[]>();
  /** No page of the run had rows yet. */
  #isFirst: boolean;

  constructor(ports: PullPorts, plan: PullPlan, run: Run, options: RunOptions) {
    this.#ports = ports;
    this.#plan = plan;
    this.#run = run;
    this.#options = options;
    this.#paginator = paginatorFor(plan.settings.pagination, addedParameters(plan.settings));
    this.#lease = new RunLease(ports, run);
    this.#counters = new RunCounters(run.counters);
    this.#isFirst = run.counters.rows === 0;
    this.#asker = openAsker(ports, plan, {
      parkable: options.parkable,
      atOpenCircuit: () => (options.ownsRun === false ? 'return' : this.#counters.hasPages ? 'wait' : 'fail'),
      signal: this.#lease.signal,
      onWait: (reason, ms) => this.#reportWait(reason, ms),
      onExchange: (exchange) => {
        this.#ending.lastRequest = exchange;
      },
    });
    const checked = { asker: this.#asker, plan, run };
    this.#nextPages = new NextPageCheck(checked, ports.runs.isDryRun === true);
    this.#repeatedPages = new RepeatedPageCheck(checked);
    const { acknowledge } = plan.settings;
    const acknowledger =
      acknowledge && !ports.runs.isDryRun ? new Acknowledger(acknowledge, plan.settings, this.#asker) : undefined;
    this.#acknowledges = acknowledger !== undefined;
    this.#readers = new WindowReaders(ports, plan, run, this.#paginator, this.#acknowledges);
    this.#writer = new PageWriter(ports, plan, run, {
      lease: this.#lease,
      counters: this.#counters,
      onStored: acknowledger && (async (ids) => this.#counters.add(await acknowledger.acknowledge(ids))),
    });
    const context = { ports, plan, run, asker: this.#asker };
    this.#ending = new RunEnding(context, this.#lease, this.#counters, acknowledger);
  }

  run(start: Position): Promise<RunOutcome> {
    return this.#lease.during(this.#options.signal, () => this.#goThrough(start));
  }

  async #goThrough(start: Position): Promise<RunOutcome> {
    const isResumedAtEnd = start.window === undefined;
    let position = start;
    let fetching = this.#fetch(position);
    while (fetching !== undefined) {
      this.#reportProgress(position);
      const { asked, counts, span } = await fetching;
      this.#lease.waiting = undefined;
      this.#counters.add(counts);
      const turn =
        asked.kind === 'answer'
          ? await this.#takePage(position, asked, counts, span)
          : await this.#withoutAnswer(position, asked);
      if (asked.kind !== 'answer') span?.end({}, 'code' in asked ? asked.code : asked.kind);
      if (turn.kind === 'advanced') {
        position = turn.position;
        fetching = turn.next;
      } else if (turn.kind === 'move') {
        if (!(await this.#ports.runs.commitPosition(this.#run, turn.position))) return { kind: 'fenced' };
        position = turn.position;
        fetching = this.#fetch(position);
      } else {
        return this.#ending.leave(turn);
      }
    }
    return (await this.#writer.isSettled) ? this.#ending.conclude(position, isResumedAtEnd) : { kind: 'fenced' };
  }

  /** Requests the page at the position; undefined after the last one. */
  #fetch(position: Position): Promise<Fetched> | undefined {
    if (position.window === undefined) return undefined;
    const request = pageRequest(this.#plan.settings, this.#run, this.#paginator, position);
    const { settings, brand } = this.#plan;
    const attributes = { 'innbound.integration': this.#run.integration, 'innbound.page': position.pass.pages + 1 };
    const span = this.#ports.tracer?.start('page', { kind: 'client', parent: this.#run.trace, attributes });
    return fetchPage(this.#asker, request, position, {
      hasRows: (body) => brand.shapers.pull.count(body) > 0,
      canShrink: isCut(settings, this.#run) && daysIn(position.window) > 1,
      span,
    });
  }

  async #takePage(
    position: Position,
    answer: AnswerRead,
    asking: AskCounts,
    span: Span | undefined,
  ): Promise<Turn | Advanced> {
    const page = readPage(this.#plan, answer);
    if (page.kind === 'misshapen') {
      span?.end({}, page.code);
      await this.#writer.isSettled;
      const said = answer.body === undefined ? undefined : this.#asker.wordsIn(answer.body);
      const end = failedEnd(page.code, page.message, position);
      return { kind: 'end', end: said === undefined ? end : { ...end, said } };
    }
    const { pass } = position;
    const reader = await this.#readers.at(position);
    const named = this.#paginator.after(pass.page ?? this.#paginator.first, seenPage(page, answer));
    const counts = noAskCounts();
    const next = this.#acknowledges ? named : await this.#checked(position, page, named, counts);
    this.#lease.waiting = undefined;
    this.#counters.add(counts);
    const taken = reader.take(pass, page, next, answer.requestedAt);
    const rows = await this.#withRelated(position, answer, taken.rows, asking);
    if ('kind' in rows) return this.#withoutAnswer(position, rows);
    const after = afterPage(byPartnersClock(position, answer.headers), taken);
    const counted = this.#counters.take();
    const read = { position, after, page, taken: { ...taken, rows }, answer, asking, counted };
    const run = span ? { ...this.#run, trace: span.traceparent } : this.#run;
    const preparing = makePageCommit(this.#ports, this.#plan, run, read);
    // Awaited by the writer; until then a failure must not end the process as an unhandled rejection.
    preparing.catch(() => {});
    const other = this.#isFirst ? await otherBrand(this.#ports, this.#plan, await preparing) : undefined;
    if (other !== undefined) {
      this.#counters.add(counted);
      return { kind: 'end', end: failedEnd('pull.other_brand', other, position) };
    }
    this.#isFirst &&= rows.length === 0;
    // The next answer depends on what was acknowledged before it.
    const early = this.#acknowledges ? undefined : this.#fetch(after);
    if (!(await this.#writer.hasRoom)) return { kind: 'stop' };
    const isWritten = this.#writer.write(preparing);
    if (span) isWritten.then((isOurs) => isOurs && span.end({ 'innbound.rows': page.count })).catch(() => {});
    if (this.#acknowledges && !(await isWritten)) return { kind: 'stop' };
    return { kind: 'advanced', position: after, next: early ?? this.#fetch(after) };
  }

  /** What follows the page, after the checks of the connector's paging. */
  async #checked(position: Position, page: WholePage, named: Next, counts: AskCounts): Promise<Next> {
    const found = await this.#nextPages.after(position, page, named, counts);
    return this.#repeatedPages.after(position, page, found, counts);
  }

  async #withoutAnswer(position: Position, asked: NoAnswer): Promise<Turn> {
    if (!(await this.#writer.isSettled)) return { kind: 'stop' };
    return withoutAnswer(position, asked, this.#counters.hasPages, limitsOf(this.#ports).waitMs);
  }

  /** The rows with the related tables they refer to, or why these could not be fetched. */
  async #withRelated(
    { pass }: Position,
    { body }: AnswerRead,
    rows: readonly Row[],
    asking: AskCounts,
  ): Promise<readonly Row[] | NoAnswer> {
    const { settings } = this.#plan;
    if (settings.related.length === 0 || rows.length === 0 || body === undefined) return rows;
    const counts = noAskCounts();
    const { pages: mostPages } = limitsOf(this.#ports);
    const options = { counts, mostPages, tried: pass.tried, whole: this.#wholeTables };
    const values = rows.map(({ raw }) => raw.value);
    const got = await addRelated(this.#asker, settings, { body, rows: values }, options);
    this.#lease.waiting = undefined;
    this.#counters.add(counts);
    // The page's log covers its related requests too.
    asking.requests += counts.requests;
    asking.waitedMs += counts.waitedMs;
    if (got.kind !== 'body') return got;
    this.#counters.add({ bytes: got.bytes });
    return rows.map((row) => (row.raw.body === undefined ? row : { ...row, raw: { ...row.raw, body: got.body } }));
  }

  #reportProgress(position: Position): void {
    this.#current = position;
    this.#options.onProgress?.({ position, counters: this.#counters.total });
  }

  #reportWait(reason: WaitReason, ms: number): void {
    this.#lease.waiting = reason;
    if (this.#current === undefined) return;
    this.#options.onProgress?.({
      position: this.#current,
      counters: this.#counters.total,
      waiting: { reason, ms },
    });
  }
}
