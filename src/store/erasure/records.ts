import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import type { StoredViews } from '../../reconcile/said.ts';
import type { EntityType } from '../../terms.ts';
import type { Tx } from '../db/pool.ts';
import { readReservation } from '../records/stored-record.ts';

export interface StoredRecord {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly effectiveAt: number;
  readonly seq: number;
  readonly record: Reservation | Guest;
  /** What each source said of a reservation, beside the record. */
  readonly said: StoredViews | undefined;
  readonly decode: (text: string) => Reservation | Guest;
  readonly isErased: (guest: Guest) => boolean;
}

/** The records that stand under these keys, locked. */
export async function readStored(
  tx: Tx,
  keys: readonly { readonly key: string; readonly integration: string | undefined }[],
): Promise<StoredRecord[]> {
  const { rows } = await tx.query<{
    integration: string;
    type: EntityType;
    id: string;
    version: number;
    effective_ms: number;
    seq: number;
    data: string;
    said: StoredViews | null;
  }>(
    `select r.integration, r.type, r.id, r.version, (extract(epoch from r.effective_at) * 1000)::bigint as effective_ms, r.seq,
            r.data::text as data, r.said
       from records r
      where r.version > 0 and (r.integration, r.type, r.id) in (
              select k.integration, k.type, k.id from unnest($1::text[], $2::text[]) as t (key, integration)
                join guest_keys k on k.key = t.key and (t.integration is null or k.integration = t.integration))
      order by r.integration, r.type, r.id for update`,
    [keys.map(({ key }) => key), keys.map(({ integration }) => integration ?? null)],
  );
  return rows.map((row) => {
    const decode = (text: string): Reservation | Guest =>
      row.type === 'guest' ? decodeRecord('guest', text) : readReservation(text);
    return {
      integration: row.integration,
      type: row.type,
      id: row.id,
      version: row.version,
      effectiveAt: row.effective_ms,
      seq: row.seq,
      record: decode(row.data),
      said: row.said ?? undefined,
      decode,
      isErased: () => false,
    };
  });
}
