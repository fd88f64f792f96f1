import type { PullPlan, PullPorts } from '../ports.ts';
import type { RunCounters } from '../run/run-counters.ts';
import type { RunLease } from '../run/run-lease.ts';
import type { PageCommit, Run } from '../run/run-state.ts';

interface PageWriterOptions {
  readonly lease: RunLease;
  readonly counters: RunCounters;
  /** Called after each commit with what acknowledges the page. */
  readonly onStored?: ((ids: ReadonlySet<string>) => Promise<void>) | undefined;
}

/** Writes the pages of a run one after another, while the next one is read and prepared. */
export class PageWriter {
  readonly #ports: Pick<PullPorts, 'runs'>;
  readonly #plan: PullPlan;
  readonly #run: Run;
  readonly #lease: RunLease;
  readonly #counters: RunCounters;
  readonly #onStored: PageWriterOptions['onStored'];
  /** Resolves when all pages but the last are stored; `#latest` when all are. */
  #earlier = Promise.resolve(true);
  #latest = Promise.resolve(true);
  #pages: number;

  constructor(
    ports: Pick<PullPorts, 'runs'>,
    plan: PullPlan,
    run: Run,
    { lease, counters, onStored }: PageWriterOptions,
  ) {
    this.#ports = ports;
    this.#plan = plan;
    this.#run = run;
    this.#lease = lease;
    this.#counters = counters;
    this.#onStored = onStored;
    this.#pages = run.counters.pages;
  }

  /** Resolves when there is room for another page; false if another node has the run. */
  get hasRoom(): Promise<boolean> {
    return this.#earlier;
  }

  /** Resolves when every page passed to the writer is stored; false if another node has the run. */
  get isSettled(): Promise<boolean> {
    return this.#latest;
  }

  /** Resolves like `isSettled` after this page; a failure shows there too. */
  write(preparing: Promise<PageCommit>): Promise<boolean> {
    const before = this.#latest;
    const after = this.#pages++;
    const committed = (async () => {
      const commit = await preparing;
      return (await before) && this.#commit(commit, after);
    })();
    // Awaited later; until then a failure must not end the process as an unhandled rejection.
    committed.catch(() => {});
    this.#earlier = before;
    this.#latest = committed;
    return committed;
  }

  async #commit(commit: PageCommit, pagesBefore: number): Promise<boolean> {
    const { brand } = this.#plan;
    const counted = await this.#ports.runs.commitPage(this.#run, this.#lease.ms, commit, brand, pagesBefore);
    if (counted === 'fenced') {
      this.#lease.lose();
      return false;
    }
    this.#counters.stored(counted);
    await this.#onStored?.(new Set(commit.receipts ?? idsIn([{ ...commit, brand }, ...(commit.routed ?? [])])));
    return true;
  }
}

/** The partner's ids of the page, those of other brands of the account included. */
function idsIn(parts: NonNullable<PageCommit['routed']>): Set<string> {
  const ids = new Set<string>();
  for (const { statements, known, brand } of parts) {
    const { idPrefix = '' } = brand;
    for (const { key } of known) ids.add(key);
    for (const { id } of statements) if (id !== '') ids.add(id.startsWith(idPrefix) ? id.slice(idPrefix.length) : id);
  }
  return ids;
}
