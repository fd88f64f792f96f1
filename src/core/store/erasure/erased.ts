import { type Keyring, openText, seal } from '../../../kit/crypto.ts';
import type { EntityType, Json } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { Guest } from '../../canonical/reservation.ts';
import type { Recognised } from '../../reconcile/erasure-port.ts';
import type { Statement } from '../../reconcile/forms.ts';
import { rowsTable } from '../db/columns.ts';
import { changed, mapOf, type Pool, type Tx, together, transaction } from '../db/pool.ts';

const isOfEvent = ({ cause }: Statement['receipt']): boolean => cause === 'event' || cause === 'guest';

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
  const erased = await mapOf(tx)<string, string>(
    `select encode(g.hash, 'hex') as hash, g.erasure_id from erased_guests g join erasures e using (erasure_id)
      where g.hash in (select decode(h, 'hex') from unnest($1::text[]) as h) and coalesce(e.integration, $2) = $2
      order by e.integration`,
    [[...hashes], integration],
  );
  if (erased.size === 0) return statements;
  const namesErased = (one: Statement) => hashesOf.get(one)?.some((hash) => erased.has(hash)) === true;
  const othersOf = (one: Statement) => (namesErased(one) ? erasure.others(one, integration, erased) : []);
  await remember(tx, learn(statements, hashes, erased, othersOf));
  const stripped = statements.map((one) => (namesErased(one) ? erasure.strip(one, integration, erased) : one));
  const events = stripped.flatMap((one, i) =>
    one !== statements[i] && isOfEvent(one.receipt) ? [Number(one.receipt.causeId)] : [],
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

/** The version of a record that tells destinations whom to erase. */
interface ErasedVersion {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
}

const boundTo = ({ integration, type, id, version }: ErasedVersion): string =>
  `erased ${integration} ${type} ${id} ${version}`;

const keptRows = rowsTable(1, { text: ['integration', 'type', 'id'], int: ['version'], bytea: ['sealed'] });

/** Keeps what the guests were known by, for destinations that find them by it. */
export async function keepIdentifiers(
  tx: Tx,
  keyring: Keyring,
  kept: readonly (ErasedVersion & { readonly identifiers: Json })[],
): Promise<void> {
  await tx.query(
    `insert into erased_identifiers (integration, type, id, version, sealed)
     select ${keptRows.names} from ${keptRows.sql}`,
    keptRows.values(
      kept.map(({ identifiers, ...one }) => ({
        ...one,
        sealed: seal(keyring, JSON.stringify(identifiers), boundTo(one)),
      })),
    ),
  );
}

/** Nobody for a value that does not open: the erasure is delivered without identifiers. */
export function openIdentifiers(keyring: Keyring, version: ErasedVersion, sealed: Uint8Array): readonly Guest[] {
  return JSON.parse(openText(keyring, sealed, boundTo(version)) ?? '[]') as Guest[];
}

/** A destination that finds guests by identifiers has not confirmed the erasure. `$1`: their names; null for all. */
const waiting = `o.integration = e.integration and o.type = e.type and o.id = e.id and o.next_version <= e.version
  and o.next_version <= o.last_version and ($1::text[] is null or o.destination = any($1))`;

/** Deletes the identifiers once all destinations that need them have received them, with this version or a newer one. */
export const forgetDeliveredErasures = (db: Pool | Tx, needing?: readonly string[]): Promise<number> =>
  changed(db)(`delete from erased_identifiers e where not exists (select from outbox o where ${waiting})`, [needing]);

/** Deletes identifiers that a destination has refused for too long, and notes that in the receipts: they stay open. */
export async function giveUpErasures(db: Pool, needing: readonly string[], keptMs: number): Promise<number> {
  return transaction(db, async (tx) => {
    const late = `e.at < now() - $2 * interval '1 ms'`;
    const { rows } = await tx.query<{ erasure_id: string; integration: string; destination: string; records: number }>(
      `select r.cause_id as erasure_id, e.integration, o.destination, count(*)::int as records
         from erased_identifiers e
         join history r on r.integration = e.integration and r.type = e.type and r.id = e.id and r.version = e.version
                        and r.cause = 'erasure'
         join outbox o on ${waiting}
        where ${late} group by 1, 2, 3`,
      [needing, keptMs],
    );
    for (const { erasure_id: erasure, integration, destination, records } of rows) {
      await tx.query(
        `update erasures set receipt = (receipt::jsonb || jsonb_build_object('notified', (
            select jsonb_agg(case when notified ->> 'integration' = $2 and notified ->> 'destination' = $3
                                  then notified || jsonb_build_object('given_up', $4::int) else notified end order by n)
              from jsonb_array_elements(receipt::jsonb -> 'notified') with ordinality as t (notified, n))))
          where erasure_id = $1`,
        [erasure, integration, destination, records],
      );
    }
    return changed(tx)(`delete from erased_identifiers e where e.at < now() - $1 * interval '1 ms'`, [keptMs]);
  });
}
