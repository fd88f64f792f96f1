import type { EventType } from '../../intake/push/envelope.ts';
import { parseJson } from '../../kit/json.ts';
import type { EntityType, Json } from '../../terms.ts';
import type { Pool, Tx } from '../db/pool.ts';

export interface NewestRaw {
  readonly raw: Json;
  readonly effectiveAt: Date;
  readonly mode: 'pull' | 'single' | 'push';
  /** The type of the event that brought it. */
  readonly event: EventType | null;
}

/** The mode of an entry `r` of the history with its event `e`; null if it came from neither a run nor an event. */
export const modeOf = `case r.cause
  when 'run' then case when r.notes::jsonb @> '[["requested_by_id"]]' then 'single' else 'pull' end
  when 'event' then case when e.hydrated_at is null then 'push' else 'single' end end`;

export const eventOf = `left join events e on r.cause in ('event', 'guest') and e.integration = r.integration and e.seq = r.seq
                                          and r.cause_id = e.seq::text`;

/** What the partner sent for an entry `r` with its event `e`: a polled row, or the payload of an event. */
export const payloadColumns = 'r.raw, e.body, e.hydrated';
export const hasPayload = '(r.raw is not null or e.body is not null)';

export interface Payload {
  readonly raw: Json;
  readonly body: Buffer | null;
  readonly hydrated: Buffer | null;
}

export function payloadOf({ raw, body, hydrated }: Payload): Json {
  if (raw !== null) return raw;
  if (hydrated !== null) return parseJson(hydrated.toString('utf8'));
  return body === null ? null : ((parseJson(body.toString('utf8')) as { data?: Json }).data ?? null);
}

/** What the partner sent for the newest version of a record, while it is retained. */
export async function newestRaw(
  db: Pool | Tx,
  integration: string,
  type: EntityType,
  id: string,
): Promise<NewestRaw | undefined> {
  const { rows } = await db.query<NewestRaw & Payload>(
    `select ${payloadColumns}, r.effective_at as "effectiveAt", ${modeOf} as mode, e.event
       from history r ${eventOf}
      where r.integration = $1 and r.type = $2 and r.id = $3 and r.diff is not null and ${hasPayload} and r.cause in ('run', 'event')
      order by r.version desc limit 1`,
    [integration, type, id],
  );
  return rows[0] && { ...rows[0], raw: payloadOf(rows[0]) };
}
