import type { Brand } from '../../brand/brand.ts';
import type { Recognised } from '../../reconcile/erasure-port.ts';
import type { Statement } from '../../reconcile/forms.ts';
import { type Tx, together } from '../db/pool.ts';

const isOfEvent = ({ cause }: Statement['arrival']): boolean => cause === 'event' || cause === 'guest';

/** Intake holds it shared for its transaction, an erasure exclusively: no batch in progress can store the guest again. */
export const erasureLock = `hashtextextended('erasure', 0)`;

/** Keeps erasures out until the end of the transaction. True if guests were erased before. */
export async function lockErasures(tx: Tx, { erasure }: Brand): Promise<boolean> {
  if (erasure === undefined) return false;
  const [, any] = await together([
    tx.query({ name: 'erasure-lock', text: `select pg_advisory_xact_lock_shared(${erasureLock})` }),
    tx.query({ name: 'any-erased', text: 'select from erased_guests limit 1' }),
  ]);
  return any.rows.length > 0;
}

/**
 * Removes erased guests from incoming records, before anything is compared or stored, and their payload from stored events.
 */
export async function withoutErased(
  tx: Tx,
  target: Brand,
  statements: readonly Statement[],
): Promise<readonly Statement[]> {
  const { erasure, integration } = target;
  if (erasure === undefined || statements.length === 0) return statements;
  const hashesOf = new Map(statements.map((one) => [one, erasure.hashesOf(one, integration)]));
  const hashes = new Set([...hashesOf.values()].flat());
  const { rows } = await tx.query<{ hash: string; erasure_id: string }>(
    `select encode(hash, 'hex') as hash, erasure_id from erased_guests
      where hash in (select decode(h, 'hex') from unnest($1::text[]) as h)`,
    [[...hashes]],
  );
  if (rows.length === 0) return statements;
  const erased = new Map(rows.map((row) => [row.hash, row.erasure_id]));
  const namesErased = (one: Statement) => hashesOf.get(one)?.some((hash) => erased.has(hash)) === true;
  const othersOf = (one: Statement) => (namesErased(one) ? erasure.others(one, integration, erased) : []);
  await remember(tx, learn(statements, hashes, erased, othersOf));
  const stripped = statements.map((one) => (namesErased(one) ? erasure.strip(one, integration, erased) : one));
  const events = stripped.flatMap((one, i) =>
    one !== statements[i] && isOfEvent(one.arrival) ? [Number(one.arrival.causeId)] : [],
  );
  if (events.length > 0) {
    await tx.query(
      'update events set body = null, hydrated = null where integration = $1 and seq = any($2::bigint[])',
      [integration, events.filter(Number.isSafeInteger)],
    );
  }
  return stripped;
}

/**
 * An erased guest may arrive with keys that were unknown at the erasure, such as a new guest id, and the next message with that key only.
 * Adds those keys to `erased` where the batch has them, and returns them all, each with its erasure.
 */
function learn(
  statements: readonly Statement[],
  hashes: ReadonlySet<string>,
  erased: Map<string, string>,
  othersOf: (one: Statement) => readonly Recognised[],
): ReadonlyMap<string, string> {
  const learned = new Map<string, string>();
  for (let known = -1; known < erased.size; ) {
    known = erased.size;
    for (const { by, hashes: others } of statements.flatMap(othersOf)) {
      const erasureId = erased.get(by);
      for (const hash of erasureId === undefined ? [] : others) {
        if (erased.has(hash)) continue;
        learned.set(hash, erasureId as string);
        if (hashes.has(hash)) erased.set(hash, erasureId as string);
      }
    }
  }
  return learned;
}

/** In one order, so that two nodes do not deadlock. */
async function remember(tx: Tx, learned: ReadonlyMap<string, string>): Promise<void> {
  if (learned.size === 0) return;
  const rows = [...learned].sort(([a], [b]) => (a < b ? -1 : 1));
  await tx.query(
    `insert into erased_guests (hash, erasure_id)
     select decode(h, 'hex'), e from unnest($1::text[], $2::text[]) as t (h, e) on conflict do nothing`,
    [rows.map(([hash]) => hash), rows.map(([, erasureId]) => erasureId)],
  );
}
