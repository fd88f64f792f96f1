import type { Span } from '../../../../kit/trace.ts';
import type { Json } from '../../../../terms.ts';
import { noAskCounts, openAsker } from '../../../outbound/ask/asking.ts';
import type { AnswerRead, AskCounts, Asked, NoAnswer } from '../../../outbound/ask/ports.ts';
import { addedParameters } from '../../../outbound/auth/fixed.ts';
import { type Detailed, withDetails } from '../page/details.ts';
import { type Row, readPage } from '../page/page.ts';
import { makePageCommit } from '../page/page-commit.ts';
import { pageWriter } from '../page/page-writer.ts';
import { paginatorFor } from '../page/paginate.ts';
import { pagingCheck, seenPage } from '../page/paging-check.ts';
import { addRelated } from '../page/related.ts';
import { limitsOf, type PullPlan, type PullPorts } from '../ports.ts';
import { isCut, listRequestOf, noList, pageRequest } from '../request/list-request.ts';
import { askedRange, byPartnersClock, changesOf, feedOf, startOf } from '../window/range.ts';
import { daysIn } from '../window/windows.ts';
import { otherBrand } from './form.ts';
import { windowReaders } from './pass.ts';
import { conclude, leave } from './run-ending.ts';
import {
  noCounts,
  type Position,
  type Progress,
  type Run,
  type RunEnd,
  type RunOptions,
  type RunOutcome,
} from './run-state.ts';
import { leaseOn, RunCounters, type RunWork } from './run-work.ts';
import { afterPage, failedEnd, type Turn, withoutAnswer } from './turn.ts';

/** Executes a claimed run until it ends, is parked, or is stopped. */
export async function executeRun(ports: PullPorts, run: Run, options: RunOptions): Promise<RunOutcome> {
  const endAtOnce = async (end: RunEnd): Promise<RunOutcome> =>
    (await ports.runs.finish(run, end, noCounts))
      ? { kind: 'finished', end, counters: run.counters }
      : { kind: 'fenced' };
  const planned = await ports.plan(run.integration);
  if (planned.kind === 'unavailable') return endAtOnce(failedEnd(planned.code, planned.message));
  const { plan } = planned;
  if (listRequestOf(plan.settings, run) === undefined) return endAtOnce(failedEnd(noList.code, noList.message));
  const { connectorVersion, integrationVersion } = plan.brand;
  // A position is only valid under the documents it was reached with.
  const isSame = run.connectorVersion === connectorVersion && run.integrationVersion === integrationVersion;
  if (isSame && run.position !== undefined) return goThrough(ports, plan, run, options, run.position);
  const now = ports.clock.now();
  const changes = await changesOf(ports, run, plan.settings, now);
  const ranged = startOf(run, plan.settings, now, changes);
  if (ranged.kind === 'invalid') return endAtOnce(failedEnd(ranged.code, ranged.message));
  // A requested range does not prove that everything since the last run was read, so it does not move the watermark.
  const isScheduled = askedRange(run) === undefined;
  const position = {
    ...ranged.position,
    ...(changes && isScheduled && { startedAt: now, feed: feedOf(plan.settings) }),
  };
  if (!(await ports.runs.start(run, position, plan.brand))) return { kind: 'fenced' };
  return goThrough(ports, plan, { ...run, counters: noCounts }, options, position);
}

/** A requested page, with the counts of its requests. */
interface Fetched {
  readonly asked: Asked;
  readonly counts: AskCounts;
  readonly span: Span | undefined;
}

/** A page was read and passed to the writer; the request for the next one has been sent. */
interface Advanced {
  readonly kind: 'advanced';
  readonly position: Position;
  readonly next: Promise<Fetched> | undefined;
}

/**
 * One node's work on a run, as a pipeline: while a page is written and the next one prepared, another is read and the one after that is
 * requested. Pages are counted in order, each together with the position after it: a crash loses only work that was never counted.
 *
 *   for each position:  answer ──▶ read page ──▶ related tables ──▶ request the next page ──▶ hand this one to the writer
 *   ends as:            finished | parked (wait for the partner) | stopped (shutdown) | fenced (another node has the run)
 */
function goThrough(
  ports: PullPorts,
  plan: PullPlan,
  run: Run,
  options: RunOptions,
  start: Position,
): Promise<RunOutcome> {
  const { settings, brand } = plan;
  const { pages: mostPages, waitMs } = limitsOf(ports);
  const lease = leaseOn(ports, run);
  const counters = new RunCounters(run.counters);
  /** The position being worked on, for progress reports. */
  let current = start;
  const report = (waiting?: Pick<Progress, 'waiting'>) =>
    options.onProgress?.({ position: current, counters: counters.total, ...waiting });
  const asker = openAsker(ports, plan, {
    parkable: options.parkable,
    atOpenCircuit: () => (options.ownsRun === false ? 'return' : counters.hasPages ? 'wait' : 'fail'),
    signal: lease.signal,
    onWait: (reason, ms) => {
      lease.waiting = reason;
      report({ waiting: { reason, ms } });
    },
    onExchange: (exchange) => {
      work.lastRequest = exchange;
    },
  });
  const work: RunWork = { ports, plan, run, asker, lease, counters };
  const writer = pageWriter(work);
  const paginator = paginatorFor(settings.pagination, addedParameters(settings));
  const checked = pagingCheck(work);
  const readerAt = windowReaders(work, paginator, writer.acknowledges);
  const wholeTables = new Map<string, Json[]>();
  /** No page of the run had rows yet. */
  let isFirst = run.counters.rows === 0;

  async function readAll(): Promise<RunOutcome> {
    let fetching = fetch(start);
    while (fetching !== undefined) {
      report();
      const { asked, counts, span } = await fetching;
      lease.waiting = undefined;
      counters.add(counts);
      const turn =
        asked.kind === 'answer' ? await takePage(current, asked, counts, span) : await unanswered(current, asked);
      if (asked.kind !== 'answer') span?.end({}, 'code' in asked ? asked.code : asked.kind);
      if (turn.kind === 'advanced') {
        current = turn.position;
        fetching = turn.next;
      } else if (turn.kind === 'move') {
        if (!(await ports.runs.commitPosition(run, turn.position))) return { kind: 'fenced' };
        current = turn.position;
        fetching = fetch(current);
      } else {
        return leave(work, turn);
      }
    }
    if (!(await writer.isSettled())) return { kind: 'fenced' };
    return conclude(work, current, { isResumedAtEnd: start.window === undefined, failure: writer.unacknowledged() });
  }

  /** Requests the page at the position; undefined after the last one. It may be rejected before anybody awaits it. */
  function fetch(position: Position): Promise<Fetched> | undefined {
    const { window, pass } = position;
    if (window === undefined) return undefined;
    const request = pageRequest(settings, run, paginator, position, ports.clock.now());
    const attributes = { 'innbound.integration': run.integration, 'innbound.page': pass.pages + 1 };
    const span = ports.tracer?.start('page', { kind: 'client', parent: run.trace, attributes });
    const counts = noAskCounts();
    const asking = asker.ask(request, {
      canShrink: isCut(settings, run) && daysIn(window) > 1,
      firstPage: pass.no === 1 && pass.pages === 0,
      tried: pass.tried,
      counts,
      hasRows: (body) => brand.shapers.pull.count(body) > 0,
    });
    const fetched = asking.then((asked) => ({ asked, counts, span }));
    fetched.catch(() => {});
    return fetched;
  }

  async function takePage(
    position: Position,
    answer: AnswerRead,
    asking: AskCounts,
    span: Span | undefined,
  ): Promise<Turn | Advanced> {
    const page = readPage(plan, answer);
    if (page.kind === 'misshapen') {
      span?.end({}, page.code);
      await writer.isSettled();
      const said = answer.body === undefined ? undefined : asker.wordsIn(answer.body);
      const end = failedEnd(page.code, page.message, position);
      return { kind: 'end', end: said === undefined ? end : { ...end, said } };
    }
    const { pass } = position;
    const reader = await readerAt(position);
    const named = paginator.after(pass.page ?? paginator.first, seenPage(page, answer));
    const counts = noAskCounts();
    const next = writer.acknowledges ? named : await checked(position, page, named, counts);
    lease.waiting = undefined;
    counters.add(counts);
    const taken = reader.take(pass, page, next, answer.requestedAt);
    const whole = await withTheRest(position, answer, taken.rows, asking);
    if (whole.kind !== 'rows') return unanswered(position, whole);
    const { rows, missing } = whole;
    const after = afterPage(byPartnersClock(position, answer.headers), taken);
    const counted = counters.take();
    const read = { position, after, page, taken: { ...taken, rows }, missing, answer, asking, counted };
    const preparing = makePageCommit(ports, plan, span ? { ...run, trace: span.traceparent } : run, read);
    // Awaited by the writer; until then a failure must not end the process as an unhandled rejection.
    preparing.catch(() => {});
    const other = isFirst ? await otherBrand(ports, plan, await preparing) : undefined;
    if (other !== undefined) {
      counters.add(counted);
      return { kind: 'end', end: failedEnd('pull.other_brand', other, position) };
    }
    isFirst &&= rows.length === 0;
    // The next answer depends on what was acknowledged before it.
    const early = writer.acknowledges ? undefined : fetch(after);
    if (!(await writer.hasRoom())) return { kind: 'stop' };
    const isWritten = writer.write(preparing, position.list);
    if (span) isWritten.then((isOurs) => isOurs && span.end({ 'innbound.rows': page.count })).catch(() => {});
    if (writer.acknowledges && !(await isWritten)) return { kind: 'stop' };
    return { kind: 'advanced', position: after, next: early ?? fetch(after) };
  }

  async function unanswered(position: Position, asked: NoAnswer): Promise<Turn> {
    if (!(await writer.isSettled())) return { kind: 'stop' };
    return withoutAnswer(position, asked, counters.hasPages, waitMs);
  }

  /** The rows with what other requests tell about them, or why these were not answered. */
  async function withTheRest(
    { pass: { tried } }: Position,
    { body }: AnswerRead,
    rows: readonly Row[],
    asking: AskCounts,
  ): Promise<Detailed | NoAnswer> {
    const asIs: Detailed = { kind: 'rows', rows, missing: [] };
    const isWhole = settings.related.length === 0 && settings.details === undefined;
    if (isWhole || rows.length === 0 || body === undefined) return asIs;
    const counts = noAskCounts();
    const related = { counts, mostPages, tried, whole: wholeTables };
    const got =
      settings.details === undefined
        ? await addRelated(asker, settings, { body, rows: rows.map(({ raw }) => raw.value) }, related)
        : await withDetails(asker, plan, rows, related);
    lease.waiting = undefined;
    counters.add(counts);
    // The page's log covers its related requests too.
    asking.requests += counts.requests;
    asking.waitedMs += counts.waitedMs;
    if (got.kind !== 'body') return got;
    counters.add({ bytes: got.bytes });
    const withBody = (row: Row) => (row.raw.body === undefined ? row : { ...row, raw: { ...row.raw, body: got.body } });
    return { ...asIs, rows: rows.map(withBody) };
  }

  return lease.during(options.signal, readAll);
}
