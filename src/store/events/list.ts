import type { Json } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';

export interface EventRow {
  readonly integration: string;
  readonly seq: number;
  readonly event_id: string;
  readonly event: string;
  readonly occurred_at: Date;
  readonly received_at: Date;
  readonly state: string;
  readonly outcome: string | null;
  readonly type: string | null;
  readonly id: string | null;
  readonly version: number | null;
  readonly attempt: number;
}

export interface EventFilter {
  readonly integration?: string | undefined;
  readonly integrations?: readonly string[] | undefined;
  readonly state?: string | undefined;
  readonly eventId?: string | undefined;
  readonly before?: { readonly receivedAt: string; readonly seq: number } | undefined;
  readonly limit: number;
}

const columns =
  'integration, seq, event_id, event, occurred_at, received_at, state, outcome, type, id, version, attempt';

/** Newest first. */
export async function listEvents(db: Pool, filter: EventFilter): Promise<EventRow[]> {
  const { rows } = await db.query<EventRow>(
    `select ${columns} from events
      where ($1::text is null or integration = $1) and ($2::text[] is null or integration = any($2))
        and ($3::text is null or state = $3) and ($4::text is null or event_id = $4) and ($5::timestamptz is null or received_at < $5 + interval '1 ms'
             and (date_trunc('milliseconds', received_at), seq) < ($5, $7::bigint))
      order by date_trunc('milliseconds', received_at) desc, seq desc limit $6`,
    [
      filter.integration ?? null,
      filter.integrations ?? null,
      filter.state ?? null,
      filter.eventId ?? null,
      filter.before?.receivedAt ?? null,
      filter.limit,
      filter.before?.seq ?? 0,
    ],
  );
  return rows;
}

/** One event with its body, as long as that is retained. */
export async function readEvent(
  db: Pool,
  integration: string,
  seq: string,
): Promise<(EventRow & { readonly body: Json }) | undefined> {
  if (!/^\d{1,18}$/.test(seq)) return undefined;
  const { rows } = await db.query<EventRow & { body: Json }>(
    `select ${columns}, convert_from(body, 'UTF8')::json as body from events where integration = $1 and seq = $2::bigint`,
    [integration, seq],
  );
  return rows[0];
}
