import type { Brand } from '../../brand/brand.ts';
import type { Handover, Outgoing } from '../../deliver/handover.ts';
import type { BrandBatch, PendingEvent, Settled } from '../../intake/push/brand-batch.ts';
import type { EventType } from '../../intake/push/envelope.ts';
import type { Batching, BatchResult } from '../../intake/push/worker.ts';
import { keyText } from '../../persons/identifiers.ts';
import { rowsTable, texts } from '../db/columns.ts';
import { type Pool, type Tx, together, transaction } from '../db/pool.ts';
import { bookingsOf } from '../persons/profile-bookings.ts';
import { fromReservations } from '../persons/profile-edit.ts';
import {
  findProfiles,
  findReservationsOf,
  isRefusedAt,
  profileIds,
  readReservationAhead,
} from '../persons/profile-lookup.ts';
import { ingest } from '../records/ingest.ts';
import type { PayloadRange } from '../records/kept-payloads.ts';
import { storedId } from '../records/partner-ids.ts';

/** The most bytes of bodies that one batch holds in memory. */
const batchBytes = 16 * 1024 * 1024;
/** The most brands in one transaction. With one each, 300 events a second over 50 brands commit 2.5 times an event instead of 1.6 (bench/mechanisms.md, 3). */
const batchBrands = 8;
/**
 * The longest wait for a lock. A batch locks records step by step, not in the order of their ids, so it can deadlock with the pages of a
 * poll. It gives up long before PostgreSQL looks for a deadlock, and its events are processed one by one: each locks its records in order.
 */
const batchWaitsMs = 200;
/** The same for a single event, which is then set aside for a while: other brands wait for it. */
const eventWaitsMs = 2_000;

export interface EventStore {
  readonly pool: Pool;
  readonly handover: Handover;
  /** Undefined for an integration that is not in force; its events wait. */
  readonly brandOf: (integration: string) => Brand | undefined;
  /** The other brands that deliver to a destination. */
  readonly othersAt: (integration: string, destination: string) => readonly string[];
}

/**
 * Processes the next pending events of several brands in one transaction. A lock per brand ends with it: only one node works the events of
 * a brand at a time, and a node that dies leaves its batch unchanged (bench/mechanisms.md, 2).
 */
export async function workEvents(
  { pool, handover, brandOf, othersAt }: EventStore,
  { limit, after = '', only }: Batching,
  work: (brand: Brand, batch: BrandBatch) => Promise<readonly Settled[]>,
): Promise<BatchResult> {
  const {
    outgoing,
    settled: _,
    ...result
  } = await transaction(
    pool,
    async (tx) => {
      const locked = only === undefined ? await lockNext(tx, after) : await lockOne(tx, only);
      const mine = locked.flatMap(({ integration, first, mine }) => {
        const brand = mine ? brandOf(integration) : undefined;
        return brand ? [{ brand, first }] : [];
      });
      const { events, more } = await nextEvents(tx, mine, limit);
      const outgoing = handover.begin();
      const worked = mine.map(async ({ brand }) => {
        const { integration } = brand;
        const own = events.get(integration) ?? [];
        const batch = batchOf(tx, brand, own, { outgoing, othersAt });
        return { integration, settled: own.length > 0 ? await work(brand, batch) : [] };
      });
      const settled = await together(worked);
      const hasOthers = only === undefined && locked.length === batchBrands;
      return {
        settled,
        outgoing,
        more,
        busy: locked.some((one) => !one.mine),
        after: hasOthers ? (locked.at(-1)?.integration ?? '') : '',
      };
    },
    (tx, { settled }) => Promise.all(settled.map((one) => settle(tx, one.integration, one.settled))),
    limit > 1 ? batchWaitsMs : eventWaitsMs,
  );
  outgoing.send();
  return result;
}

/** What a transaction applied: what became of each event, by its number, and what it queued. */
export interface Applied {
  readonly settled: ReadonlyMap<number, Settled>;
  readonly outgoing: Outgoing;
}

/** Applies events of locked brands that are not stored yet. Fails where the stored event must change. */
export async function applyArrived(
  tx: Tx,
  { handover, brandOf, othersAt }: Omit<EventStore, 'pool'>,
  arrived: readonly { readonly integration: string; readonly event: PendingEvent }[],
  work: (brand: Brand, batch: BrandBatch) => Promise<readonly Settled[]>,
): Promise<Applied> {
  const outgoing = handover.begin();
  const worked = [...Map.groupBy(arrived, ({ integration }) => integration)].map(async ([integration, own]) => {
    const brand = brandOf(integration);
    if (brand === undefined) return [];
    const events = own.map(({ event }) => event);
    const batch = batchOf(tx, brand, events, { outgoing, othersAt });
    const take: BrandBatch['take'] = async (statements) => {
      const summary = await batch.take(statements);
      if (summary.erasesPayload) throw new Error('the payload of an event is erased where it is stored');
      return summary;
    };
    return work(brand, { ...batch, take });
  });
  const settled = (await together(worked)).flat();
  return { settled: new Map(settled.map((one) => [one.seq, one])), outgoing };
}

interface PendingBrand {
  readonly integration: string;
  /** The number of its first pending event. */
  readonly first: number;
  /** False if another node holds the brand. */
  readonly mine: boolean;
}

const brandLock = (name: string): string => `hashtextextended('events ' || ${name}, 0)`;

/** Locks the next brands with pending events, in the order of their names: a loose index scan. */
async function lockNext(tx: Tx, after: string): Promise<readonly PendingBrand[]> {
  const { rows } = await tx.query<PendingBrand>({
    name: 'lock-brands',
    text: `
      with recursive brands as (
        (select integration, seq from events where state = 'pending' and integration > $1 order by integration, seq limit 1)
        union all
        select n.* from brands cross join lateral (
          select e.integration, e.seq from events e
           where e.state = 'pending' and e.integration > brands.integration
           order by e.integration, e.seq limit 1) n
      ), next as materialized (select integration, seq from brands limit ${batchBrands})
      select integration, seq as first, pg_try_advisory_xact_lock(${brandLock('integration')}) as mine from next`,
    values: [after],
  });
  return rows;
}

/** Locks those of the brands that no other transaction works on and that have no pending events, which come first. */
export async function lockIdle(tx: Tx, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ name: string }>({
    name: 'lock-idle',
    text: `
      select name from (
        select name, pg_try_advisory_xact_lock(${brandLock('name')}) as mine from unnest($1::text[]) as t (name) limit ${batchBrands}) l
       where mine and not exists (select from events where integration = l.name and state = 'pending')`,
    values: [texts(names)],
  });
  return new Set(rows.map(({ name }) => name));
}

async function lockOne(tx: Tx, integration: string): Promise<readonly PendingBrand[]> {
  const { rows } = await tx.query<{ mine: boolean }>({
    name: 'lock-batch',
    text: `select pg_try_advisory_xact_lock(${brandLock('$1')}) as mine`,
    values: [integration],
  });
  return rows.map(({ mine }) => ({ integration, first: 0, mine }));
}

/** The first pending event of a brand, if no other node works its events. */
export async function lockFirst(tx: Tx, brand: Brand): Promise<PendingEvent | undefined> {
  const [lock] = await lockOne(tx, brand.integration);
  if (!lock?.mine) return undefined;
  const { events } = await nextEvents(tx, [{ brand, first: 0 }], 1);
  return events.get(brand.integration)?.[0];
}

/** What applying events needs, inside a transaction that holds the lock of their brand. */
export function batchOf(
  tx: Tx,
  brand: Brand,
  events: readonly PendingEvent[],
  { outgoing, othersAt }: { readonly outgoing?: Outgoing; readonly othersAt: EventStore['othersAt'] },
): BrandBatch {
  const { integration } = brand;
  return {
    events,
    take: (statements) => ingest(tx, brand, statements, undefined, outgoing),
    othersAt: (destination) => othersAt(integration, destination),
    profiles: (keys) => findProfiles(tx, integration, keys),
    newProfileId: async (guest) => (await profileIds(tx, integration, [guest]))(guest),
    storedId: (id) => storedId(tx, brand, id),
    reservation: (id) => readReservationAhead(tx, integration, id),
    bookings: (reservations) =>
      bookingsOf(
        tx,
        integration,
        reservations.map((id) => ({ id })),
      ),
    consentOf: async (keys) => {
      const { guest, consent } = await fromReservations(tx, integration, keys.map(keyText), []);
      return Object.keys(guest).length === 0 ? undefined : { consent };
    },
    isRefusedAt: (brands, keys, by) => isRefusedAt(tx, brands, keys, by),
    reservationsOf: (...about) => findReservationsOf(tx, integration, ...about),
  };
}

const batches = rowsTable(1, { text: ['name'], bigint: ['first'] });

/** The first events of each brand, by brand; an equal share of `limit` each. Its snapshot is taken after the locks are held. */
async function nextEvents(
  tx: Tx,
  brands: readonly { readonly brand: Brand; readonly first: number }[],
  limit: number,
): Promise<{ readonly events: ReadonlyMap<string, readonly PendingEvent[]>; readonly more: boolean }> {
  if (brands.length === 0) return { events: new Map(), more: false };
  const share = Math.max(1, Math.floor(limit / brands.length));
  const { rows } = await tx.query<EventRow & { integration: string; more: boolean }>({
    name: 'next-events',
    text: `
      select integration, seq, event, occurred_ms, received_ms, body, attempt, hydrated, hydrated_ms, trace, more
        from (select e.integration, ${eventColumns},
                     sum(octet_length(body) + coalesce(octet_length(hydrated), 0)) over (order by seq) as bytes,
                     sum(octet_length(body) + coalesce(octet_length(hydrated), 0)) over () > $4
                       or max(nth) over () = $3 as more,
                     row_number() over (order by seq) as place
                from ${batches.sql}
               cross join lateral (
                 select *, row_number() over (order by seq) as nth
                   from (select * from events where integration = t.name and state = 'pending' and seq >= t.first
                          order by seq limit $3) own) e) sized
       where place = 1 or bytes <= $4
       order by seq`,
    values: [
      ...batches.values(brands.map(({ brand, first }) => ({ name: brand.integration, first }))),
      share,
      batchBytes,
    ],
  });
  const events = Map.groupBy(rows, ({ integration }) => integration);
  const read = [...events].map(([integration, own]): [string, PendingEvent[]] => [integration, own.map(pendingEvent)]);
  return { events: new Map(read), more: rows[0]?.more === true };
}

/** The next kept events of guests that were applied, under the lock of the brand's batches. */
export async function lockGuestEvents(
  tx: Tx,
  integration: string,
  range: PayloadRange,
  after: number,
  limit: number,
): Promise<readonly PendingEvent[]> {
  await tx.query(`select pg_advisory_xact_lock(${brandLock('$1')})`, [integration]);
  return readGuestEvents(tx, integration, range, 'seq > $4 order by seq limit $5', [after, limit]);
}

/** Guests' own events, by number, of those that are still kept. */
export async function guestEventsOf(
  db: Pool | Tx,
  integration: string,
  seqs: readonly number[],
  range: PayloadRange,
): Promise<ReadonlyMap<number, PendingEvent>> {
  if (seqs.length === 0) return new Map();
  const events = await readGuestEvents(db, integration, range, 'seq = any($4::bigint[])', [seqs]);
  return new Map(events.map((event) => [event.seq, event]));
}

async function readGuestEvents(
  db: Pool | Tx,
  integration: string,
  { from, to }: PayloadRange,
  which: string,
  values: readonly unknown[],
): Promise<readonly PendingEvent[]> {
  const { rows } = await db.query<EventRow>(
    `select ${eventColumns} from events
      where integration = $1 and event = 'guest.updated' and state = 'done' and body is not null
        and received_at >= coalesce((${connectedSince}), '-infinity')
        and ($2::date is null or received_at >= $2::date) and ($3::date is null or received_at < $3::date + 1)
        and ${which}`,
    [integration, from, to, ...values],
  );
  return rows.map(pendingEvent);
}

/** When the brand `$1` changed to its connector, if it had another one before: payloads from before are of another system. */
const connectedSince = `
  select min(applied_at) from documents
   where kind = 'integration' and name = $1
     and version > (select max(version) from documents
                     where kind = 'integration' and name = $1
                       and body ->> 'connector' <> (select body ->> 'connector' from documents
                                                     where kind = 'integration' and name = $1 and in_force))`;

/** An event whose dead letter an operator settles, under the lock of its batch; undefined if its body is no longer kept. */
export async function lockEvent(tx: Tx, integration: string, seq: number): Promise<PendingEvent | undefined> {
  await tx.query(`select pg_advisory_xact_lock(${brandLock('$1')})`, [integration]);
  const { rows } = await tx.query<EventRow>(
    `select ${eventColumns} from events where integration = $1 and seq = $2 and state = 'dead' and body is not null`,
    [integration, seq],
  );
  return rows[0] && pendingEvent(rows[0]);
}

interface EventRow {
  readonly seq: number;
  readonly event: EventType;
  readonly occurred_ms: number;
  readonly received_ms: number;
  readonly body: Buffer;
  readonly attempt: number;
  readonly hydrated: Buffer | null;
  readonly hydrated_ms: number | null;
  readonly trace: string | null;
}

const eventColumns = `seq, event, body, attempt, hydrated, trace,
                     (extract(epoch from occurred_at) * 1000)::bigint as occurred_ms,
                     (extract(epoch from received_at) * 1000)::bigint as received_ms,
                     (extract(epoch from hydrated_at) * 1000)::bigint as hydrated_ms`;

const pendingEvent = (row: EventRow): PendingEvent => ({
  seq: row.seq,
  event: row.event,
  occurredAt: row.occurred_ms,
  receivedAt: row.received_ms,
  body: row.body,
  attempt: row.attempt,
  ...(row.hydrated && row.hydrated_ms !== null && { hydrated: { body: row.hydrated, requestedAt: row.hydrated_ms } }),
  ...(row.trace !== null && { trace: row.trace }),
});

const settledRows = rowsTable(2, {
  bigint: ['seq'],
  text: ['state', 'outcome', 'type', 'id', 'reason'],
  int: ['version'],
});

export async function settle(tx: Tx, integration: string, settled: readonly Settled[]): Promise<void> {
  if (settled.length === 0) return;
  await tx.query({
    name: 'settle-events',
    text: `
      update events e
         set state = t.state, outcome = t.outcome, reason = t.reason, type = coalesce(t.type, e.type), id = t.id, version = t.version,
             due_at = case when t.state = 'hydrate' then now() end,
             attempt = case when t.state = 'hydrate' then 0 else e.attempt end
        from ${settledRows.sql}
       where e.integration = $1 and e.seq = t.seq and e.seq = any(${settledRows.array('seq')})`,
    values: [integration, ...settledRows.values(settled)],
  });
}
