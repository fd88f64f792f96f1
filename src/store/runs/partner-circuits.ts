import type { Pool } from '../db/pool.ts';

/**
 * The circuit breaker of a partner's API, one row that all nodes share:
 *
 *   closed ──5 failures in a row──▶ open ──cooldown over, one node──▶ probing ──answer──▶ closed
 *                                    ▲                                   │
 *                                    └────── failure, cooldown doubled ──┘
 */
const threshold = 5;
const longestCooldownMs = 900_000;
/** After this, another node takes over a probe whose node died. */
const probeMs = 60_000;
/** A failed probe doubles it. */
const beforeFirstCooldownMs = 30_000;

export async function apiFailed(pool: Pool, api: string, cooldownMs: number, what: string): Promise<void> {
  await pool.query(
    `insert into partner_apis as a (api, failures, last_failure, last_failure_at) values ($1, 1, $2, now())
     on conflict (api) do update set
       failures = a.failures + 1, last_failure = $2, last_failure_at = now(),
       cooldown_ms = case when a.state = 'probing' then least(a.cooldown_ms * 2, $5)
                          when a.state = 'closed' and a.failures + 1 >= $4 then $3 else a.cooldown_ms end,
       until = case when a.state = 'probing' then now() + least(a.cooldown_ms * 2, $5) * interval '1 ms'
                    when a.state = 'closed' and a.failures + 1 >= $4 then now() + $3 * interval '1 ms' else a.until end,
       opened_at = case when a.state = 'closed' and a.failures + 1 >= $4 then now() else a.opened_at end,
       state = case when a.state = 'probing' or a.failures + 1 >= $4 then 'open' else a.state end`,
    [api, what.slice(0, 300), cooldownMs, threshold, longestCooldownMs],
  );
}

/** Any answer counts, even a refusal: the API is up. An answer to a request sent before the circuit opened does not close it. */
export async function apiSucceeded(pool: Pool, api: string): Promise<void> {
  await pool.query(
    `update partner_apis set state = 'closed', failures = 0, cooldown_ms = 0, opened_at = null, until = null
      where api = $1 and state <> 'open' and (failures > 0 or state = 'probing')`,
    [api],
  );
}

/** True for the one caller, over all nodes, that may probe an API after its cooldown. */
export async function takeProbe(pool: Pool, api: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update partner_apis set state = 'probing', until = now() + $2 * interval '1 ms'
      where api = $1 and state in ('open', 'probing') and until <= now()`,
    [api, probeMs],
  );
  return rowCount === 1;
}

export async function openApis(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ api: string }>(`select api from partner_apis where state = 'open'`);
  return rows.map(({ api }) => api);
}

/** Lets an open circuit be probed at once, by a run of these brands that waits for it; the cooldown begins again. */
export async function probeApi(pool: Pool, api: string, integrations: readonly string[]): Promise<void> {
  await pool.query(
    `update partner_apis set until = now(), cooldown_ms = least(cooldown_ms, $2) where api = $1 and state = 'open'`,
    [api, beforeFirstCooldownMs],
  );
  await pool.query(
    `update runs set due_at = now() where integration = any($1) and state = 'queued' and waiting = 'breaker'`,
    [integrations],
  );
}
