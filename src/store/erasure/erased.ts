import type { Prepared } from '../../reconcile/incoming.ts';
import { type Tx, together } from '../db/pool.ts';
import type { ApplyTarget } from '../records/changes.ts';

/** How erased guests are recognised and taken out, without the store knowing any of them. */
export interface ErasurePort {
  /** Keyed hashes (hex) of all that the guests of a record are known by. */
  hashesOf(prepared: Prepared, integration: string): readonly string[];
  /** The record without the guests among these hashes; the same object where there are none. */
  strip(prepared: Prepared, integration: string, erased: ReadonlySet<string>): Prepared;
}

/** Intake holds it shared for the length of its transaction, an erasure alone: no batch that is under way brings a guest back. */
export const erasureLock = `hashtextextended('erasure', 0)`;

/** What comes in, without the guests that were erased, before anything of it is compared or stored. */
export async function withoutErased(
  tx: Tx,
  target: ApplyTarget,
  prepared: readonly Prepared[],
): Promise<readonly Prepared[]> {
  const { erasure, integration } = target;
  if (erasure === undefined || prepared.length === 0) return prepared;
  const [, any] = await together(tx, () => [
    tx.query(`select pg_advisory_xact_lock_shared(${erasureLock})`),
    tx.query('select from erased_guests limit 1'),
  ]);
  if (any.rows.length === 0) return prepared;
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
    one !== prepared[i] && one.arrival.cause === 'event' ? [Number(one.arrival.causeId)] : [],
  );
  if (events.length > 0) {
    await tx.query(
      'update events set body = null, hydrated = null where integration = $1 and seq = any($2::bigint[])',
      [integration, events.filter(Number.isSafeInteger)],
    );
  }
  return stripped;
}
