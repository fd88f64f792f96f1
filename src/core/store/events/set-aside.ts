import { parseJson } from '../../../kit/json.ts';
import { isPassing } from '../../../kit/sql-state.ts';
import type { Json } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import { arrivalOf, deadEvent } from '../../intake/push/reservation-event.ts';
import { hitsOne, type Pool, type Tx, transaction } from '../db/pool.ts';
import { ingest } from '../records/ingest.ts';
import { lockFirst } from './work-events.ts';

const databaseDelayS = 10;

/**
 * Sets aside the event that fails: retried after 1, 4, 9 … seconds, then a dead letter. The dead letter contains the payload
 * but not the error's message, which may quote it. An error that says nothing of the event, such as a lock held by a long erasure, uses no
 * try. Changes nothing while another node works on the brand: it may be processing the event.
 */
export async function setEventAside(pool: Pool, brand: Brand, error: Error): Promise<void> {
  await transaction(pool, async (tx) => {
    const event = await lockFirst(tx, brand);
    if (!event) return;
    const isOfTheDatabase = isPassing(error);
    const attempt = event.attempt + (isOfTheDatabase ? 0 : 1);
    const delayS = isOfTheDatabase ? databaseDelayS : attempt * attempt;
    const dead = attempt >= 5;
    await tx.query(
      `update events set attempt = $3, state = $4, due_at = now() + make_interval(secs => $5)
        where integration = $1 and seq = $2`,
      [brand.integration, event.seq, attempt, dead ? 'dead' : 'waiting', delayS],
    );
    if (!dead) return;
    const { data = null } = parseJson(event.body.toString('utf8')) as { data?: Json };
    const kind = (error as { code?: string }).code ?? error.name;
    const type = event.event.startsWith('guest.') ? 'guest' : 'reservation';
    const message = `The event failed ${attempt} times with the unexpected error ${kind}.`;
    const failure = { code: 'push.event_failed', message } as const;
    const { hydrated: _, ...own } = event;
    await ingest(tx, brand, [
      deadEvent(arrivalOf(own), failure, data, { type, detail: { error: kind, attempts: attempt } }),
    ]);
  });
}

/** Lets an event be processed again, to replay its dead letter; false when its body is no longer retained. */
export const requeueEvent = (tx: Tx, integration: string, seq: number): Promise<boolean> =>
  hitsOne(tx)(
    `update events set state = 'pending', due_at = null, attempt = 0, outcome = null, hydrated = null, hydrated_at = null
      where integration = $1 and seq = $2 and body is not null`,
    [integration, seq],
  );

/** Makes events pending again that were set aside and are due. */
export async function putEventsBack(pool: Pool): Promise<void> {
  await pool.query(`update events set state = 'pending', due_at = null where state = 'waiting' and due_at <= now()`);
}
