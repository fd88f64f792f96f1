import type { Prepared } from '../../reconcile/incoming.ts';
import { type Tx, together } from '../db/pool.ts';
import type { ApplyTarget } from '../records/changes.ts';

/** Recognises and removes erased guests; the store has only their hashes. */
export interface ErasurePort {
  /** Keyed hashes (hex) of everything that identifies the guests of a record. */
  hashesOf(prepared: Prepared, integration: string): readonly string[];
  /** The record without the guests among these hashes; the same object if there are none. */
  strip(prepared: Prepared, integration: string, erased: ReadonlySet<string>): Prepared;
}

const isOfEvent = ({ cause }: Prepared['arrival']): boolean => cause === 'event' || cause === 'guest';

/** Intake holds it shared for its transaction, an erasure exclusively: no batch in progress can store the guest again. */
export const erasureLock = `hashtextextended('erasure', 0)`;

/** Keeps erasures out until the end of the transaction. True if guests were erased before. */
async function lockErasures(tx: Tx): Promise<boolean> {
  const [, any] = await together(tx, () => [
    tx.query({ name: 'erasure-lock', text: `select pg_advisory_xact_lock_shared(${erasureLock})` }),
    tx.query({ name: 'any-erased', text: 'select from erased_guests limit 1' }),
  ]);
  return any.rows.length > 0;
}

/**
 * Removes erased guests from incoming records, before anything is compared or stored, and their payload from stored events.
 * `onErased` gets the events, for a caller that has not stored them yet. `hasErased`: the caller holds `erasureLock` and
 * knows whether guests were erased.
 */
export async function withoutErased(
  tx: Tx,
  target: ApplyTarget,
  prepared: readonly Prepared[],
  onErased?: (seqs: readonly number[]) => void,
  hasErased?: boolean,
): Promise<readonly Prepared[]> {
  const { erasure, integration } = target;
  if (erasure === undefined || prepared.length === 0) return prepared;
  if (!(hasErased ?? (await lockErasures(tx)))) return prepared;
  const hashes = [...new Set(prepared.flatMap((one) => erasure.hashesOf(one, integration)))];
  const { rows } = await tx.query<{ hash: string }>(
    `select encode(hash, 'hex') as hash from erased_guests
      where hash in (select decode(h, 'hex') from unnest($1::text[]) as h)`,
    [hashes],
  );
  if (rows.length === 0) return prepared;
  const erased = new Set(rows.map((row) => row.hash));
  const stripped = prepared.map((one) => erasure.strip(one, integration, erased));
  const events = stripped.flatMap((one, i) =>
    one !== prepared[i] && isOfEvent(one.arrival) ? [Number(one.arrival.causeId)] : [],
  );
  if (events.length > 0) {
    onErased?.(events);
    await tx.query(
      'update events set body = null, hydrated = null where integration = $1 and seq = any($2::bigint[])',
      [integration, events.filter(Number.isSafeInteger)],
    );
  }
  return stripped;
}
