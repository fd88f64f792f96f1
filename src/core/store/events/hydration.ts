import { parseJson } from '../../../kit/json.ts';
import type { Json } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { DeadDetail, Hydration, Thin } from '../../intake/push/hydrate.ts';
import { deadEvent } from '../../intake/push/reservation-event.ts';
import type { Statement } from '../../reconcile/forms.ts';
import { type Pool, rowsOf, transaction } from '../db/pool.ts';
import { ingest } from '../records/ingest.ts';

/** Claims records whose thin events are due. All waiting events of a record are leased together. */
export const claimThin = (pool: Pool, limit: number, leaseMs: number): Promise<Thin[]> =>
  rowsOf(pool)(
    `with due as (
       select integration, seq, type, id from events
        where state = 'hydrate' and due_at <= now()
        order by due_at limit $1 for update skip locked
     ), taken as (
       update events e set due_at = now() + make_interval(secs => $2), attempt = e.attempt + 1
         from (select distinct integration, type, id from due) d
        where e.integration = d.integration and e.type = d.type and e.id = d.id and e.state = 'hydrate'
       returning e.integration, e.type, e.id, e.attempt, e.seq
     )
     select integration, type, id, max(attempt) as attempt, array_agg(seq)::text[] as seqs from taken group by integration, type, id`,
    [limit, leaseMs / 1000],
  );

/**
 * Completes the claimed events, which were all received before the request; later ones need another request. Events are compared
 * by number, not by time: the estimate of the database's clock lags on a busy node, and the same request would be repeated.
 */
export async function hydrateEvents(pool: Pool, thin: Thin, { body, requestedAt, only }: Hydration): Promise<void> {
  await pool.query(
    `update events
        set state = 'pending', hydrated = $3::bytea, hydrated_at = greatest(to_timestamp($4 / 1000.0), received_at),
            due_at = null, attempt = 0
      where integration = $1 and id = $2 and state = 'hydrate' and seq = any($5::bigint[]) and event = coalesce($6, event)`,
    [thin.integration, thin.id, body, requestedAt, thin.seqs, only],
  );
}

export async function hydrateLater(pool: Pool, thin: Thin, delayMs: number): Promise<void> {
  await pool.query(
    `update events set due_at = now() + make_interval(secs => $3)
      where integration = $1 and id = $2 and state = 'hydrate' and seq = any($4::bigint[])`,
    [thin.integration, thin.id, delayMs / 1000, thin.seqs],
  );
}

/** Turns each claimed event with enough attempts into its own dead letter, to be replayed when the cause is fixed. */
export async function buryThin(
  pool: Pool,
  brand: Brand,
  thin: Thin,
  {
    message,
    detail,
    fromAttempt,
  }: { readonly message: string; readonly detail: DeadDetail; readonly fromAttempt: number },
): Promise<void> {
  await transaction(pool, async (tx) => {
    const { rows } = await tx.query<{ seq: number; ms: number; body: Buffer }>(
      `update events set state = 'dead', outcome = 'dead', due_at = null
        where integration = $1 and id = $2 and state = 'hydrate' and seq = any($3::bigint[]) and attempt >= $4
       returning seq, (extract(epoch from least(occurred_at, received_at)) * 1000)::bigint as ms, body`,
      [thin.integration, thin.id, thin.seqs, fromAttempt],
    );
    const statements = rows.map(({ seq, ms, body }): Statement => {
      const arrival = { mode: 'push', effectiveAt: ms, cause: 'event', causeId: String(seq), seq } as const;
      const { data } = parseJson(body.toString('utf8')) as { data: Json };
      return deadEvent(arrival, { code: 'push.not_hydrated', message }, data, { ...thin, detail: { ...detail } });
    });
    await ingest(tx, brand, statements);
  });
}
