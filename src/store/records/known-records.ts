import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import type { Arriving } from '../../reconcile/decision.ts';
import type { MessageOutcome, Prepared } from '../../reconcile/incoming.ts';
import type { EntityType } from '../../terms.ts';
import { texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';

interface KnownRecord {
  readonly id: string;
  readonly version: number;
  /** Hash of the pulled row that the record agrees with. */
  readonly pulledHash: string;
}

export type KnownRecords = ReadonlyMap<string, KnownRecord>;

/** Existing rows of polled records, by type. Records of events are always locked, so nothing is read ahead for them. */
export async function knownRecords(
  tx: Tx,
  target: ApplyTarget,
  prepared: readonly Prepared[],
): Promise<ReadonlyMap<EntityType, KnownRecords>> {
  const ids = new Map<EntityType, string[]>();
  for (const one of prepared) {
    if (one.arrival.cause !== 'run') continue;
    const [type, id] =
      one.kind === 'record' ? [one.incoming.type, one.incoming.id] : ['reservation' as const, one.message?.id];
    if (id === undefined) continue;
    const ofType = ids.get(type);
    if (ofType) ofType.push(id);
    else ids.set(type, [id]);
  }
  const found = [...ids].map(async ([type, ofType]): Promise<[EntityType, KnownRecords]> => {
    const { rows } = await tx.query<KnownRecord>({
      name: 'known-records',
      text: `select id, version, encode(coalesce(pulled_hash, hash), 'hex') as "pulledHash" from records
              where integration = $1 and type = $2 and id = any($3::text[])`,
      values: [target.integration, type, texts(ofType)],
    });
    return [type, new Map(rows.map((row) => [row.id, row]))];
  });
  return new Map(await Promise.all(found));
}

export type PreparedRecord = Extract<Prepared, { kind: 'record' }>;

/** False for polled records that repeat the last pulled row, and that the batch has once: nothing will be stored of them. */
export function isNews(
  batch: readonly Prepared[],
  hashOf: (one: PreparedRecord) => string,
  known: ReadonlyMap<EntityType, KnownRecords>,
): (one: Prepared) => boolean {
  const times = Map.groupBy(batch, idOf);
  return (one) => {
    if (one.kind !== 'record' || one.arrival.cause !== 'run' || times.get(idOf(one))?.length !== 1) return true;
    return known.get(one.incoming.type)?.get(one.incoming.id)?.pulledHash !== hashOf(one);
  };
}

const idOf = (one: Prepared): string | undefined => (one.kind === 'record' ? one.incoming.id : one.message?.id);

/**
 * Sets aside polled records that repeat the last pulled row while all of that row is in force: they change nothing, whatever other
 * sources added. No row is locked or written for them.
 */
export function withoutUnchanged(
  items: readonly Arriving[],
  known: KnownRecords,
  outcomes: MessageOutcome[],
  seen: string[],
): readonly Arriving[] {
  const times = new Map<string, number>();
  for (const { id } of items) times.set(id, (times.get(id) ?? 0) + 1);
  return items.filter((item) => {
    const row = known.get(item.id);
    // A row without a record, such as a dropped one, has an empty hash, and so has a record that agrees with no row.
    const isSame = row !== undefined && item.hash !== '' && row.pulledHash === item.hash;
    const isUnchanged = isSame && item.arrival.cause === 'run' && times.get(item.id) === 1;
    if (isUnchanged) {
      outcomes[item.index] = { outcome: 'unchanged', id: item.id, version: row.version };
      seen.push(item.id);
    }
    return !isUnchanged;
  });
}
