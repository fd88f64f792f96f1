import { pullPorts } from '../../composition/pull.ts';
import { fetchSingle } from '../../core/intake/pull/request/single.ts';
import { read } from '../../core/pipeline.ts';
import { partnerId } from '../../core/store/records/partner-ids.ts';
import { commitRefetch } from '../../core/store/runs/commit-page.ts';
import { systemClock } from '../../kit/clock.ts';
import { timedId } from '../../kit/ids.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName, RunId } from '../../terms.ts';
import { failed } from './fetch-sample.ts';

/**
 * Requests one reservation from the partner by `pull.single`; the answer is processed like any other. `absent`: the partner has no such
 * reservation; the stored one does not change.
 */
export async function refetchReservation(runtime: Runtime, integration: string, id: string, by: string) {
  const name = integration as IntegrationName;
  const ports = pullPorts(runtime);
  const planned = await ports.plan(name);
  if (planned.kind === 'unavailable') return failed(planned);
  const { plan } = planned;
  const asked = await partnerId(runtime.pool, plan.brand, id);
  if (asked === undefined) return { kind: 'absent' } as const;
  const single = await fetchSingle(ports, name, asked);
  if (single.kind === 'absent') return single;
  if (single.kind !== 'found') return failed(single);
  const runId = timedId('run', systemClock.now()) as RunId;
  const arrival = { mode: 'single', effectiveAt: single.requestedAt, cause: 'run', causeId: runId } as const;
  const statement = read(plan.brand, single.record, arrival);
  const bytes = JSON.stringify(single.body).length;
  const tally = await commitRefetch(runtime, plan.brand, statement, { runId, by, bytes });
  const [outcome] = tally.outcomes;
  const { version } = outcome ?? {};
  const now = { outcome: outcome?.outcome ?? 'unchanged', ...(version !== undefined && { version }) } as const;
  return { kind: 'applied', runId, ...now } as const;
}
