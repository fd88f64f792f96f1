import type { Admission, Asking, PartnerStore } from '../../intake/pull/ports.ts';
import { storedText } from '../../kit/json.ts';
import type { IntegrationName } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';
import { apiFailed, apiSucceeded, takeProbe } from './partner-circuits.ts';
import { takeSlot } from './rates.ts';

export function openPartnerStore(pool: Pool): PartnerStore {
  return {
    admit: (api, integration, asking) => admit(pool, api, integration, asking),
    succeeded: (api) => apiSucceeded(pool, api),
    failed: (api, cooldownMs, what) => apiFailed(pool, api, cooldownMs, what),
    pause: (integration, ms) => pause(pool, integration, ms),
    authFailed: (integration, version, message) => authFailed(pool, integration, version, message),
    authWorked: (integration) => authWorked(pool, integration),
  };
}

/** One read in the usual case; writes only to take the probe of an open circuit or a slot of the rate. */
async function admit(pool: Pool, api: string, integration: IntegrationName, asking: Asking): Promise<Admission> {
  const { rows } = await pool.query<{
    rest_ms: number | null;
    state: string | null;
    until_ms: number | null;
    failures: number | null;
  }>({
    name: 'admit',
    text: `select extract(epoch from s.retry_at - now())::float8 * 1000 as rest_ms, a.state, a.failures,
                  extract(epoch from a.until - now())::float8 * 1000 as until_ms
             from (values ($1::text, $2::text)) as t (api, integration)
             left join partner_apis a on a.api = t.api
             left join partner_states s on s.integration = t.integration`,
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
    if (!(await takeProbe(pool, api))) return { kind: 'wait', ms: 1_000, reason: 'breaker' };
  }
  if (asking.rate !== undefined) {
    const waitMs = await takeSlot(pool, api, asking.rate, asking.mostMs);
    if (waitMs > 0) return { kind: 'wait', ms: waitMs, reason: 'rate' };
  }
  return { kind: 'go', clean: isClosed && (row?.failures ?? 0) === 0 };
}

async function pause(pool: Pool, integration: IntegrationName, ms: number): Promise<void> {
  await pool.query(
    `insert into partner_states (integration, retry_at) values ($1, now() + $2 * interval '1 ms')
     on conflict (integration) do update set retry_at = greatest(partner_states.retry_at, excluded.retry_at)`,
    [integration, ms],
  );
}

async function authFailed(pool: Pool, integration: IntegrationName, version: number, message: string): Promise<void> {
  await pool.query(
    `insert into partner_states (integration, auth_failed_at, auth_failed_version, auth_message) values ($1, now(), $2, $3)
     on conflict (integration) do update
        set auth_failed_at = coalesce(partner_states.auth_failed_at, now()), auth_failed_version = $2, auth_message = $3`,
    [integration, version, storedText(message)],
  );
}

async function authWorked(pool: Pool, integration: IntegrationName): Promise<void> {
  await pool.query(
    `update partner_states set auth_failed_at = null, auth_failed_version = null, auth_message = null
      where integration = $1 and auth_failed_at is not null`,
    [integration],
  );
}
