import type { ChangeEvent, EntityType, EpochMs } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import { statedGuest } from '../../canonical/stated-guest.ts';
import type { Decided } from '../../reconcile/accidents/signs.ts';
import {
  type Change,
  type Decision,
  type RecordState,
  recordKey,
  type Statement,
  type Stored,
} from '../../reconcile/forms.ts';
import type { StoredClaims } from '../../reconcile/stored-claims.ts';
import { rowsTable } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { keysText } from './search-keys.ts';

/** Where records are written: a brand, or what is left of one that is no longer in force. */
export type Target = Pick<Brand, 'integration' | 'connectorVersion' | 'integrationVersion' | 'destinations'> &
  Partial<Pick<Brand, 'shapers'>>;

/** A statement that made a version. */
export type ChangeStep = Decided & { readonly decision: Change };

export const isChange = (step: Decided): step is ChangeStep => step.decision.kind === 'change';

/** Each record with its oldest and its newest version of the batch. */
export function movesOf(changes: readonly ChangeStep[]): { readonly first: ChangeStep; readonly newest: ChangeStep }[] {
  const byRecord = Map.groupBy(changes, ({ statement }) => recordKey(statement)).values();
  return [...byRecord].flatMap((steps) => {
    const [first, newest] = [steps[0], steps.at(-1)];
    return first && newest ? [{ first, newest }] : [];
  });
}

/** The columns of a record's version, in `insert` and `update`. */
export const versionColumns = {
  text: ['type', 'id', 'data', 'claims', 'held', 'event', 'trace', 'keys', 'arrival'],
  int: ['version'],
  float8: ['ms', 'listed'],
  bigint: ['seq'],
} as const;

/** The row of a version; `listed`: the row of the list that the record agrees with from now on. */
function versionRow({ type, id, arrival }: Statement, change: Change, listed: number | undefined) {
  const { version, event, text, record, state } = change;
  return {
    ...stateRow(state),
    type,
    id,
    version,
    event,
    listed,
    data: text,
    trace: arrival.trace,
    keys: keysText(type, record),
    arrival: 'guests' in record ? record.check_in : undefined,
  };
}

const stateRow = ({ moment: [ms, seq], claims }: RecordState) => ({ ms, seq, ...claimColumns(claims) });

/** `held`: the holds that keep something of the record back, as a PostgreSQL array. */
export function claimColumns(claims: StoredClaims | undefined) {
  const ids = claims?.quarantine?.flatMap(({ hold, state }) => (state === 'held' ? [hold] : [])) ?? [];
  const held = ids.length === 0 ? undefined : `{${[...new Set(ids)].join(',')}}`;
  return { claims: claims && JSON.stringify(claims), held };
}

/** The row that the record agrees with from now on; undefined if part of the row does not count. */
export const listedBy = (
  { listed }: Statement,
  { isOverruled }: { readonly isOverruled?: boolean },
): number | undefined => (isOverruled ? undefined : listed);

/** Writes the newest state of each record that is not stored with it already. */
export async function writeRecords(
  tx: Tx,
  { integration }: Target,
  steps: readonly Decided[],
  inserted: ReadonlySet<string>,
): Promise<void> {
  const changes = movesOf(steps.filter(isChange));
  const unstored = changes.filter(({ first, newest }) => first !== newest || !isIn(inserted, newest));
  // A bare cancellation after a row keeps the row.
  const listed = new Map<string, number>();
  for (const { statement, decision } of steps.filter(isChange)) {
    const own = listedBy(statement, decision);
    if (own !== undefined) listed.set(recordKey(statement), own);
  }
  const made = unstored.map(({ newest: { statement, decision } }) =>
    versionRow(statement, decision, listed.get(recordKey(statement))),
  );
  if (made.length > 0) await updateVersions(tx, integration, made);
  // After the changes: a later statement of this batch may have confirmed a state from an earlier one.
  const states = new Map<string, MovedState & { readonly version: number | undefined }>();
  for (const { statement, decision } of steps) {
    if (decision.kind === 'change') states.delete(recordKey(statement));
    else if ('state' in decision && decision.state !== undefined && !('isShown' in decision && decision.isShown))
      states.set(recordKey(statement), { statement, state: decision.state, version: versionOf(decision) ?? 0 });
  }
  const strangers = [...states.values()].filter((one) => one.version === 0 && isIn(inserted, one));
  if (strangers.length > 0)
    await emptyRows(
      tx,
      integration,
      strangers.map(({ statement }) => statement.id),
    );
  if (states.size > 0) await updateStates(tx, integration, [...states.values()]);
}

/** Reservations that were inserted with their first version before they turned out to be held. */
async function emptyRows(tx: Tx, integration: string, ids: readonly string[]): Promise<void> {
  await tx.query(
    `update records set version = 0, data = '{}', arrival = null, listed = null
      where integration = $1 and type = 'reservation' and id = any($2)`,
    [integration, ids],
  );
}

export const versionOf = (decision: Decision): number | undefined =>
  'version' in decision ? decision.version : undefined;

const isIn = (keys: ReadonlySet<string>, { statement }: Pick<MovedState, 'statement'>): boolean =>
  keys.has(recordKey(statement));

const versions = rowsTable(2, versionColumns);

/** The ids are also given as an array: a plan that was made while the table was new would otherwise read all records of the brand. */
async function updateVersions(
  tx: Tx,
  integration: string,
  rows: readonly ReturnType<typeof versionRow>[],
): Promise<void> {
  await tx.query({
    name: 'update-records',
    text: `
      update records r
         set version = t.version, event = t.event, trace = t.trace, effective_at = to_timestamp(t.ms / 1000.0), seq = t.seq,
             data = t.data::json, claims = t.claims::json, held = t.held::text[], keys = t.keys::tsvector, changed_at = now(),
             arrival = t.arrival::date, listed = coalesce(t.listed, case when r.listed is not null then least(r.listed, -1) end)
        from ${versions.sql}
       where r.integration = $1 and r.type = t.type and r.id = t.id and r.id = any(${versions.array('id')})`,
    values: [integration, ...versions.values(rows)],
  });
}

interface MovedState {
  readonly statement: Pick<Statement, 'type' | 'id' | 'record' | 'says'>;
  readonly state: RecordState;
}

const moved = rowsTable(2, { text: ['type', 'id', 'claims', 'held', 'keys'], float8: ['ms'], bigint: ['seq'] });

/**
 * Writes what is stored beside records whose content did not change. A row without a version is found by what is set aside. While something
 * is held, the next row is read even if it is the one that the record agrees with: it ends the hold.
 */
export async function updateStates(tx: Tx, integration: string, states: readonly MovedState[]): Promise<void> {
  const rows = states.map(({ statement: { type, id, record, says }, state }) => {
    const named = record ?? { guests: (says?.lists.guests ?? []).map(({ values }) => statedGuest(values)) };
    return { type, id, ...stateRow(state), keys: keysText(type, type === 'guest' ? record : named) };
  });
  await tx.query({
    name: 'update-states',
    text: `update records r
              set effective_at = to_timestamp(t.ms / 1000.0), seq = t.seq, claims = t.claims::json, held = t.held::text[],
                  listed = case when t.held is null then r.listed else least(r.listed, -1) end,
                  keys = case when r.version = 0 then t.keys::tsvector else r.keys end
             from ${moved.sql}
            where r.integration = $1 and r.type = t.type and r.id = t.id and r.id = any(${moved.array('id')})`,
    values: [integration, ...moved.values(rows)],
  });
}

/** Deletes rows that were inserted only to be locked and got no version. */
export async function dropUnused(tx: Tx, { integration }: Brand, keys: readonly string[]): Promise<void> {
  await tx.query(
    `delete from records where integration = $1 and type || ' ' || id = any($2::text[]) and id = any($3) and version = 0`,
    [integration, keys, keys.map((key) => key.slice(key.indexOf(' ') + 1))],
  );
}

/** A record that a batch of statements is about. */
export interface Wanted {
  readonly type: EntityType;
  readonly id: string;
  /** Its first version, if the row is missing. */
  readonly first: { readonly statement: Statement; readonly change: Change } | undefined;
  /** A missing row is inserted, so that it can be locked. */
  readonly isInserted: boolean;
  /** The time of its oldest statement, to learn whether a list requested after it showed the record unchanged. */
  readonly oldestAt: EpochMs;
}

interface LockedRecords {
  /** The rows that were there before, and new empty ones with version 0. */
  readonly stored: ReadonlyMap<string, Stored>;
  /** New records, inserted with their first version. */
  readonly inserted: ReadonlySet<string>;
}

/**
 * Makes sure that the wanted rows exist, and locks those that were there before; both in the order of the ids. If its first version is known,
 * a row is inserted complete: inserting it empty and filling it later writes the row twice.
 */
export async function lockRecords(tx: Tx, brand: Brand, wanted: ReadonlyMap<string, Wanted>): Promise<LockedRecords> {
  const stored = new Map<string, Stored>();
  const inserted = new Set<string>();
  let open = [...wanted.values()];
  // A row that another transaction inserted meanwhile is only seen by the next statement.
  while (open.length > 0) {
    for (const row of await insertOrLock(tx, brand, open)) {
      if (row.is_new && row.version > 0) inserted.add(recordKey(row));
      else stored.set(recordKey(row), storedOf(row));
    }
    open = open.filter((one) => one.isInserted && !inserted.has(recordKey(one)) && !stored.has(recordKey(one)));
  }
  return { stored, inserted };
}

const made = rowsTable(2, versionColumns);
const wantedRows = rowsTable(made.next, { text: ['type', 'id'], float8: ['ms'] });

async function insertOrLock(tx: Tx, brand: Brand, wanted: readonly Wanted[]): Promise<readonly Row[]> {
  const firsts = wanted.flatMap(({ type, id, first, isInserted }) => {
    if (!isInserted) return [];
    return [first ? versionRow(first.statement, first.change, listedBy(first.statement, first.change)) : { type, id }];
  });
  const { rows } = await tx.query<Row>({
    name: 'lock-records',
    text: `
      with inserted as (
        insert into records (integration, type, id, version, effective_at, seq, data, claims, held, event, trace, keys, arrival, listed)
        select $1, type, id, case when data is null then 0 else 1 end, coalesce(to_timestamp(ms / 1000.0), 'epoch'),
               coalesce(seq, 0), coalesce(data::json, '{}'), claims::json, held::text[],
               coalesce(event, 'created'), trace, coalesce(keys, '')::tsvector, arrival::date, listed
          from ${made.sql}
         order by id, type
            on conflict do nothing
        returning type, id, version
      ), locked as materialized (
        select r.type, r.id, r.version, r.event, r.effective_at, r.seq, r.data, r.claims, t.ms
          from records r join ${wantedRows.sql} on t.type = r.type and t.id = r.id
         where r.integration = $1 and r.id = any(${wantedRows.array('id')}) order by r.id, r.type for update of r
      )
      select true as is_new, type, id, version, 'created' as event, 0::bigint as effective_ms, 0::bigint as seq, '{}' as text,
             null::json as claims, null::float8 as sighted_ms
        from inserted
      union all
      select false, type, id, version, event, (extract(epoch from effective_at) * 1000)::bigint, seq, data::text, claims,
             (select (extract(epoch from max(s.requested_at)) * 1000)::float8 from sightings s
               where s.integration = $1 and s.requested_at > to_timestamp(ms / 1000.0) and l.id = any(s.ids))
        from locked l`,
    values: [
      brand.integration,
      ...made.values(firsts),
      ...wantedRows.values(wanted.map(({ type, id, oldestAt }) => ({ type, id, ms: oldestAt }))),
    ],
  });
  return rows;
}

interface Row {
  readonly is_new: boolean;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly event: ChangeEvent;
  readonly effective_ms: number;
  readonly seq: number;
  readonly text: string;
  readonly claims: StoredClaims | null;
  readonly sighted_ms: number | null;
}

const storedOf = ({ version, event, effective_ms, seq, text, claims, sighted_ms }: Row): Stored => ({
  version,
  event,
  moment: [effective_ms, seq],
  text,
  claims: claims ?? undefined,
  ...(sighted_ms !== null && { sightedAt: sighted_ms }),
});
