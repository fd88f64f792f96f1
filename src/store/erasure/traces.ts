import type { Pool } from '../db/pool.ts';
import type { ErasedRecord } from './erase.ts';

/**
 * What else may hold the guest: payloads around the records, and payloads that never became one, which only their text can
 * tell. Whole tables are read: an erasure is rare and must be thorough. Work that is not done yet keeps its payload; the guest
 * is taken out of it when it is done.
 */
export async function eraseTraces(
  db: Pool,
  records: readonly ErasedRecord[],
  texts: readonly string[],
): Promise<{ [where: string]: number }> {
  const found = [
    records.map(({ integration }) => integration),
    records.map(({ type }) => type),
    records.map(({ id }) => id),
  ];
  const patterns = texts.map((text) => `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`);
  const count = async (sql: string, values: unknown[]): Promise<number> => (await db.query(sql, values)).rowCount ?? 0;
  const isRecord = (
    row: string,
  ) => `exists (select from unnest($1::text[], $2::text[], $3::text[]) as t (integration, type, id)
    where t.integration = ${row}.integration and t.type = ${row}.type and t.id = ${row}.id)`;
  const speaks = (column: string, parameter: string) => `lower(${column}) like any(${parameter}::text[])`;
  return {
    events: await count(
      `update events e set body = null, hydrated = null
        where state in ('done', 'dead') and body is not null
          and (${isRecord('e')} or ${speaks(`convert_from(e.body, 'UTF8')`, '$4')} or ${speaks(`coalesce(convert_from(e.hydrated, 'UTF8'), '')`, '$4')})`,
      [...found, patterns],
    ),
    dead_letters: await count(
      `update dead_letters d
          set raw = null, detail = '{"erased": true}',
              state = case when state = 'open' and kind <> 'delivery' then 'dropped' else state end,
              closed_at = coalesce(closed_at, case when kind <> 'delivery' then now() end),
              closed_by = coalesce(closed_by, case when kind <> 'delivery' then 'erasure' end),
              closed_reason = coalesce(closed_reason, case when kind <> 'delivery' then 'A guest in it was erased.' end)
        where detail <> '{"erased": true}'
          and (${isRecord('d')} or ${speaks(`coalesce(d.raw::text, '') || d.detail::text`, '$4')})`,
      [...found, patterns],
    ),
    raw_payloads: await count(
      `update receipts set raw = null, notes = '[]' where raw is not null and (${speaks('raw::text', '$1')} or ${speaks('notes::text', '$1')})`,
      [patterns],
    ),
    staged_rows: await count(`delete from staged_rows where ${speaks('row::text', '$1')}`, [patterns]),
    // Few and short: all of them go, in whatever encoding the partner quoted the guest.
    partner_texts: await count('update runs set partner_text = null where partner_text is not null', []),
    sandbox_reports: await count(`delete from sandbox_reports where ${speaks('report::text', '$1')}`, [patterns]),
    answers: await count(
      `update attempts set message = null where message is not null and ${speaks('message', '$1')}`,
      [patterns],
    ),
  };
}

/** What destinations needed to find the guest goes as soon as all of them were told; a newer version tells no less. */
export async function forgetToldErasures(db: Pool): Promise<number> {
  const { rowCount } = await db.query(
    `update changes c set erased = null
      where c.erased is not null and not exists (
        select from outbox o where o.integration = c.integration and o.type = c.type and o.id = c.id
           and o.next_version <= c.version and o.next_version <= o.last_version)`,
  );
  return rowCount ?? 0;
}
