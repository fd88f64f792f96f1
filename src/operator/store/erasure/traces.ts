import { columnsOf } from '../../../core/store/db/columns.ts';
import { changed, type Tx } from '../../../core/store/db/pool.ts';
import { parseJson } from '../../../kit/json.ts';
import type { Traces } from '../../privacy/traces.ts';
import { type FoundRecord, likePattern } from './find.ts';

type ErasedRecord = Pick<FoundRecord, 'integration' | 'type' | 'id'>;

/** A place outside the records in which a payload or a message may name the person. */
interface TracedColumn {
  readonly name: string;
  /** By default the name. */
  readonly table?: string;
  /** The primary key, as text columns. */
  readonly key: readonly string[];
  /** The texts to search, each an expression that gives text or null. */
  readonly texts: readonly string[];
  /** Which rows may be emptied; all by default. */
  readonly only?: string;
  /** The table has the columns of a record's key: payloads of erased records are removed whatever they contain. */
  readonly isOfRecord?: boolean;
  /** The statement without its condition; by default the rows are deleted. */
  readonly clean?: string;
}

export const places: readonly TracedColumn[] = [
  {
    name: 'events',
    key: ['integration', 'seq'],
    texts: [`convert_from(body, 'UTF8')`, `convert_from(hydrated, 'UTF8')`],
    // An event that is not processed yet keeps its payload; the person is removed when it is processed.
    only: `state in ('done', 'dead') and body is not null`,
    isOfRecord: true,
    clean: 'update events t set body = null, hydrated = null',
  },
  {
    name: 'dead_letters',
    key: ['integration', 'dead_letter_id'],
    texts: ['raw::text', 'detail::text', 'message', 'closed_reason'],
    only: `(detail <> '{"erased": true}' or closed_reason <> 'A guest in it was erased.')`,
    isOfRecord: true,
    clean: `update dead_letters t
               set raw = null, detail = '{"erased": true}', message = 'A guest in it was erased.',
                   state = case when state = 'open' and kind <> 'delivery' then 'dropped' else state end,
                   closed_at = coalesce(closed_at, case when kind <> 'delivery' then now() end),
                   closed_by = coalesce(closed_by, case when kind <> 'delivery' then 'erasure' end),
                   closed_reason = case when closed_reason is not null or kind <> 'delivery' then 'A guest in it was erased.' end`,
  },
  {
    name: 'pauses',
    table: 'partner_accounts',
    key: ['integration'],
    texts: ['pause_reason'],
    clean: `update partner_accounts t set pause_reason = 'A guest was erased.'`,
  },
  {
    name: 'raw_payloads',
    table: 'history',
    key: ['integration', 'entry_id'],
    texts: ['raw::text', 'notes::text', 'reason'],
    clean: `update history t set raw = null, notes = '[]', origins = null,
                   reason = case when reason is null then null else 'A guest was erased.' end`,
  },
  {
    name: 'staged_rows',
    key: ['integration', 'run_id', 'key', 'row_hash'],
    texts: ['row::text'],
  },
  {
    name: 'sandbox_reports',
    key: ['integration', 'report_id'],
    texts: ['report::text'],
  },
  {
    name: 'mapping_cases',
    key: ['connector', 'name'],
    texts: ['sample', 'expected::text'],
  },
  {
    name: 'answers',
    table: 'attempts',
    key: ['tableoid', 'ctid'],
    texts: ['message'],
    clean: 'update attempts t set message = null',
  },
  {
    name: 'runs',
    key: ['integration', 'run_id'],
    texts: ['error_message', 'partner_text'],
    clean: 'update runs t set error_message = null, partner_text = null',
  },
  {
    name: 'alerts',
    key: ['alert_id'],
    texts: ['message', 'detail::text'],
    clean: `update alerts t set message = 'A guest was erased.', detail = '{}'`,
  },
  {
    name: 'audit',
    key: ['audit_id'],
    texts: ['target::text'],
    clean: `update audit t set target = '{"erased": true}'`,
  },
  {
    name: 'drift',
    key: ['integration', 'field', 'value'],
    texts: ['value'],
  },
];

const batch = 500;

/** A row outside the records that names the person, or that is a payload of one of the records. */
interface TraceRow {
  readonly place: string;
  readonly key: string;
  readonly texts: readonly string[];
}

/**
 * Empties the other places that may name the person: payloads of the records, and payloads and messages that never became a record. Reads
 * whole tables: an erasure is rare and must be thorough.
 */
export async function eraseTraces(
  tx: Tx,
  records: readonly ErasedRecord[],
  traces: Traces,
): Promise<{ [where: string]: number }> {
  const counts: { [where: string]: number } = {};
  for (const place of places) counts[place.name] = await eraseTracesIn(tx, place, records, traces);
  return counts;
}

export async function eraseTracesIn(
  tx: Tx,
  place: TracedColumn,
  records: readonly ErasedRecord[],
  traces: Traces,
): Promise<number> {
  const keys: string[] = [];
  await scan(tx, place, records, traces, ({ key }) => keys.push(key));
  if (keys.length === 0) return 0;
  const { name, table = name, key, clean = `delete from ${table} t` } = place;
  return changed(tx)(`${clean} where ${keyOf(key)} = any($1::text[])`, [keys]);
}

/** The same rows, for an access request. */
export async function findTraces(
  tx: Tx,
  records: readonly ErasedRecord[],
  traces: Traces,
  onRow: (row: TraceRow) => void,
): Promise<void> {
  for (const place of places) await scan(tx, place, records, traces, onRow);
}

const keyOf = (columns: readonly string[]): string => columns.map((column) => `t.${column}::text`).join(` || ' ' || `);

/** PostgreSQL preselects rows; JSON that uses \u escapes is decoded here, since PostgreSQL compares it as written. */
async function scan(
  tx: Tx,
  { name, table = name, key, texts, only = 'true', isOfRecord = false }: TracedColumn,
  records: readonly ErasedRecord[],
  traces: Traces,
  onRow: (row: TraceRow) => void,
): Promise<void> {
  const ofRecord = isOfRecord
    ? `exists (select from unnest($3::text[], $4::text[], $5::text[]) as r (integration, type, id)
                where r.integration = t.integration and r.type = t.type and r.id = t.id)`
    : 'false';
  const reservationIds = records.filter(({ type }) => type === 'reservation').map(({ id }) => id);
  const ids = [...reservationIds, ...traces.guestIds].map((id) => JSON.stringify(id));
  const isAbout = (text: string) => ids.some((id) => text.includes(id)) && traces.namedIn(text);
  const all = texts.map((text) => `coalesce(${text}, '')`).join(` || ' ' || `);
  await tx.query(
    `declare trace_rows no scroll cursor for
     select ${keyOf(key)} as key, ${ofRecord} as of_record, array[${texts.join(', ')}] as texts
       from ${table} t, lateral (select ${all} as everything) e
      where ${only}
        and (${ofRecord} or everything like any($${isOfRecord ? 6 : 3}::text[]) or lower(everything) like any($1::text[])
             or exists (select from unnest($2::text[]) as n where everything ~ n) or everything like '%\\\\u%')`,
    [
      traces.addresses.map(likePattern),
      traces.numbers,
      ...(isOfRecord ? columnsOf(records, 'integration', 'type', 'id') : []),
      ids.map(likePattern),
    ],
  );
  for (;;) {
    const { rows } = await tx.query<{ key: string; of_record: boolean; texts: (string | null)[] }>(
      `fetch ${batch} from trace_rows`,
    );
    for (const row of rows) {
      const texts = row.texts.filter((text) => text !== null);
      if (row.of_record || texts.some((text) => names(traces, text) || isAbout(text)))
        onRow({ place: name, key: row.key, texts });
    }
    if (rows.length < batch) break;
  }
  await tx.query('close trace_rows');
}

function names(traces: Traces, text: string): boolean {
  if (traces.inText(text)) return true;
  if (!text.includes('\\u')) return false;
  try {
    return traces.inJson(parseJson(text));
  } catch {
    return false;
  }
}
