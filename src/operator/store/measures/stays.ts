import type { Reservation } from '../../../core/canonical/reservation.ts';
import { rowsTable } from '../../../core/store/db/columns.ts';
import type { Pool } from '../../../core/store/db/pool.ts';
import { stayText } from '../../../core/store/records/sold.ts';
import { versionsBefore } from '../../../core/store/records/versions.ts';
import { parseJson } from '../../../kit/json.ts';

const batch = 500;
const earlier = rowsTable(2, { text: ['id', 'data'], int: ['version'], float8: ['from_ms', 'until_ms'] });

/**
 * Keeps the earlier versions of reservations, from the history, which is dropped in time. A version that was kept before is not written
 * again, so the work is that of the new changes.
 */
export async function keepEarlier(db: Pool, integration: string): Promise<void> {
  for (;;) {
    const { rows } = await db.query<{ id: string; version: number; data: string; made: string }>(
      `select r.id, r.version, r.data::text as data, m.made
         from records r
         left join (select id, max(version) as version from stays where integration = $1 group by id) s on s.id = r.id
        cross join lateral (
          select json_agg(json_build_object('version', h.version, 'diff', h.diff, 'at', extract(epoch from h.effective_at) * 1000)
                          order by h.version desc)::text as made
            from history h where h.integration = $1 and h.id = r.id and h.type = 'reservation' and h.diff is not null
             and h.version > coalesce(s.version, 0)
        ) m
        where r.integration = $1 and r.type = 'reservation' and r.version > coalesce(s.version, 0) + 1
          and m.made::json -> 0 ->> 'version' = r.version::text
        limit ${batch}`,
      [integration],
    );
    const kept = rows.flatMap(({ id, version, data, made }) =>
      earlierVersions(version, data, made).map((one) => ({ id, ...one })),
    );
    await db.query(
      `insert into stays (integration, id, version, from_at, until_at, data)
       select $1, id, version, to_timestamp(from_ms / 1000.0), to_timestamp(until_ms / 1000.0), data::json
         from ${earlier.sql}
           on conflict do nothing`,
      [integration, ...earlier.values(kept)],
    );
    if (rows.length < batch) return;
  }
}

function earlierVersions(newest: number, data: string, made: string) {
  const entries = parseJson(made) as unknown as { readonly version: number; readonly at: number }[];
  const at = new Map(entries.map((one) => [one.version, Number(one.at)]));
  return [...versionsBefore({ version: newest, data }, made)].map(({ version, data: text }) => ({
    version,
    from_ms: at.get(version),
    until_ms: at.get(version + 1),
    data: stayText(parseJson(text) as unknown as Reservation),
  }));
}
