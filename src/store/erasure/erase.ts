import { createHash } from 'node:crypto';
import { encodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { jsonbText } from '../../kit/json.ts';
import { type StoredViews, viewsWithout } from '../../reconcile/said.ts';
import type { EntityType, IntegrationName, Json } from '../../terms.ts';
import { type Tx, together } from '../db/pool.ts';
import { enqueue } from '../outbox/enqueue.ts';
import {
  type ApplyTarget,
  type Change,
  type Item,
  idempotencyKey,
  type Receipt,
  writeChanges,
} from '../records/changes.ts';
import { erasureLock } from './erased.ts';
import { readStored, type StoredRecord } from './records.ts';

/** What an erasure needs to know of guests, without the store judging who is one. */
export interface EraseMatch {
  /** Who it is about, by what the request gave. */
  readonly isMeant: (guest: Guest, integration: string) => boolean;
  readonly strip: (
    reservation: Reservation,
    isErased: (guest: Guest) => boolean,
  ) => { readonly reservation: Reservation; readonly erased: readonly Guest[] };
  /** Hashes (hex) to remember of a guest that was found. */
  readonly remember: (guest: Guest, integration: string) => readonly string[];
  readonly speaksOfGuests: (path: string) => boolean;
}

export interface EraseRequestKeys {
  readonly erasureId: string;
  /** As guest_keys has them: email:…, phone:…, guest_id:…. */
  readonly keys: readonly string[];
  readonly integration?: string | undefined;
  /** Hashes (hex) of what the request gave. */
  readonly hashes: readonly string[];
}

export interface ErasedRecord {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
}

/**
 * Takes a guest out of every record and every version of it, and remembers hashes so that none comes back. One transaction,
 * alone with respect to intake: what is being taken in at this moment is finished before, what comes later finds the hashes.
 */
export async function eraseFromRecords(
  tx: Tx,
  request: EraseRequestKeys,
  match: EraseMatch,
  targetOf: (integration: string) => ApplyTarget,
): Promise<{ readonly records: readonly ErasedRecord[]; readonly versions: number; readonly receipts: number }> {
  await tx.query(`select pg_advisory_xact_lock(${erasureLock})`);
  await remember(tx, request.erasureId, request.hashes);
  const found = await findRecords(tx, request, match);
  for (const integration of new Set(found.map((record) => record.integration))) {
    const mine = found.filter((record) => record.integration === integration);
    await rewrite(tx, targetOf(integration), request.erasureId, mine, match);
  }
  const versions = await rewriteVersions(tx, found, match);
  const receipts = await emptyReceipts(tx, found, request.erasureId);
  return { records: found.map(({ integration, type, id }) => ({ integration, type, id })), versions, receipts };
}

async function remember(tx: Tx, erasureId: string, hashes: readonly string[]): Promise<void> {
  await tx.query(
    `insert into erased_guests (hash, erasure_id) select decode(h, 'hex'), $1 from unnest($2::text[]) as h on conflict do nothing`,
    [erasureId, hashes],
  );
}

/** The records in which the guest stands, found by what was given and by the partner's own ids of whom that finds. */
async function findRecords(tx: Tx, request: EraseRequestKeys, match: EraseMatch): Promise<StoredRecord[]> {
  const seen = new Map<string, StoredRecord>();
  let looking = request.keys.map((key) => ({ key, integration: request.integration }));
  const ids = new Set<string>();
  while (looking.length > 0) {
    const fresh: typeof looking = [];
    for (const record of await readStored(tx, looking)) {
      seen.set(`${record.integration} ${record.type} ${record.id}`, record);
      const guests = record.type === 'guest' ? [record.record as Guest] : (record.record as Reservation).guests;
      for (const guest of guests) {
        const own = guest.guest_id === undefined ? undefined : `${record.integration} ${guest.guest_id}`;
        const meant = match.isMeant(guest, record.integration) || (own !== undefined && ids.has(own));
        if (!meant) continue;
        await remember(tx, request.erasureId, match.remember(guest, record.integration));
        if (own === undefined || ids.has(own)) continue;
        ids.add(own);
        fresh.push({ key: `guest_id:${guest.guest_id}`, integration: record.integration });
      }
    }
    looking = fresh;
  }
  const isErased = (integration: string) => (guest: Guest) =>
    match.isMeant(guest, integration) || (guest.guest_id !== undefined && ids.has(`${integration} ${guest.guest_id}`));
  return [...seen.values()].map((record) => ({ ...record, isErased: isErased(record.integration) }));
}

/** The newest state without the guest, as a version of its own that destinations are told of. */
async function rewrite(
  tx: Tx,
  target: ApplyTarget,
  erasureId: string,
  records: readonly StoredRecord[],
  match: EraseMatch,
): Promise<void> {
  const receipts: Receipt[] = [];
  const changes: (Change & { identifiers: Json })[] = [];
  for (const stored of records) {
    const { type, id } = stored;
    const { record, erased } = strippedOf(stored, match);
    if (erased.length === 0) continue;
    const text = jsonbText(encodeRecord(record));
    const arrival = { mode: 'pull', effectiveAt: stored.effectiveAt, cause: 'erasure', causeId: erasureId } as const;
    const incoming = { type, id, record, raw: null, notes: [], origins: () => ({}) };
    const hash = createHash('sha256').update(text).digest('hex');
    const item: Item = { index: 0, incoming, arrival, seq: stored.seq, text, hash };
    const version = stored.version + 1;
    changes.push({
      receipt: receipts.length,
      type,
      id,
      version,
      event: 'erased',
      item,
      state: { effectiveAt: stored.effectiveAt, seq: stored.seq, said: saidWithout(stored, record), pulledHash: '' },
      diff: [],
      was: stored.record,
      idempotencyKey: idempotencyKey(target.integration, type, id, version, hash),
      identifiers: erased.map(({ email, phone, guest_id }) => ({
        ...(guest_id !== undefined && { guest_id }),
        ...(email !== undefined && { email }),
        ...(phone !== undefined && { phone }),
      })),
    });
    receipts.push({
      item,
      type,
      id,
      outcome: 'erased',
      version,
      reason: 'A guest was erased.',
      raw: null,
      notes: '[]',
    });
  }
  await together(tx, () => [...writeChanges(tx, target, receipts, changes), enqueue(tx, target, changes)]);
  await tx.query(
    `update changes c set erased = t.identifiers::jsonb
       from unnest($2::text[], $3::text[], $4::int[], $5::text[]) as t (type, id, version, identifiers)
      where c.integration = $1 and c.type = t.type and c.id = t.id and c.version = t.version`,
    [
      target.integration satisfies IntegrationName,
      changes.map(({ type }) => type),
      changes.map(({ id }) => id),
      changes.map(({ version }) => version),
      changes.map(({ identifiers }) => JSON.stringify(identifiers)),
    ],
  );
}

/** What the sources said, without the guest; a profile keeps nothing. */
function saidWithout(
  { type, said, record: was, isErased }: StoredRecord,
  record: Reservation | Guest,
): StoredViews | undefined {
  if (type === 'guest' || said === undefined) return undefined;
  return viewsWithout(said, was as Reservation, isErased, 'extra' in record);
}

function strippedOf(
  { type, record, isErased }: Pick<StoredRecord, 'type' | 'record' | 'isErased'>,
  match: EraseMatch,
): { record: Reservation | Guest; erased: readonly Guest[] } {
  if (type === 'guest') {
    const guest = record as Guest;
    return isErased(guest) ? { record: {}, erased: [guest] } : { record, erased: [] };
  }
  const { reservation, erased } = match.strip(record as Reservation, isErased);
  return { record: reservation, erased };
}

/** Every version that was ever made, delivered or still waiting. */
async function rewriteVersions(tx: Tx, records: readonly StoredRecord[], match: EraseMatch): Promise<number> {
  let count = 0;
  for (const { integration, type, id, decode, isErased } of records) {
    const { rows } = await tx.query<{ version: number; data: string; diff: { path: string }[] }>(
      `select version, data::text as data, diff from changes where integration = $1 and type = $2 and id = $3 and erased is null`,
      [integration, type, id],
    );
    for (const row of rows) {
      const { record } = strippedOf({ type, record: decode(row.data), isErased }, match);
      const text = jsonbText(encodeRecord(record));
      const diff = (type === 'guest' ? [] : row.diff).filter(({ path }) => !match.speaksOfGuests(path));
      await tx.query(
        `update changes set data = $5::json, diff = $6 where integration = $1 and type = $2 and id = $3 and version = $4`,
        [integration, type, id, row.version, text, JSON.stringify(diff)],
      );
      count += 1;
    }
  }
  return count;
}

async function emptyReceipts(tx: Tx, records: readonly StoredRecord[], erasureId: string): Promise<number> {
  const { rowCount } = await tx.query(
    `update receipts r set raw = null, origins = null,
            notes = coalesce((select jsonb_agg(n) from jsonb_array_elements(r.notes) as n
                               where r.type = 'reservation' and n ->> 'field' not like 'guests%' and n ->> 'field' not like 'extra%'), '[]')
       from unnest($1::text[], $2::text[], $3::text[]) as t (integration, type, id)
      where r.integration = t.integration and r.type = t.type and r.id = t.id and r.cause_id <> $4`,
    [
      records.map(({ integration }) => integration),
      records.map(({ type }) => type),
      records.map(({ id }) => id),
      erasureId,
    ],
  );
  return rowCount ?? 0;
}
