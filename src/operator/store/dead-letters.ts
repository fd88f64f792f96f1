import { z } from 'zod';
import { entityType } from '../../core/canonical/schema.ts';
import { cellOf, numberOf, type Pool, rowOf, rowsOf, type Tx, type UnreadRow } from '../../core/store/db/pool.ts';
import { versionOf, versionsAfter } from '../../core/store/records/versions.ts';
import { parseJson } from '../../kit/json.ts';
import { anyJson, instant, type Row } from './answers.ts';

export const letterKinds = ['event', 'record', 'delivery'] as const;
type DeadLetterKind = (typeof letterKinds)[number];
type DeadLetterState = DeadLetter['state'];

export const letterSchema = z.object({
  id: z.string(),
  kind: z.enum(letterKinds),
  integration: z.string(),
  type: entityType.nullable(),
  record_id: z.string().nullable(),
  destination: z.string().nullable(),
  version: z.int().nullable(),
  code: z.string(),
  message: z.string(),
  times: z.int(),
  at: instant,
  last_at: instant,
  state: z.enum(['open', 'replayed', 'dropped']),
});
export type DeadLetter = Row<typeof letterSchema>;

export interface DeadLetterFilter {
  readonly state?: DeadLetterState | 'all' | undefined;
  readonly integration?: string | undefined;
  readonly kind?: DeadLetterKind | undefined;
  readonly destination?: string | undefined;
  readonly code?: string | undefined;
  readonly recordId?: string | undefined;
  /** The exact message: the letters of one reason. */
  readonly message?: string | undefined;
  /** Part of an id, a message or a code. */
  readonly text?: string | undefined;
  /** Only those whose last failure is at or after this time. */
  readonly since?: Date | undefined;
  /** Only those with a greater id, for paging. */
  readonly after?: string | undefined;
  /** Only those with this id or a smaller one. */
  readonly upTo?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** Only these brands, for callers with limited access. */
  readonly integrations?: readonly string[] | undefined;
  readonly limit?: number | undefined;
}

/** Oldest first: the order of a replay. */
export async function listDeadLetters(db: Pool | Tx, filter: DeadLetterFilter = {}): Promise<DeadLetter[]> {
  const { where, values } = conditions(filter);
  return rowsOf(db)<DeadLetter>(
    `select dead_letter_id::text as id, kind, integration, type, id as record_id, destination, version, code, message,
  times, at, last_at, state from dead_letters where ${where} order by dead_letter_id limit $${values.length + 1}`,
    [...values, filter.limit ?? 1_000],
  );
}

export async function countDeadLetters(db: Pool | Tx, filter: DeadLetterFilter = {}): Promise<number> {
  const { where, values } = conditions(filter);
  return numberOf(db)(`select count(*)::int as count from dead_letters where ${where}`, values);
}

/** How many match, by code, and the newest of them. */
export async function summarizeDeadLetters(
  db: Pool | Tx,
  filter: DeadLetterFilter,
): Promise<readonly { readonly code: string; readonly count: number; readonly newest: string }[]> {
  const { where, values } = conditions(filter);
  return rowsOf(db)<{ code: string; count: number; newest: string }>(
    `select code, count(*)::int as count, max(dead_letter_id)::text as newest from dead_letters where ${where}
      group by code order by count desc, code`,
    values,
  );
}

/** Why they failed: one row for each reason, those of most records first. */
export async function deadLetterReasons(db: Pool, filter: DeadLetterFilter): Promise<UnreadRow[]> {
  const { where, values } = conditions(filter);
  return rowsOf(db)<UnreadRow>(
    `select code, message, kind, destination, count(distinct (integration, coalesce(id, fingerprint)))::int as records,
            sum(times)::int as times, (array_agg(distinct integration))[1:5] as integrations, count(distinct integration)::int as brands,
            coalesce((array_agg(distinct id) filter (where id is not null))[1:5], '{}') as ids,
            max(dead_letter_id)::text as newest, min(at) as at, max(last_at) as last_at
       from dead_letters where ${where} group by code, message, kind, destination
      order by records desc, times desc, last_at desc limit $${values.length + 1}`,
    [...values, filter.limit ?? 100],
  );
}

function conditions(filter: DeadLetterFilter): { where: string; values: unknown[] } {
  const values: unknown[] = [];
  const parts: string[] = [];
  const add = (sql: string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    parts.push(sql.replace('?', `$${values.length}`));
  };
  if (filter.state !== 'all') add('state = ?', filter.state ?? 'open');
  add('integration = ?', filter.integration);
  add('kind = ?', filter.kind);
  add('destination = ?', filter.destination);
  add('code = ?', filter.code);
  // Held rows have a list of their own; by their code or id they are found here too.
  add('id = ?', filter.recordId);
  add('message = ?', filter.message);
  add(
    `(coalesce(id, '') || ' ' || code || ' ' || message) ilike ?`,
    filter.text && `%${filter.text.replace(/[\\%_]/g, '\\$&')}%`,
  );
  add('last_at >= ?', filter.since);
  add('dead_letter_id > ?::bigint', filter.after);
  add('dead_letter_id <= ?::bigint', filter.upTo);
  add('dead_letter_id = any(?::bigint[])', filter.ids);
  add('integration = any(?)', filter.integrations);
  return { where: parts.length === 0 ? 'true' : parts.join(' and '), values };
}

const attempt = z.object({
  version: z.int(),
  attempt: z.int(),
  at: z.string(),
  outcome: z.string(),
  code: z.string().nullable(),
  status: z.int().nullable(),
  message: z.string().nullable(),
  duration_ms: z.int().nullable(),
  node: z.string().nullable(),
});

/**
 * A dead letter with its payload and its history. Holds guest data. Of a delivery: the version to deliver, its attempts, and the number of
 * newer versions waiting behind it. Of an event: the received body, while it is retained.
 */
export const wholeLetterSchema = letterSchema.extend({
  detail: anyJson,
  raw: anyJson,
  cause: z.string().nullable(),
  cause_id: z.string().nullable(),
  connector_version: z.int().nullable(),
  integration_version: z.int().nullable(),
  closed_at: instant.nullable(),
  closed_by: z.string().nullable(),
  closed_reason: z.string().nullable(),
  data: anyJson,
  attempts: z.array(attempt),
  waiting_behind: z.int(),
  event: anyJson,
  effective_at: instant.nullable(),
});
export type WholeDeadLetter = Row<typeof wholeLetterSchema>;

export async function showDeadLetter(db: Pool | Tx, id: string): Promise<WholeDeadLetter | undefined> {
  if (!/^\d{1,18}$/.test(id)) return undefined;
  const row = await rowOf(db)<
    WholeDeadLetter & { newest: number | null; newest_data: string | null; made: string | null }
  >(
    `select d.dead_letter_id::text as id, d.kind, d.integration, d.type, d.id as record_id, d.destination, d.version, d.code,
            d.message, d.times, d.at, d.last_at, d.state, d.detail, d.raw, d.cause, d.cause_id, d.connector_version,
            d.integration_version, d.closed_at, d.closed_by, d.closed_reason,
            c.version as newest, c.data::text as newest_data, ${versionsAfter('c', 'd.version')} as made,
            coalesce((select json_agg(a order by a.at) from (
              select version, attempt, at, outcome, code, status, message, duration_ms, node from attempts a
               where d.kind = 'delivery' and a.integration = d.integration and a.type = d.type and a.id = d.id
                 and a.destination = d.destination and a.version = d.version) a), '[]') as attempts,
            coalesce((select o.last_version - o.next_version from outbox o
               where o.integration = d.integration and o.destination = d.destination and o.type = d.type and o.id = d.id
                 and o.held_by = d.dead_letter_id), 0) as waiting_behind,
            (select json_build_object('event', e.event, 'event_id', e.event_id, 'received_at', e.received_at,
                                      'occurred_at', e.occurred_at, 'state', e.state,
                                      'body', convert_from(e.body, 'UTF8')::json,
                                      'hydrated', convert_from(e.hydrated, 'UTF8')::json)
               from events e where d.kind = 'event' and e.integration = d.integration and e.seq::text = d.cause_id) as event,
            coalesce(
              (select max(r.effective_at) from history r
                where d.kind = 'record' and r.integration = d.integration and r.type = d.type and r.id = d.id
                  and r.outcome = 'dead' and r.cause_id = d.cause_id),
              (select least(e.occurred_at, e.received_at) from events e
                where d.kind = 'event' and e.integration = d.integration and e.seq::text = d.cause_id),
              d.last_at) as effective_at
       from dead_letters d
       left join records c on d.kind = 'delivery' and c.integration = d.integration and c.type = d.type and c.id = d.id
      where d.dead_letter_id = $1::bigint`,
    [id],
  );
  if (row === undefined) return undefined;
  const { newest, newest_data, made, ...letter } = row;
  if (newest === null || newest_data === null || letter.version === null) return { ...letter, data: null };
  const data = versionOf(letter.version, { version: newest, data: newest_data }, made);
  return { ...letter, data: data === undefined ? null : parseJson(data) };
}

/** The last failure inside this transaction, for an operator. */
export async function newestFailure(
  tx: Tx,
  integration: string,
): Promise<{ readonly code: string; readonly message: string }> {
  const newest = await rowOf(tx)<{ code: string; message: string }>(
    `select code, message from dead_letters where integration = $1 and state = 'open' and last_at = now()
      order by dead_letter_id desc limit 1`,
    [integration],
  );
  return newest ?? { code: 'record.invalid', message: 'It fails again.' };
}

/** The brand that owns a dead letter. Used to check access before anything is shown. */
export async function deadLetterIntegration(db: Pool, id: string): Promise<string | undefined> {
  if (!/^\d{1,18}$/.test(id)) return undefined;
  return cellOf(db)('select integration from dead_letters where dead_letter_id = $1::bigint', [id]);
}
