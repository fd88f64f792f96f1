import { createHash } from 'node:crypto';
import { jsonbText } from '../kit/json.ts';
import type { Difference } from '../reconcile/difference.ts';
import type { Arrival, Incoming, Outcome } from '../reconcile/incoming.ts';
import type { ChangeEvent, EntityType, IntegrationName, Json } from '../terms.ts';
import type { ErasurePort } from './erased.ts';
import type { Tx } from './pool.ts';

/** Whose records these are and who is to be told. */
export interface ApplyTarget {
  readonly integration: IntegrationName;
  readonly connectorVersion: number;
  readonly integrationVersion: number;
  /** Destinations by the types they receive. */
  readonly destinations: Readonly<Record<EntityType, readonly string[]>>;
  /** Keeps erased guests from coming back. */
  readonly erasure?: ErasurePort;
}

export interface Item {
  readonly index: number;
  readonly incoming: Incoming;
  readonly arrival: Arrival;
  readonly seq: number;
  readonly text: string;
  readonly hash: string;
}

export interface Receipt {
  readonly item: Pick<Item, 'arrival' | 'seq'>;
  readonly type: EntityType;
  readonly id: string;
  readonly outcome: Outcome['outcome'];
  readonly version?: number;
  readonly reason?: string;
  readonly raw: Json;
  readonly notes: string;
  readonly origins?: string;
}

export interface Change {
  readonly receipt: number;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly event: ChangeEvent;
  readonly item: Item;
  readonly diff: readonly Difference[];
  /** The row holds it already. */
  readonly isStored?: boolean;
}

/** Writes the timeline, the versions, and the newest state of each record. */
export async function writeChanges(
  tx: Tx,
  target: ApplyTarget,
  receipts: readonly Receipt[],
  changes: readonly Change[],
) {
  if (receipts.length === 0) return;
  const inserted = await tx.query<{ receipt_id: number }>(
    `insert into receipts (integration, type, id, effective_at, seq, cause, cause_id, outcome, version, reason,
                           connector_version, integration_version, raw, notes, origins)
     select $1, type, id, to_timestamp(ms / 1000.0), seq, cause, cause_id, outcome, version, reason, $2, $3,
            raw::jsonb, notes::jsonb, origins::jsonb
       from unnest($4::text[], $5::text[], $6::float8[], $7::bigint[], $8::text[], $9::text[], $10::text[], $11::int[],
                   $12::text[], $13::text[], $14::text[], $15::text[])
            with ordinality
         as t (type, id, ms, seq, cause, cause_id, outcome, version, reason, raw, notes, origins, position)
      order by position
     returning receipt_id`,
    [
      target.integration,
      target.connectorVersion,
      target.integrationVersion,
      receipts.map((r) => r.type),
      receipts.map((r) => r.id),
      receipts.map((r) => r.item.arrival.effectiveAt),
      receipts.map((r) => r.item.seq),
      receipts.map((r) => r.item.arrival.cause),
      receipts.map((r) => r.item.arrival.causeId),
      receipts.map((r) => r.outcome),
      receipts.map((r) => r.version ?? null),
      receipts.map((r) => r.reason ?? null),
      receipts.map((r) => jsonbText(JSON.stringify(r.raw))),
      receipts.map((r) => r.notes),
      receipts.map((r) => r.origins ?? null),
    ],
  );
  if (changes.length === 0) return;
  await tx.query(
    `insert into changes (integration, type, id, version, event, receipt_id, data, diff, idempotency_key)
     select $1, type, id, version, event, receipt_id, data::json, diff::jsonb, key
       from unnest($2::text[], $3::text[], $4::int[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[])
         as t (type, id, version, event, receipt_id, data, diff, key)`,
    [
      target.integration,
      changes.map((c) => c.type),
      changes.map((c) => c.id),
      changes.map((c) => c.version),
      changes.map((c) => c.event),
      changes.map((c) => inserted.rows[c.receipt]?.receipt_id ?? 0),
      changes.map((c) => c.item.text),
      changes.map((c) => jsonbText(JSON.stringify(c.diff))),
      changes.map((c) => idempotencyKey(target.integration, c)),
    ],
  );
  const newest = [...new Map(changes.map((c) => [`${c.type} ${c.id}`, c])).values()].filter((c) => !c.isStored);
  if (newest.length === 0) return;
  await tx.query(
    `update records r
        set version = t.version, effective_at = to_timestamp(t.ms / 1000.0), seq = t.seq, hash = decode(t.hash, 'hex'),
            data = t.data::jsonb, changed_at = now()
       from unnest($2::text[], $3::text[], $4::int[], $5::float8[], $6::bigint[], $7::text[], $8::text[])
         as t (type, id, version, ms, seq, hash, data)
      where r.integration = $1 and r.type = t.type and r.id = t.id`,
    [
      target.integration,
      newest.map((c) => c.type),
      newest.map((c) => c.id),
      newest.map((c) => c.version),
      newest.map((c) => c.item.arrival.effectiveAt),
      newest.map((c) => c.item.seq),
      newest.map((c) => c.item.hash),
      newest.map((c) => c.item.text),
    ],
  );
}

/**
 * The same for a version whoever delivers it, however often. The content is part of it, so that a store that began anew
 * (and counts versions from 1 again) does not reuse the key of another content.
 */
function idempotencyKey(integration: IntegrationName, change: Change): string {
  const text = JSON.stringify([integration, change.type, change.id, change.version, change.item.hash]);
  return `ib_${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`;
}
