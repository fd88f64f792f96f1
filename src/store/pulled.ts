import type { KnownRow, Pulled, Target } from '../intake/pull/ports.ts';
import type { Outcome } from '../reconcile/incoming.ts';
import type { Pool, Tx } from './pool.ts';

/**
 * Rows that are known to change nothing: the partner sent them word for word before, the same documents and the same program
 * made of them the version that still stands. Reading such a row again would cost its way through shape, canonical,
 * normalize and transform, about half of a poll's time, to find the same.
 */
export async function knownRows(
  pool: Pool,
  program: string,
  target: Target,
  rows: readonly Pulled[],
): Promise<KnownRow[]> {
  if (rows.length === 0) return [];
  const { rows: known } = await pool.query<KnownRow>(
    `select p.key, p.id, p.version, r.data ->> 'check_in' as check_in, r.data ->> 'check_out' as check_out, r.data ->> 'status' as status
       from unnest($2::text[], $3::float8[]) as t (key, content)
       join pulled p on p.integration = $1 and p.key = t.key and p.content = t.content and p.made_by = $4
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = p.id and r.version = p.version`,
    [target.integration, rows.map(({ key }) => key), rows.map(({ content }) => content), makerOf(program, target)],
  );
  return known;
}

/** Of rows known a moment ago, those whose reservation has changed since: the page has to be read for them after all. */
export async function changedSince(tx: Tx, target: Target, known: readonly KnownRow[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ key: string }>(
    `select t.key from unnest($2::text[], $3::text[], $4::int[]) as t (key, id, version)
       left join records r on r.integration = $1 and r.type = 'reservation' and r.id = t.id
      where r.version is distinct from t.version`,
    [target.integration, known.map(({ key }) => key), known.map(({ id }) => id), known.map(({ version }) => version)],
  );
  return new Set(rows.map(({ key }) => key));
}

const settled: ReadonlySet<Outcome['outcome']> = new Set(['created', 'updated', 'cancelled', 'unchanged']);

/** Remembers what came of rows. A row that did not become the stored state (superseded, dropped, dead) is not remembered. */
export async function rememberRows(
  tx: Tx,
  program: string,
  target: Target,
  rows: readonly (Pulled | undefined)[],
  outcomes: readonly Outcome[],
): Promise<void> {
  const kept = new Map<string, { content: number; id: string; version: number }>();
  for (const [i, row] of rows.entries()) {
    const outcome = outcomes[i];
    if (row === undefined || outcome?.id === undefined || outcome.version === undefined) continue;
    if (settled.has(outcome.outcome))
      kept.set(row.key, { content: row.content, id: outcome.id, version: outcome.version });
    else kept.delete(row.key);
  }
  if (kept.size === 0) return;
  const values = [...kept.values()];
  await tx.query(
    `insert into pulled as p (integration, key, id, version, content, made_by)
     select $1, key, id, version, content, $6
       from unnest($2::text[], $3::text[], $4::int[], $5::float8[]) as t (key, id, version, content)
      order by key
         on conflict (integration, key) do update
        set id = excluded.id, version = excluded.version, content = excluded.content, made_by = excluded.made_by`,
    [
      target.integration,
      [...kept.keys()],
      values.map(({ id }) => id),
      values.map(({ version }) => version),
      values.map(({ content }) => content),
      makerOf(program, target),
    ],
  );
}

function makerOf(program: string, { connectorVersion, integrationVersion }: Target): string {
  return `${connectorVersion}.${integrationVersion}.${program}`;
}
