import type { Reservation } from '../../canonical/reservation.ts';
import type { KnownRow, Pulled } from '../../intake/pull/run-state.ts';
import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import type { MessageOutcome, Prepared } from '../../reconcile/incoming.ts';
import { float8s, int4s, texts } from '../db/columns.ts';
import type { Pool, Tx } from '../db/pool.ts';

/**
 * Rows identical to what the partner sent before, mapped by the same documents and program. While the version they produced is
 * still the stored one, they change nothing, and mapping them again is skipped: about half of a poll's time (`npm run bench --
 * pull`, unchanged pages, 2-core arm64). Dates and status are stored here because reading them from a record means parsing it.
 */
export async function knownRows(
  pool: Pool,
  program: string,
  target: ApplyTarget,
  rows: readonly Pulled[],
): Promise<KnownRow[]> {
  if (rows.length === 0) return [];
  const { rows: known } = await pool.query<KnownRow>({
    name: 'known-rows',
    // A lateral lookup per row forces an index. As a plain join, PostgreSQL scanned the whole table for each page of a backfill. The
    // sub-select hides the brand: of a brand that is new since the last analyze the planner expects no rows, takes the index by arrival,
    // and reads all its rows for each lookup.
    text: `select p.*
             from unnest($2::text[], $3::float8[]) as t (key, content)
            cross join lateral (
                  select key, id, version, check_in, check_out, status from pulled
                   where integration = (select $1::text) and key = t.key and content = t.content and made_by = $4 limit 1) p`,
    values: [
      target.integration,
      texts(rows.map(({ key }) => key)),
      float8s(rows.map(({ content }) => content)),
      makerOf(program, target),
    ],
  });
  return known;
}

/** The known rows whose reservation has changed since, so that they must be mapped. */
export async function changedSince(tx: Tx, target: ApplyTarget, known: readonly KnownRow[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ key: string }>({
    name: 'changed-since',
    text: `select t.key from unnest($2::text[], $3::text[], $4::int[]) as t (key, id, version)
             left join lateral (select version from records
                                 where integration = $1 and type = 'reservation' and id = t.id limit 1) r on true
            where r.version is distinct from t.version`,
    values: [
      target.integration,
      texts(known.map(({ key }) => key)),
      texts(known.map(({ id }) => id)),
      int4s(known.map(({ version }) => version)),
    ],
  });
  return new Set(rows.map(({ key }) => key));
}

const settled: ReadonlySet<MessageOutcome['outcome']> = new Set(['created', 'updated', 'cancelled', 'unchanged']);

/** Rows with their records and outcomes, by position. */
interface AppliedRows {
  readonly pulled: readonly (Pulled | undefined)[];
  readonly prepared: readonly Prepared[];
  readonly outcomes: readonly MessageOutcome[];
}

/** Remembers the version each row produced. Rows that did not become the stored state (superseded, dropped, dead) are not remembered. */
export async function rememberRows(
  tx: Tx,
  program: string,
  target: ApplyTarget,
  { pulled, prepared, outcomes }: AppliedRows,
): Promise<void> {
  const kept = new Map<string, KnownRow & Pulled>();
  for (const [i, row] of pulled.entries()) {
    const [made, outcome] = [prepared[i], outcomes[i]];
    if (row === undefined) continue;
    kept.delete(row.key);
    if (made?.kind !== 'record' || outcome?.version === undefined || !settled.has(outcome.outcome)) continue;
    if (outcome.isOverruled) continue;
    const { id = made.incoming.id } = outcome;
    const { record } = made.incoming;
    const { check_in, check_out, status } = record as Reservation;
    kept.set(row.key, { ...row, id, version: outcome.version, check_in, check_out, status });
  }
  if (kept.size === 0) return;
  const values = [...kept.values()];
  await tx.query({
    name: 'remember-rows',
    text: `
     insert into pulled as p (integration, key, id, version, check_in, check_out, status, content, made_by)
     select $1, key, id, version, check_in::date, check_out::date, status, content, $9
       from unnest($2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::float8[])
         as t (key, id, version, check_in, check_out, status, content)
      order by key
         on conflict (integration, key) do update
        set id = excluded.id, version = excluded.version, check_in = excluded.check_in, check_out = excluded.check_out,
            status = excluded.status, content = excluded.content, made_by = excluded.made_by
      where (p.id, p.version, p.check_in, p.check_out, p.status, p.content, p.made_by) is distinct from
            (excluded.id, excluded.version, excluded.check_in, excluded.check_out, excluded.status, excluded.content, excluded.made_by)`,
    values: [
      target.integration,
      texts(values.map(({ key }) => key)),
      texts(values.map(({ id }) => id)),
      int4s(values.map(({ version }) => version)),
      texts(values.map(({ check_in }) => check_in)),
      texts(values.map(({ check_out }) => check_out)),
      texts(values.map(({ status }) => status)),
      float8s(values.map(({ content }) => content)),
      makerOf(program, target),
    ],
  });
}

function makerOf(program: string, { connectorVersion, integrationVersion, spellings }: ApplyTarget): string {
  const made = `${connectorVersion}.${integrationVersion}.${program}`;
  return spellings === undefined ? made : `${made}.${spellings}`;
}
