import { pullPorts } from '../composition/pull.ts';
import type { ErrorCode } from '../errors.ts';
import { fetchSingle } from '../intake/pull/request/single.ts';
import { systemClock } from '../kit/clock.ts';
import { timedId } from '../kit/ids.ts';
import { state } from '../pipeline.ts';
import type { OutcomeName } from '../reconcile/forms.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { partnerId } from '../store/records/partner-ids.ts';
import { commitRefetch } from '../store/runs/refetch.ts';
import type { IntegrationName, RunId } from '../terms.ts';

export type Refetched =
  | { readonly kind: 'applied'; readonly runId: string; readonly outcome: OutcomeName; readonly version?: number }
  /** The partner has no such reservation; the stored one does not change. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };

/** Requests one reservation from the partner by `pull.single`; the answer is processed like any other. */
export async function refetchReservation(
  runtime: Runtime,
  integration: string,
  id: string,
  by: string,
): Promise<Refetched> {
  const name = integration as IntegrationName;
  const ports = pullPorts(runtime);
  const planned = await ports.plan(name);
  if (planned.kind === 'unavailable') return { kind: 'failed', code: planned.code, message: planned.message };
  const { plan } = planned;
  const asked = await partnerId(runtime.pool, plan.brand, id);
  if (asked === undefined) return { kind: 'absent' };
  const single = await fetchSingle(ports, name, asked);
  if (single.kind === 'absent') return single;
  if (single.kind !== 'found') return { kind: 'failed', code: single.code, message: single.message };
  const runId = timedId('run', systemClock.now()) as RunId;
  const arrival = { mode: 'single', effectiveAt: single.requestedAt, cause: 'run', causeId: runId } as const;
  const statement = state(plan.brand, single.record, arrival);
  const bytes = JSON.stringify(single.body).length;
  const tally = await commitRefetch(runtime.pool, plan.brand, statement, { runId, by, bytes });
  if (tally.changed > 0) runtime.onChanged(plan.brand);
  const [outcome] = tally.outcomes;
  return {
    kind: 'applied',
    runId,
    outcome: outcome?.outcome ?? 'unchanged',
    ...(outcome?.version !== undefined && { version: outcome.version }),
  };
}
