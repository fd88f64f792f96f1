import type { JsonObject } from '../../../../terms.ts';
import type { RequestTemplate } from '../../../documents/pull.ts';
import { noAskCounts } from '../../../outbound/ask/asking.ts';
import type { AskCounts } from '../../../outbound/ask/ports.ts';
import { openRequest, repeatForIds, usesId } from '../../../outbound/ask/request.ts';
import { limitsOf } from '../ports.ts';
import type { PageCommit } from '../run/run-state.ts';
import type { RunWork } from '../run/run-work.ts';

/**
 * Writes the pages of a run one after another, while the next one is read and prepared, and acknowledges their records to the partner. An
 * acknowledgement that fails does not fail the run; its end reports it.
 */
export function pageWriter({ ports, plan, run, asker, lease, counters }: RunWork) {
  const { brand, settings } = plan;
  /** By list. */
  const calls = ports.runs.isDryRun ? [] : [settings.acknowledge, ...settings.also.map((list) => list.acknowledge)];
  const acknowledges = calls.some((call) => call !== undefined);
  let failure: { readonly code: 'pull.not_acknowledged'; readonly message: string } | undefined;
  /** Resolves when all pages but the last are stored; `latest` when all are. */
  let earlier = Promise.resolve(true);
  let latest = Promise.resolve(true);
  let { pages } = run.counters;

  async function store(commit: PageCommit, pagesBefore: number, list: number): Promise<boolean> {
    const counted = await ports.runs.commitPage(run, limitsOf(ports).leaseMs, commit, brand, pagesBefore);
    if (counted === 'fenced') {
      lease.lose();
      return false;
    }
    counters.stored(counted);
    const call = calls[list];
    const receipts = () => commit.receipts ?? idsIn([{ ...commit, brand }, ...(commit.routed ?? [])]);
    if (call) counters.add(await acknowledge(call, receipts()));
    return true;
  }

  /** One call for all ids of a page, or one per id if {id} is used outside a list. */
  async function acknowledge(template: RequestTemplate, received: readonly string[]): Promise<AskCounts> {
    const counts = noAskCounts();
    const ids = [...new Set(received)];
    if (ids.length === 0) return counts;
    const body = template.body && (repeatForIds(template.body, ids) as JsonObject);
    const call = body === undefined ? template : { ...template, body };
    const now = new Date(ports.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const all = { ids, 'ids.joined': ids.join(','), brand_id: settings.brandId, now };
    const isForEach = [call.path, call.query, body, call.headers].some((part) => usesId(part));
    for (const values of isForEach ? ids.map((id) => ({ ...all, id })) : [all]) {
      const { body: sent, ...bare } = openRequest(call, settings.base_url, values);
      const request = body === undefined ? bare : { ...bare, ...(sent && { body: sent }) };
      const asked = await asker.ask(request, { canShrink: false, firstPage: true, counts, hasRows: () => false });
      if (asked.kind === 'answer' || asked.kind === 'stopped') continue;
      const message = asked.kind === 'park' ? `waiting for the partner (${asked.reason})` : asked.message;
      failure ??= { code: 'pull.not_acknowledged', message };
    }
    return counts;
  }

  return {
    acknowledges,
    /** The first acknowledgement that failed. */
    unacknowledged: () => failure,
    /** Resolves when there is room for another page; false if another node has the run. */
    hasRoom: () => earlier,
    /** Resolves when every page passed to the writer is stored; false if another node has the run. */
    isSettled: () => latest,
    /** Resolves like `isSettled` after this page; a failure shows there too. */
    write(preparing: Promise<PageCommit>, list = 0): Promise<boolean> {
      const before = latest;
      const after = pages++;
      const committed = preparing.then(async (commit) => (await before) && store(commit, after, list));
      // Awaited later; until then a failure must not end the process as an unhandled rejection.
      committed.catch(() => {});
      earlier = before;
      latest = committed;
      return committed;
    },
  };
}

/** The partner's ids of the page, those of other brands of the account included. */
function idsIn(parts: NonNullable<PageCommit['routed']>): string[] {
  return parts.flatMap(({ statements, known, brand: { idPrefix = '' } }) => [
    ...known.map(({ key }) => key),
    ...statements.flatMap(({ id }) => (id === '' ? [] : id.startsWith(idPrefix) ? id.slice(idPrefix.length) : id)),
  ]);
}
