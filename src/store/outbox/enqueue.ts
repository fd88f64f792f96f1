import { int4s, texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { type ChangeStep, movesOf, type Target } from '../records/write.ts';

/**
 * An idle row becomes due now. A row that is queued, leased or held by a dead letter only gets the newer `last_version`. A record's
 * first row for a destination starts at the oldest version of this batch, so that no version is skipped.
 */
export async function enqueue(tx: Tx, brand: Target, changes: readonly ChangeStep[]): Promise<void> {
  const rows = movesOf(changes).flatMap((one) =>
    brand.destinations[one.newest.statement.type].map((destination) => ({ destination, ...one })),
  );
  if (rows.length === 0) return;
  await tx.query({
    name: 'enqueue',
    text: `
      insert into outbox as o (integration, destination, type, id, next_version, last_version, due_at)
      select $1, destination, type, id, first, last, now()
        from unnest($2::text[], $3::text[], $4::text[], $5::int[], $6::int[]) as t (destination, type, id, first, last)
       order by destination, type, id
          on conflict (integration, destination, type, id) do update
         set last_version = excluded.last_version,
             due_at = case when o.next_version > o.last_version and o.held_by is null then now() else o.due_at end`,
    values: [
      brand.integration,
      texts(rows.map((row) => row.destination)),
      texts(rows.map((row) => row.newest.statement.type)),
      texts(rows.map((row) => row.newest.statement.id)),
      int4s(rows.map((row) => row.first.decision.version)),
      int4s(rows.map((row) => row.newest.decision.version)),
    ],
  });
}
