import type { EventType } from '../../intake/push/envelope.ts';
import type { EntityType, Json } from '../../terms.ts';
import type { Pool, Tx } from '../db/pool.ts';

export interface NewestRaw {
  readonly raw: Json;
  readonly effectiveAt: Date;
  readonly mode: 'pull' | 'single' | 'push';
  /** The type of the event that brought it. */
  readonly event: EventType | null;
}

/** The mode of a receipt `r` with its event `e`; null if it came from neither a run nor an event. */
export const modeOf = `case r.cause
  when 'run' then case when r.notes @> '[{"code": "requested_by_id"}]' then 'single' else 'pull' end
  when 'event' then case when e.hydrated_at is null then 'push' else 'single' end end`;

/** What the partner sent for the newest version of a record, while it is retained. */
export async function newestRaw(
  db: Pool | Tx,
  integration: string,
  type: EntityType,
  id: string,
): Promise<NewestRaw | undefined> {
  const { rows } = await db.query<NewestRaw>(
    `select r.raw, r.effective_at as "effectiveAt",
            ${modeOf} as mode, e.event
       from changes c join receipts r on r.integration = c.integration and r.receipt_id = c.receipt_id
       left join events e on r.cause = 'event' and e.integration = r.integration and e.seq = r.seq
      where c.integration = $1 and c.type = $2 and c.id = $3 and r.raw is not null and r.cause in ('run', 'event')
      order by c.version desc limit 1`,
    [integration, type, id],
  );
  return rows[0];
}
