import { rowsTable } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { type ChangeStep, movesOf, type Target } from '../records/write.ts';

const queued = rowsTable(2, { text: ['destination', 'type', 'id'], int: ['first', 'last'] });

/**
 * An idle row becomes due now. A row that is queued, leased or held by a dead letter only gets the newer `last_version`. A record's
 * first row for a destination starts at the oldest version of this batch, so that no version is skipped.
 */
export async function enqueue(tx: Tx, brand: Target, changes: readonly ChangeStep[]): Promise<void> {
  const rows = movesOf(changes).flatMap(({ first, newest }) => {
    const { type, id } = newest.statement;
    const versions = { first: first.decision.version, last: newest.decision.version };
    return brand.destinations[type].map((destination) => ({ destination, type, id, ...versions }));
  });
  if (rows.length === 0) return;
  await tx.query({
    name: 'enqueue',
    text: `
      insert into outbox as o (integration, destination, type, id, next_version, last_version, due_at)
      select $1, destination, type, id, first, last, now()
        from ${queued.sql}
       order by destination, type, id
          on conflict (integration, destination, type, id) do update
         set last_version = excluded.last_version,
             due_at = case when o.next_version > o.last_version and o.held_by is null then now() else o.due_at end`,
    values: [brand.integration, ...queued.values(rows)],
  });
}
