import type { ApplyTarget, Change } from './changes.ts';
import { int4s, texts } from './columns.ts';
import type { Tx } from './pool.ts';

/**
 * An idle row becomes due now; one that is waiting, leased or held back only learns of the newer version. A record's first
 * row for a destination begins at the oldest version of this batch, so that none is passed over.
 */
export async function enqueue(tx: Tx, target: ApplyTarget, changes: readonly Change[]): Promise<void> {
  const first = new Map<string, number>();
  for (const { type, id, version } of changes) if (!first.has(`${type} ${id}`)) first.set(`${type} ${id}`, version);
  const newest = new Map(changes.map((change) => [`${change.type} ${change.id}`, change])).values();
  const rows = [...newest].flatMap((change) =>
    target.destinations[change.type].map((destination) => ({ destination, change })),
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
      target.integration,
      texts(rows.map((row) => row.destination)),
      texts(rows.map((row) => row.change.type)),
      texts(rows.map((row) => row.change.id)),
      int4s(rows.map((row) => first.get(`${row.change.type} ${row.change.id}`) ?? row.change.version)),
      int4s(rows.map((row) => row.change.version)),
    ],
  });
}
