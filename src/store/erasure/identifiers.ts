import type { Guest } from '../../canonical/reservation.ts';
import { type Keyring, open, seal } from '../../kit/crypto.ts';
import type { EntityType, Json } from '../../terms.ts';
import { rowsTable } from '../db/columns.ts';
import { type Pool, type Tx, transaction } from '../db/pool.ts';

/** The version of a record that tells destinations whom to erase. */
export interface ErasedVersion {
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
  const opened = open(keyring, sealed, boundTo(version));
  return opened.kind === 'ok' ? (JSON.parse(opened.plaintext.toString('utf8')) as Guest[]) : [];
}

/** A destination that finds guests by identifiers has not confirmed the erasure. `$1`: their names; null for all. */
const waiting = `o.integration = e.integration and o.type = e.type and o.id = e.id and o.next_version <= e.version
  and o.next_version <= o.last_version and ($1::text[] is null or o.destination = any($1))`;

/** Deletes the identifiers once all destinations that need them have received them, with this version or a newer one. */
export async function forgetDeliveredErasures(db: Pool | Tx, needing?: readonly string[]): Promise<number> {
  const { rowCount } = await db.query(
    `delete from erased_identifiers e where not exists (select from outbox o where ${waiting})`,
    [needing ?? null],
  );
  return rowCount ?? 0;
}

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
    const { rowCount } = await tx.query(`delete from erased_identifiers e where e.at < now() - $1 * interval '1 ms'`, [
      keptMs,
    ]);
    return rowCount ?? 0;
  });
}
