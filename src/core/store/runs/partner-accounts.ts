import { storedText } from '../../../kit/json.ts';
import type { IntegrationName } from '../../../terms.ts';
import type { Admission, AskedAdmission, AskedPartners } from '../../outbound/ask/ports.ts';
import { partnerCircuit } from '../../outbound/circuit.ts';
import { numberOf, type Pool } from '../db/pool.ts';
import { noteAnswer, noteFailure, partnerApi, takeCalls, takeProbe } from '../remotes.ts';

/** After this, another node takes over a probe whose node died. */
const probeMs = 60_000;

export function openPartnerStore(pool: Pool): AskedPartners {
  return {
    admit: (api, integration, asking) => admit(pool, api, integration, asking),
    succeeded: (api) => noteAnswer(pool, partnerApi(api)),
    failed: async (api, firstMs, message) => {
      const failure = { message, unreachable: true, records: [] };
      await noteFailure(pool, partnerApi(api), failure, { ...partnerCircuit, firstMs });
    },
    async pause(integration, ms) {
      await pool.query(
        `insert into partner_accounts as a (integration, retry_at) values ($1, now() + $2 * interval '1 ms')
         on conflict (integration) do update set retry_at = greatest(a.retry_at, excluded.retry_at)`,
        [integration, ms],
      );
    },
    async authFailed(integration, version, message) {
      await pool.query(
        `insert into partner_accounts as a (integration, auth_failed_at, auth_failed_version, auth_message) values ($1, now(), $2, $3)
         on conflict (integration) do update
            set auth_failed_at = coalesce(a.auth_failed_at, now()), auth_failed_version = $2, auth_message = $3`,
        [integration, version, storedText(message)],
      );
    },
    async authWorked(integration) {
      await pool.query(
        `update partner_accounts set auth_failed_at = null, auth_failed_version = null, auth_message = null
          where integration = $1 and auth_failed_at is not null`,
        [integration],
      );
    },
  };
}

/** One read in the usual case; writes only to take the probe of an open circuit or a slot of the rate. */
async function admit(
  pool: Pool,
  api: string,
  integration: IntegrationName,
  asking: AskedAdmission,
): Promise<Admission> {
  const { rows } = await pool.query<{
    rest_ms: number | null;
    state: string | null;
    until_ms: number | null;
    failures: number | null;
  }>({
    name: 'admit',
    text: `select extract(epoch from a.retry_at - now())::float8 * 1000 as rest_ms, r.state, r.failures,
                  extract(epoch from r.probe_at - now())::float8 * 1000 as until_ms
             from (values ($1::text, $2::text)) as t (api, integration)
             left join remotes r on r.kind = 'partner' and r.name = t.api
             left join partner_accounts a on a.integration = t.integration`,
    values: [api, integration],
  });
  const [row] = rows;
  const restMs = Math.ceil(row?.rest_ms ?? 0);
  if (restMs > 0 && !asking.hasWaited) return { kind: 'wait', ms: restMs, reason: 'retry_after' };
  const isClosed = row?.state == null || row.state === 'closed';
  if (!isClosed) {
    const untilMs = Math.ceil(row?.until_ms ?? 0);
    if (untilMs > 0) {
      // Another node's probe may end at any moment.
      return { kind: 'wait', ms: row?.state === 'probing' ? Math.min(untilMs, 1_000) : untilMs, reason: 'breaker' };
    }
    if (!(await takeProbe(pool, partnerApi(api), probeMs))) return { kind: 'wait', ms: 1_000, reason: 'breaker' };
  }
  if (asking.rate !== undefined) {
    const { waitMs } = await takeCalls(pool, partnerApi(api), asking.rate, 1, asking.mostMs);
    if (waitMs > 0) return { kind: 'wait', ms: waitMs, reason: 'rate' };
  }
  return { kind: 'go', clean: isClosed && (row?.failures ?? 0) === 0 };
}

/**
 * Somebody may have corrected why these brands cannot pull: forgets that their credentials were refused or that the partner asked to wait,
 * makes their waiting runs due, and starts the syncs that were not started meanwhile or failed last. An operator's pause stays. Returns the
 * number of runs and syncs.
 */
export const freeBrands = (pool: Pool, integrations: readonly string[]): Promise<number> =>
  numberOf(pool)(
    `with stopped as (
       select integration, auth_failed_at is not null as refused from partner_accounts
        where integration = any($1) and (auth_failed_at is not null or retry_at > now()) for update
     ), freed as (
       update partner_accounts a set auth_failed_at = null, auth_failed_version = null, auth_message = null, retry_at = null
         from stopped s where a.integration = s.integration
     ), started as (
       update syncs s set next_at = now()
        where s.integration = any($1) and s.next_at is not null
          and (s.integration in (select integration from stopped where refused)
               or 'failed' = (select state from runs r where r.integration = s.integration and r.sync = s.sync
                               order by queued_at desc limit 1))
       returning 1
     ), due as (
       update runs set due_at = now() where integration = any($1) and state = 'queued' and waiting is not null returning 1
     )
     select ((select count(*) from started) + (select count(*) from due))::int as freed`,
    [integrations],
  );
