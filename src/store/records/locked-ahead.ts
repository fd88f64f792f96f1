import type { EpochMs, IntegrationName } from '../../terms.ts';
import { float8s, texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { lockedRows, lockSql, type Row } from './locked-records.ts';

/**
 * The rows of reservations that a transaction locked with its first statements, before their messages were read. Each is given out once,
 * because the row is changed after that.
 */
export class LockedAhead {
  readonly #rows: Map<string, Row | null>;

  constructor(rows: Map<string, Row | null>) {
    this.#rows = rows;
  }

  hasRow(id: string): boolean {
    return (this.#rows.get(id) ?? null) !== null;
  }

  /** Null if there was no row; undefined if nobody looked. */
  take(id: string): Row | null | undefined {
    const row = this.#rows.get(id);
    this.#rows.delete(id);
    return row;
  }
}

/** Locks the rows in the order of their ids. `wanted` has the time of the oldest event of each; without a time it happens now. */
export async function lockAhead(
  tx: Tx,
  integration: IntegrationName,
  wanted: ReadonlyMap<string, EpochMs | undefined>,
): Promise<LockedAhead> {
  const found = new Map([...wanted.keys()].map((id): [string, Row | null] => [id, null]));
  if (wanted.size === 0) return new LockedAhead(found);
  const { rows } = await tx.query<Row>({
    name: 'lock-ahead',
    // Sub-selects keep the plan, see insertSql of changes.
    text: `with locked as materialized (${lockSql('(select $3::text[])')})
           ${lockedRows('(select $3::text[])', '(select $4::float8[])')}`,
    values: [integration, 'reservation', texts([...wanted.keys()]), float8s([...wanted.values()])],
  });
  for (const row of rows) found.set(row.id, row);
  return new LockedAhead(found);
}
