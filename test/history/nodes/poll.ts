import { pullPorts } from '../../../src/composition/pull.ts';
import { preparePage } from '../../../src/core/intake/pull/page/page-commit.ts';
import { noCounts, type Run, sum } from '../../../src/core/intake/pull/run/run-state.ts';
import type { RunnerPorts } from '../../../src/core/intake/pull/run/runner.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import type { JsonObject } from '../../../src/terms.ts';
import { pageLog, position } from '../../simulation/pulled-page.ts';
import { integration } from './workspace.ts';

const hourMs = 3_600_000;

/** A run of one page, which a node has requested and stores later. */
export class Poll {
  readonly rows: readonly JsonObject[];
  readonly requestedAt: number;
  readonly #ports: RunnerPorts;
  readonly #run: Run;

  private constructor(ports: RunnerPorts, run: Run, rows: readonly JsonObject[], requestedAt: number) {
    this.#ports = ports;
    this.#run = run;
    this.rows = rows;
    this.requestedAt = requestedAt;
  }

  static async request(
    runtime: Runtime,
    rows: readonly JsonObject[],
    now: () => Promise<number>,
  ): Promise<Poll | undefined> {
    const ports = pullPorts(runtime);
    await ports.runs.queue({ integration, sync: 'pre_stay', kind: 'manual', requestedBy: 'test' });
    const [run] = await ports.runs.claimDue(1, 'node', hourMs);
    const target = runtime.active().integrations.get(integration);
    if (run === undefined || target === undefined) return undefined;
    await ports.runs.start(run, position, target);
    return new Poll(ports, run, rows, await now());
  }

  /** Ends the run of a killed node. */
  static async giveUp(runtime: Runtime): Promise<void> {
    const { runs } = pullPorts(runtime);
    for (const run of await runs.claimDue(10, 'node', hourMs)) {
      await runs.finish(run, { state: 'failed', code: 'pull.timeout', message: 'killed', findings: [] }, noCounts);
    }
  }

  get runId(): string {
    return this.#run.runId;
  }

  async store(): Promise<void> {
    const planned = await this.#ports.plan(integration);
    if (planned.kind !== 'ok') throw new Error(planned.message);
    const { plan } = planned;
    const read = plan.brand.shapers.pull.records({ reservations: [...this.rows] });
    if (read.kind === 'invalid') throw new Error(read.message);
    const { requestedAt } = this;
    const records = read.records.map((raw, i) => ({ raw, content: i }));
    const made = preparePage({ plan, run: this.#run, position, requestedAt }, records as never, []);
    const counted = sum(made.counted, { pages: 1, rows: this.rows.length });
    const commit = { ...made, counted, position, requestedAt, log: { ...pageLog, requestedAt } };
    await this.#ports.runs.commitPage(this.#run, hourMs, commit, plan.brand, 0);
  }

  async finish(): Promise<void> {
    await this.#ports.runs.finish(this.#run, { state: 'complete', findings: [] }, noCounts);
  }
}
