import type { WaitRequest } from '../deliver/ports.ts';
import { afterFailure, type Circuit, type CircuitSettings, type FailedCall, type Rate } from '../outbound/circuit.ts';
import { hitsOne, onlyRow, type Pool, transaction } from './db/pool.ts';

/** The circuits, rates and pauses of partners' APIs and destinations. A remote without a row is healthy. */
export interface Remote {
  readonly kind: 'partner' | 'destination';
  /** The origin of a partner's API, or the name of a destination. */
  readonly name: string;
}

export const partnerApi = (name: string): Remote => ({ kind: 'partner', name });
export const destination = (name: string): Remote => ({ kind: 'destination', name });

export async function noteFailure(
  pool: Pool,
  { kind, name }: Remote,
  failure: FailedCall,
  settings: CircuitSettings,
): Promise<Circuit> {
  return transaction(pool, async (tx) => {
    await tx.query('insert into remotes (kind, name) values ($1, $2) on conflict do nothing', [kind, name]);
    const before = await onlyRow(tx)<Circuit>(
      'select state, failures, away, refused, suspect, probes from remotes where kind = $1 and name = $2 for update',
      [kind, name],
    );
    const { cooldownMs, ...circuit } = afterFailure(before, failure, settings);
    const { state, failures, away, refused, suspect, probes } = circuit;
    await tx.query(
      `update remotes set state = $3, failures = $4, away = $5, suspect = $6, probes = $7, last_failure = $8,
              opened_at = case when $3 = 'open' then coalesce(opened_at, now()) end,
              probe_at = clock_timestamp() + $9::float8 * interval '1 ms', refused = $10
        where kind = $1 and name = $2`,
      [kind, name, state, failures, away, suspect, probes, failure.message.slice(0, 300), cooldownMs, refused],
    );
    return circuit;
  });
}

/** Any answer counts, even a refusal. The settlement of a delivery does the same (outbox/settle.ts). */
export async function noteAnswer(pool: Pool, { kind, name }: Remote): Promise<void> {
  await pool.query(
    `update remotes set state = 'closed', failures = 0, opened_at = null, probe_at = null
      where kind = $1 and name = $2 and failures > 0`,
    [kind, name],
  );
}

/** True for the one caller, over all nodes, that may probe now. If its node dies, another may probe when the lease is over. */
export const takeProbe = (pool: Pool, { kind, name }: Remote, leaseMs: number): Promise<boolean> =>
  hitsOne(pool)(
    `update remotes set state = 'probing', probes = probes + 1, probe_at = now() + $3 * interval '1 ms'
      where kind = $1 and name = $2 and state <> 'closed' and probe_at <= now()`,
    [kind, name, leaseMs],
  );

/** For a probe that was not sent. */
export async function releaseProbe(pool: Pool, { kind, name }: Remote): Promise<void> {
  await pool.query(
    `update remotes set state = 'open', probes = probes - 1, probe_at = now()
      where kind = $1 and name = $2 and state = 'probing'`,
    [kind, name],
  );
}

/** Lets open circuits be probed at once, and their cooldown begin again; a pause that was asked for ends. */
export async function probeNow(pool: Pool, kind: Remote['kind'], names: readonly string[]): Promise<void> {
  await pool.query(
    `update remotes set probes = 0, probe_at = case when state <> 'closed' then now() end, paused_until = null
      where kind = $1 and name = any($2) and (state <> 'closed' or paused_until > now())`,
    [kind, names],
  );
}

/**
 * Takes up to `wanted` calls from the rate, over all nodes: the generic cell rate algorithm in one column, which holds when the calls
 * already granted would end at an even pace. Calls up to `mostMs` ahead are granted; `waitMs` is the wait before the first one. A
 * negative number returns calls.
 */
export async function takeCalls(
  pool: Pool,
  { kind, name }: Remote,
  { everyMs, burst }: Rate,
  wanted: number,
  mostMs = 0,
): Promise<{ granted: number; waitMs: number }> {
  await pool.query('insert into remotes (kind, name) values ($1, $2) on conflict do nothing', [kind, name]);
  const { granted, ahead_ms: aheadMs } = await onlyRow(pool)<{ granted: number; ahead_ms: number }>(
    `with pace as materialized (
       select greatest(next_at, clock_timestamp()) as base, clock_timestamp() as at
         from remotes where kind = $1 and name = $2 for update
     ), ahead as (
       select base, extract(epoch from base - at)::float8 * 1000 as ahead_ms from pace
     ), taken as (
       select base, ahead_ms,
              greatest(least($3::int, 0), least($3::int, floor($5::int - (ahead_ms - $6::float8) / $4::float8 + 0.001)))::int as granted
         from ahead
     )
     update remotes r set next_at = base + granted * $4::float8 * interval '1 ms'
       from taken where r.kind = $1 and r.name = $2
     returning granted, ahead_ms`,
    [kind, name, wanted, everyMs, burst, mostMs],
  );
  return { granted, waitMs: Math.max(0, Math.ceil(aheadMs - (burst - 1) * everyMs)) };
}

/** One request of a destination, under its own rate or (with a name) one of its vendor's limits; refused if its turn is over a minute away. */
export const takeRequest = (pool: Pool, name: string, from: { readonly name: string; readonly rate: Rate }) =>
  takeCalls(pool, destination(from.name === '' ? name : `${name} ${from.name}`), from.rate, 1, 60_000);

/** The settlement of the next success clears it. */
export async function noteWaitRequest(
  pool: Pool,
  { kind, name }: Remote,
  { records, severalAnswers, waitMs }: WaitRequest,
): Promise<void> {
  await pool.query(
    `insert into remotes as r (kind, name, told_to_wait, paused_until)
     values ($1, $2, ($3::text[])[1], case when $4 then now() + $5 * interval '1 ms' end)
         on conflict (kind, name) do update
        set told_to_wait = excluded.told_to_wait,
            paused_until = case when $4 or r.told_to_wait <> all($3)
                                then greatest(r.paused_until, now() + $5 * interval '1 ms')
                                else r.paused_until end`,
    [kind, name, records, severalAnswers, waitMs],
  );
}
