import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { foldName } from '../../persons/fold.ts';
import { keyTexts } from '../../persons/identifiers.ts';
import type { EntityType, IntegrationName } from '../../terms.ts';
import { texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';

/** A record before and after a batch, for its search keys. */
export interface KeyedRecord {
  readonly type: EntityType;
  readonly id: string;
  readonly was: unknown;
  readonly now: unknown;
}

interface KeyRow {
  readonly type: EntityType;
  readonly id: string;
  readonly key: string;
}

/** Updates the search keys of changed records. */
export function moveGuestKeys(
  tx: Tx,
  integration: IntegrationName,
  records: readonly KeyedRecord[],
): Promise<unknown>[] {
  const gone: KeyRow[] = [];
  const come: KeyRow[] = [];
  for (const { type, id, was, now } of records) {
    const before = keysOf(type, was);
    const after = keysOf(type, now);
    for (const key of before) if (!after.has(key)) gone.push({ type, id, key });
    for (const key of after) if (!before.has(key)) come.push({ type, id, key });
  }
  const statements: Promise<unknown>[] = [];
  if (gone.length > 0) {
    const text = `
      delete from guest_keys k using unnest($2::text[], $3::text[], $4::text[]) as t (type, id, key)
       where k.key = t.key and k.id = t.id and k.integration = $1 and k.type = t.type and k.key = any($4::text[])`;
    const columns = [gone.map(({ type }) => type), gone.map(({ id }) => id), gone.map(({ key }) => key)];
    statements.push(tx.query({ name: 'guest-keys-gone', text, values: [integration, ...columns.map(texts)] }));
  }
  for (const [type, rows] of Map.groupBy(come, (row) => row.type)) {
    const text = `
      insert into guest_keys (integration, type, id, key)
      select $1, $2, * from unnest($3::text[], $4::text[])`;
    const values = [integration, type, texts(rows.map(({ id }) => id)), texts(rows.map(({ key }) => key))];
    statements.push(tx.query({ name: 'guest-keys-come', text, values }));
  }
  return statements;
}

/**
 * Keys by which guests are matched and by which people search: names and numbers in lower case. The address as the partner wrote it is
 * a key only if it differs from the cleaned one in more than letter case.
 */
function keysOf(type: EntityType, record: unknown): ReadonlySet<string> {
  const keys = new Set<string>();
  if (record === undefined || record === null) return keys;
  const guests = guestsOf(type, record);
  for (const guest of guests) {
    const { email, email_proxy, email_raw } = guest;
    for (const key of keyTexts(guest)) keys.add(key);
    if (email && email_proxy === true) keys.add(`alias:${email}`);
    const asWritten = email_raw?.slice(0, 320).toLowerCase();
    if (asWritten && asWritten !== email) keys.add(`email_raw:${asWritten}`);
    const name = nameKey(guest);
    if (name !== undefined) keys.add(name);
  }
  for (const { extra } of guests) for (const key of extraKeys(extra)) keys.add(key);
  if (type === 'guest') return keys;
  const { confirmation_number: number, check_in, extra } = record as Partial<Reservation>;
  if (number) keys.add(`confirmation_number:${number.slice(0, 200).toLowerCase()}`);
  if (check_in) keys.add(`check_in:${check_in}`);
  for (const key of extraKeys(extra)) keys.add(key);
  return keys;
}

const guestsOf = (type: EntityType, record: unknown): readonly Guest[] =>
  type === 'guest' ? [record as Guest] : ((record as Partial<Reservation> | undefined)?.guests ?? []);

/** The last name followed by the first name: callers give both, and the most common last name has thousands of guests. */
export function nameKey({ first_name, last_name }: Guest): string | undefined {
  if (!last_name) return undefined;
  const first = first_name ? `, ${foldName(first_name.slice(0, 60))}` : '';
  return `last_name:${foldName(last_name.slice(0, 100))}${first}`;
}

const mostExtra = 10;

/** Further fields that look like a number a guest may quote: of a booking site, a room, a loyalty card. */
function extraKeys(extra: { readonly [name: string]: unknown } | undefined): string[] {
  const found = new Set<string>();
  for (const value of Object.values(extra ?? {})) {
    if (found.size === mostExtra) break;
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const text = String(value).trim().toLowerCase();
    if (isReadOut.test(text)) found.add(`extra:${text}`);
  }
  return [...found];
}

/** A digit, 2 to 40 characters without spaces, and neither a date nor a time. */
const isReadOut = /^(?=.*\d)(?!\d{4}-\d{2}-\d{2})[^\s:]{2,40}$/;
