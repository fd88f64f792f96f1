import type { EntityType, Json } from '../../../terms.ts';
import { decodeRecord } from '../../canonical/reservation.ts';
import { type Consent, statedBySources } from '../../reconcile/consent.ts';
import type { StoredClaims } from '../../reconcile/stored-claims.ts';
import { consentsIn } from '../../reconcile/stored-claims.ts';
import { completeSince } from '../db/partitions.ts';
import { cellOf, type Pool, type UnreadRow, withoutNulls } from '../db/pool.ts';
import { eventOf, modeOf, type Payload, payloadColumns, sentOf } from './entry-payload.ts';

export interface TimelineEntry {
  readonly at: string;
  readonly what: 'received' | 'delivery' | 'dead_letter' | 'seen_unchanged';
  readonly [key: string]: unknown;
}

/** What a destination has of the record, and what waits for it. */
interface LaneNow extends UnreadRow {
  readonly destination: string;
  readonly delivered_version: number;
  readonly next_version: number;
  readonly last_version: number;
  readonly due_at: Date | null;
  readonly held_by: string | null;
}

export interface Timeline {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly changed_at: string;
  readonly data: Json;
  /** The consent of each guest with its source and time; guests with unknown consent are not listed. */
  readonly consents: readonly {
    readonly guest?: number;
    readonly value: boolean;
    readonly source: string;
    readonly at: string;
  }[];
  readonly deliveries: readonly LaneNow[];
  /** Present if the record is older than the kept history: since when the timeline is complete. */
  readonly history_since?: string;
  /** Present if there are older entries: the newest of them has this time, to the microsecond. */
  readonly earlier?: string;
  readonly timeline: readonly TimelineEntry[];
}

export interface TimelinePart {
  /** About how many entries: those with equal times stay together. All by default. */
  readonly limit?: number;
  /** `earlier` of the newer part. */
  readonly upTo?: string | undefined;
}

/**
 * Everything that happened to one record, oldest first: entries, outcomes and delivery attempts. A part holds the newest entries. Open
 * dead letters are always in the newest part, because they say why a delivery waits.
 */
export async function readTimeline(
  db: Pool,
  integration: string,
  type: EntityType,
  id: string,
  { limit, upTo }: TimelinePart = {},
): Promise<Timeline | undefined> {
  const key = [integration, type, id];
  const earlier = limit === undefined ? null : await boundary(db, key, limit, upTo);
  const range = [...key, earlier, upTo];
  const [record, entered, repeated, attempts, dead, outbox, sighting, since] = await Promise.all([
    db.query<Current>(
      `select version, data, created_at, changed_at, data::text as text, claims,
              (extract(epoch from effective_at) * 1000)::float8 as ms, seq
         from records where integration = $1 and type = $2 and id = $3 and version > 0`,
      key,
    ),
    db.query(
      `select r.at, 'received' as what, r.outcome, r.version, r.reason, r.effective_at, r.cause, r.cause_id,
              r.connector_version, r.integration_version, r.notes, r.origins, r.diff, r.idempotency_key,
              ${modeOf} as mode, ${payloadColumns}
         from history r ${eventOf}
        where r.integration = $1 and r.type = $2 and r.id = $3 and ${inRange('r.at')} order by r.entry_id`,
      range,
    ),
    db.query(
      `select received_at as at, 'received' as what, outcome, version, reason, least(occurred_at, received_at) as effective_at,
              'event' as cause, seq::text as cause_id, '[]'::json as notes, event, body, hydrated, null as raw,
              case when hydrated_at is null then 'push' else 'single' end as mode
         from events where integration = $1 and type = $2 and id = $3 and ${withoutNews} and ${inRange('received_at')} order by seq`,
      range,
    ),
    db.query(
      `select at, 'delivery' as what, destination, version, attempt, outcome, code, status, message, duration_ms
         from attempts where integration = $1 and type = $2 and id = $3 and ${inRange('at')}
       union all
       select delivered_at, 'delivery', destination, delivered_version, 1, 'delivered', null, null, null, null
         from outbox o where integration = $1 and type = $2 and id = $3 and ${lastDelivery} and ${inRange('delivered_at')} order by 1`,
      range,
    ),
    db.query(
      `select at, 'dead_letter' as what, dead_letter_id::text as dead_letter_id, kind, destination, version, code, message,
              times, last_at, state, closed_at, closed_reason, detail ->> 'answer' as answer
         from dead_letters where integration = $1 and type = $2 and id = $3
          and case when state = 'open' then $5::timestamptz is null else ${inRange('at')} end order by at`,
      range,
    ),
    db.query<LaneNow>(
      `select o.destination, o.delivered_version, o.delivered_at, o.next_version, o.last_version, o.attempt, o.due_at,
              o.held_by::text as held_by, o.removed, r.opened_at as away_since, r.probe_at as next_probe_at,
              r.last_failure as away_said
         from outbox o
         left join remotes r on r.kind = 'destination' and r.name = o.destination and r.state <> 'closed'
        where o.integration = $1 and o.type = $2 and o.id = $3 order by o.destination`,
      key,
    ),
    db.query(
      `select max(requested_at) as at, 'seen_unchanged' as what, count(*)::int as times from sightings
        where integration = $1 and $2 = any(ids) and $3::timestamptz is null and $4 = 'reservation' having count(*) > 0`,
      [integration, id, upTo, type],
    ),
    completeSince(db),
  ]);
  const current = record.rows[0];
  const entries = [
    ...[...entered.rows, ...repeated.rows].map((entry) => withPayload(id, entry)),
    ...attempts.rows,
    ...dead.rows,
    ...sighting.rows,
  ] as (TimelineEntry & {
    at: Date | string;
  })[];
  if (!current && entries.length === 0) return undefined;
  entries.sort((a, b) => new Date(a.at).getTime() - new Date(b.at).getTime());
  return {
    integration,
    type,
    id,
    version: current?.version ?? 0,
    changed_at: current?.changed_at.toISOString() ?? '',
    data: current?.data ?? null,
    consents: current ? consentsOf(type, current) : [],
    deliveries: outbox.rows,
    ...(current && since && current.created_at < since && { history_since: since.toISOString() }),
    ...(earlier && { earlier }),
    timeline: entries.map(withoutNulls),
  };
}

/** The last plain delivery is only on its outbox row. Those before it are known by their versions alone. */
const lastDelivery = `o.delivered_at is not null
          and not exists (select from attempts a where a.integration = $1 and a.id = $3 and a.type = $2
                             and a.destination = o.destination and a.version = o.delivered_version and a.outcome = 'delivered')`;

/** Events that changed nothing have no entry in the history. */
const withoutNews = `outcome in ('unchanged', 'superseded')
          and not exists (select from history h where h.integration = $1 and h.id = $3 and h.type = $2
                             and h.cause in ('event', 'guest') and h.cause_id = events.seq::text)`;

function withPayload(
  id: string,
  { raw, event, body, hydrated, ...entry }: Payload & { readonly [key: string]: unknown },
) {
  return { ...entry, sent: sentOf({ raw, event, body, hydrated }, id) ?? null };
}

/** After $4 and up to $5. */
const inRange = (at: string): string =>
  `($4::timestamptz is null or ${at} > $4) and ($5::timestamptz is null or ${at} <= $5)`;

/** The time up to which entries belong to older parts. */
async function boundary(
  db: Pool,
  key: readonly string[],
  limit: number,
  upTo: string | undefined,
): Promise<string | null | undefined> {
  const at = (table: string, column: string) =>
    `select ${column} as at from ${table}
      where integration = $1 and type = $2 and id = $3 and ($5::timestamptz is null or ${column} <= $5)`;
  return cellOf(db)(
    `with entries as materialized (
       ${at('history', 'at')} union all ${at('attempts', 'at')} union all ${at('outbox o', 'delivered_at')} and ${lastDelivery}
       union all ${at('events', 'received_at')} and ${withoutNews}
       union all ${at('dead_letters', 'at')} and state <> 'open'
     ), next as (select at from entries order by at desc offset $4 limit 1),
     -- If all entries of the part have the same time as the next one, that one belongs to them.
     found as (
       select case when exists (select from entries e, next n where e.at > n.at) then (select at from next)
                   else (select max(e.at) from entries e, next n where e.at < n.at) end as at)
     select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as earlier from found`,
    [...key, limit, upTo],
  );
}

interface Current {
  readonly version: number;
  readonly data: Json;
  readonly created_at: Date;
  readonly changed_at: Date;
  readonly text: string;
  readonly claims: StoredClaims | null;
  readonly ms: number;
  readonly seq: number;
}

function consentsOf(type: EntityType, { text, claims, ms, seq }: Current): Timeline['consents'] {
  const shown = ({ value, source, at }: Pick<Consent, 'value' | 'source' | 'at'>) =>
    value === null ? [] : [{ value, source, at: new Date(at).toISOString() }];
  if (type === 'guest') {
    const [decided, ...others] = claims?.consent ? statedBySources(claims.consent) : [];
    return decided ? [decided, ...others.toSorted((a, b) => b.at - a.at)].flatMap(shown) : [];
  }
  const consents = consentsIn(decodeRecord('reservation', text), claims ?? undefined, [ms, seq]);
  return consents.flatMap((consent, guest) => (consent ? shown(consent).map((one) => ({ guest, ...one })) : []));
}
