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
import { ConcurrentInsert, type Tx, together } from '../db/pool.ts';
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
function versionRow({ type, id, receipt }: Statement, change: Change, listed: number | undefined) {
  const { version, event, text, record, state } = change;
  return {
    ...stateRow(state),
    type,
    id,
    version,
    event,
    listed,
    data: text,
    trace: receipt.trace,
    keys: keysText(type, record),
    arrival: 'guests' in record ? record.check_in : undefined,
  };
}

const stateRow = ({ time: [ms, seq], claims }: RecordState) => ({ ms, seq, ...claimColumns(claims) });

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

/** Writes the newest state of each record: inserts those that are not stored, updates the others. */
export async function writeRecords(
  tx: Tx,
  { integration }: Target,
  steps: readonly Decided[],
  isStored: (key: string) => boolean,
): Promise<void> {
  // A bare cancellation after a row keeps the row.
  const listed = new Map<string, number>();
  // After the changes: a later statement of this batch may have confirmed a state from an earlier one.
  const states = new Map<string, MovedState>();
  for (const { statement, decision } of steps) {
    const key = recordKey(statement);
    if (decision.kind === 'change') {
      states.delete(key);
      const own = listedBy(statement, decision);
      if (own !== undefined) listed.set(key, own);
    } else if ('state' in decision && decision.state !== undefined && !('isShown' in decision && decision.isShown))
      states.set(key, { statement, state: decision.state });
  }
  const versions = movesOf(steps.filter(isChange)).map(({ newest: { statement, decision } }) => ({
    key: recordKey(statement),
    row: versionRow(statement, decision, listed.get(recordKey(statement))),
  }));
  const [updated, inserted] = divided(versions, ({ key }) => isStored(key));
  const made = new Set(inserted.map(({ key }) => key));
  const [moved, waiting] = divided([...states], ([key]) => isStored(key) || made.has(key));
  const rows = [...inserted.map(({ row }) => row), ...waiting.map(([, one]) => waitingRow(one))];
  await together([
    rows.length > 0 ? insertRecords(tx, integration, rows) : undefined,
    updated.length > 0
      ? updateVersions(
          tx,
          integration,
          updated.map(({ row }) => row),
        )
      : undefined,
    moved.length > 0
      ? updateStates(
          tx,
          integration,
          moved.map(([, one]) => one),
        )
      : undefined,
  ]);
}

/** Those that pass, and the others. */
function divided<Of>(all: readonly Of[], passes: (one: Of) => boolean): [Of[], Of[]] {
  return [all.filter(passes), all.filter((one) => !passes(one))];
}

export const versionOf = (decision: Decision): number | undefined =>
  'version' in decision ? decision.version : undefined;

const versions = rowsTable(2, versionColumns);

/**
 * Two nodes that decide about the same unknown record at once both insert it: the second one waits for the first, finds the row, and its
 * transaction is run again.
 */
async function insertRecords(
  tx: Tx,
  integration: string,
  rows: readonly (ReturnType<typeof versionRow> | ReturnType<typeof waitingRow>)[],
): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'insert-records',
    text: `
      insert into records (integration, type, id, version, event, effective_at, seq, data, claims, held, keys, trace, arrival, listed)
      select $1, type, id, version, event, to_timestamp(ms / 1000.0), seq, data::json, claims::json, held::text[], keys::tsvector, trace,
             arrival::date, listed
        from ${versions.sql}
       order by id, type
          on conflict do nothing`,
    values: [integration, ...versions.values(rows)],
  });
  if (rowCount !== rows.length) throw new ConcurrentInsert();
}

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
  readonly statement: Pick<Statement, 'type' | 'id' | 'record' | 'content'>;
  readonly state: RecordState;
}

function movedRow({ statement: { type, id, record, content }, state }: MovedState) {
  const named = record ?? { guests: (content?.lists.guests ?? []).map(({ values }) => statedGuest(values)) };
  return { type, id, ...stateRow(state), keys: keysText(type, type === 'guest' ? record : named) };
}

/** A row without a version: all that was said about the record waits or is set aside. */
const waitingRow = (one: MovedState) => ({ ...movedRow(one), version: 0, event: 'created', data: '{}' });

const moved = rowsTable(2, { text: ['type', 'id', 'claims', 'held', 'keys'], float8: ['ms'], bigint: ['seq'] });

/**
 * Writes what is stored beside records whose content did not change. A row without a version is found by what is set aside. While something
 * is held, the next row is read even if it is the one that the record agrees with: it ends the hold.
 */
export async function updateStates(tx: Tx, integration: string, states: readonly MovedState[]): Promise<void> {
  const rows = states.map(movedRow);
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

const wanted = rowsTable(2, { text: ['type', 'id'], float8: ['ms'] });

/**
 * Locks the records that the statements are about, in the order of the ids. Of each, also when a list that was requested after its oldest
 * statement showed it unchanged.
 */
export async function lockRecords(
  tx: Tx,
  { integration }: Brand,
  statements: readonly Statement[],
): Promise<Map<string, Stored>> {
  const oldest = new Map<string, { readonly type: EntityType; readonly id: string; readonly ms: EpochMs }>();
  for (const statement of statements) {
    const { type, id, receipt } = statement;
    const key = recordKey(statement);
    if (id !== '') oldest.set(key, { type, id, ms: Math.min(oldest.get(key)?.ms ?? Infinity, receipt.effectiveAt) });
  }
  if (oldest.size === 0) return new Map();
  const { rows } = await tx.query<Row>({
    name: 'lock-records',
    text: `
      with locked as materialized (
        select r.type, r.id, r.version, r.event, r.effective_at, r.seq, r.data, r.claims, t.ms
          from records r join ${wanted.sql} on t.type = r.type and t.id = r.id
         where r.integration = $1 and r.id = any(${wanted.array('id')}) order by r.id, r.type for update of r
      )
      select type, id, version, event, (extract(epoch from effective_at) * 1000)::bigint as effective_ms, seq, data::text as text, claims,
             (select (extract(epoch from max(s.requested_at)) * 1000)::float8 from sightings s
               where s.integration = $1 and s.requested_at > to_timestamp(ms / 1000.0) and l.id = any(s.ids)) as sighted_ms
        from locked l`,
    values: [integration, ...wanted.values([...oldest.values()])],
  });
  return new Map(rows.map((row) => [recordKey(row), storedOf(row)]));
}

interface Row {
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
  time: [effective_ms, seq],
  text,
  claims: claims ?? undefined,
  ...(sighted_ms !== null && { sightedAt: sighted_ms }),
});
