import { noAskCounts } from '../../../outbound/ask/asking.ts';
import type { AskCounts } from '../../../outbound/ask/ports.ts';
import { openRequest, repeatForIds, usesId } from '../../../outbound/ask/request.ts';
import type { JsonObject } from '../../../terms.ts';
import { limitsOf } from '../ports.ts';
import type { PageCommit } from '../run/run-state.ts';
import type { RunWork } from '../run/run-work.ts';

/**
 * Writes the pages of a run one after another, while the next one is read and prepared, and acknowledges their records to the partner. An
 * acknowledgement that fails does not fail the run; its end reports it.
 */
export function pageWriter({ ports, plan, run, asker, lease, counters }: RunWork) {
  const { brand, settings } = plan;
  const acknowledges = settings.acknowledge !== undefined && ports.runs.isDryRun !== true;
  let failure: { readonly code: 'pull.not_acknowledged'; readonly message: string } | undefined;
  /** Resolves when all pages but the last are stored; `latest` when all are. */
  let earlier = Promise.resolve(true);
  let latest = Promise.resolve(true);
  let { pages } = run.counters;

  async function store(commit: PageCommit, pagesBefore: number): Promise<boolean> {
    const counted = await ports.runs.commitPage(run, limitsOf(ports).leaseMs, commit, brand, pagesBefore);
    if (counted === 'fenced') {
      lease.lose();
      return false;
    }
    counters.stored(counted);
    if (acknowledges)
      counters.add(await acknowledge(commit.receipts ?? idsIn([{ ...commit, brand }, ...(commit.routed ?? [])])));
    return true;
  }

  /** One call for all ids of a page, or one per id if {id} is used outside a list. */
  async function acknowledge(received: readonly string[]): Promise<AskCounts> {
    const counts = noAskCounts();
    const ids = [...new Set(received)];
    const template = settings.acknowledge;
    if (template === undefined || ids.length === 0) return counts;
    const body = template.body && (repeatForIds(template.body, ids) as JsonObject);
    const call = body === undefined ? template : { ...template, body };
    const all = { ids, 'ids.joined': ids.join(','), brand_id: settings.brandId };
    const isForEach = [call.path, call.query, body, call.headers].some((part) => usesId(part));
    for (const values of isForEach ? ids.map((id) => ({ ...all, id })) : [all]) {
      const request = openRequest(call, settings.base_url, values);
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
    write(preparing: Promise<PageCommit>): Promise<boolean> {
      const before = latest;
      const after = pages++;
      const committed = preparing.then(async (commit) => (await before) && store(commit, after));
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
