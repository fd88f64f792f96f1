import { type Pool, rowOf, rowsOf, type UnreadRow } from '../db/pool.ts';

type EventRow = UnreadRow & { readonly seq: number; readonly received_at: Date };

interface EventFilter {
  readonly integrations?: readonly string[] | undefined;
  readonly state?: string | undefined;
  readonly eventId?: string | undefined;
  readonly before?: { readonly receivedAt: string; readonly seq: number } | undefined;
  readonly limit: number;
}

const columns =
  'integration, seq, event_id, event, occurred_at, received_at, state, outcome, type, id, version, attempt';

/** Newest first. */
export const listEvents = (db: Pool, filter: EventFilter): Promise<EventRow[]> =>
  rowsOf(db)(
    `select ${columns} from events
      where ($1::text[] is null or integration = any($1)) and ($2::text is null or state = $2) and ($3::text is null or event_id = $3)
        and ($4::timestamptz is null or received_at < $4 + interval '1 ms'
             and (date_trunc('milliseconds', received_at), seq) < ($4, $5::bigint))
      order by date_trunc('milliseconds', received_at) desc, seq desc limit $6`,
    [
      filter.integrations,
      filter.state,
      filter.eventId,
      filter.before?.receivedAt,
      filter.before?.seq ?? 0,
      filter.limit,
    ],
  );

/** One event with its body, as long as that is retained. */
export async function readEvent(db: Pool, integration: string, seq: string): Promise<UnreadRow | undefined> {
  if (!/^\d{1,18}$/.test(seq)) return undefined;
  return rowOf(db)<UnreadRow>(
    `select ${columns}, convert_from(body, 'UTF8')::json as body from events where integration = $1 and seq = $2::bigint`,
    [integration, seq],
  );
}
