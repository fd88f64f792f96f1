import { hash } from 'node:crypto';
import type { Brand } from '../../brand/brand.ts';
import { packedNote } from '../../canonical/notes.ts';
import { jsonbText } from '../../kit/json.ts';
import type { Step } from '../../reconcile/accidents/signs.ts';
import type { Change, Decision, RecordState, Statement } from '../../reconcile/forms.ts';
import type { StoredViews } from '../../reconcile/stored-views.ts';
import type { EntityType, Note } from '../../terms.ts';
import { rowsTable } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { recordKey } from './decide-batch.ts';
import { storedRaw } from './entry-payload.ts';
import { keysText } from './search-keys.ts';

/** Where records are written: a brand, or what is left of one that is no longer in force. */
export type Target = Pick<Brand, 'integration' | 'connectorVersion' | 'integrationVersion' | 'destinations'> &
  Partial<Pick<Brand, 'shapers'>>;

/** A statement that made a version. */
export type ChangeStep = Step & { readonly decision: Change };

export const isChange = (step: Step): step is ChangeStep => step.decision.kind === 'change';

/** Each record with its oldest and its newest version of the batch. */
export function movesOf(changes: readonly ChangeStep[]): { readonly first: ChangeStep; readonly newest: ChangeStep }[] {
  const byRecord = Map.groupBy(changes, ({ statement }) => recordKey(statement)).values();
  return [...byRecord].flatMap((steps) => {
    const [first, newest] = [steps[0], steps.at(-1)];
    return first && newest ? [{ first, newest }] : [];
  });
}

/** A row that a list repeats is noted for the whole page; an event without news in its own row; a row without id has no timeline. */
export function isNoted({ statement, decision }: Step): boolean {
  if (statement.id === '') return false;
  if (decision.kind !== 'unchanged' && decision.kind !== 'superseded') return true;
  // Reading again what is stored already is no news.
  if (decision.isShown || statement.arrival.cause === 'reprocess') return false;
  return !(isInEvent(statement) && statement.arrival.cause === 'event' && statement.notes.length === 0);
}

/** The payload of an event is stored with the event. */
const isInEvent = ({ arrival: { cause, causeId, seq } }: Pick<Statement, 'arrival'>): boolean =>
  (cause === 'event' || cause === 'guest') && causeId === String(seq);

const outcomeOf = (decision: Decision): string => (decision.kind === 'change' ? decision.event : decision.kind);

function reasonOf(decision: Decision): string | undefined {
  if (decision.kind === 'dead') return decision.deadLetter.code;
  return decision.reason;
}

/** What arrived, unless the event has it. */
function payloadOf({ shapers }: Target, statement: Statement): string | undefined {
  if (isInEvent(statement)) return undefined;
  const raw = storedRaw(shapers?.[statement.arrival.mode].selfContained(statement.raw) ?? statement.raw);
  return raw === null ? undefined : jsonbText(JSON.stringify(raw));
}

/** From which raw path each field came; undefined where the documents and the payload tell it again. */
function originsOf(brand: Target, { arrival, raw, origins }: Statement): string | undefined {
  if (origins === undefined && arrival.cause !== 'replay' && arrival.cause !== 'reprocess') return undefined;
  return jsonbText(JSON.stringify(origins ?? brand.shapers?.[arrival.mode].origins(raw) ?? {}));
}

const entries = rowsTable(4, {
  text: ['type', 'id', 'cause', 'cause_id', 'outcome', 'reason', 'raw', 'notes', 'origins', 'diff', 'key', 'trace'],
  float8: ['ms'],
  bigint: ['seq'],
  int: ['version'],
});

/** Inserts entries in the order of the batch, each with the version that it made. */
export async function writeHistory(tx: Tx, brand: Target, steps: readonly Step[]): Promise<void> {
  if (steps.length === 0) return;
  await tx.query({
    name: 'insert-history',
    text: `
      insert into history (integration, connector_version, integration_version, type, id, effective_at, seq, cause, cause_id, outcome,
                           version, reason, raw, notes, origins, diff, idempotency_key, trace)
      select $1, $2, $3, type, id, to_timestamp(ms / 1000.0), seq, cause, cause_id, outcome, version, reason,
             raw::json, notes::json, origins::json, diff::json, key, trace
        from ${entries.sql}`,
    values: [
      brand.integration,
      brand.connectorVersion,
      brand.integrationVersion,
      ...entries.values(steps.map((step) => entryOf(brand, step))),
    ],
  });
}

function entryOf(brand: Target, { statement, decision }: Step) {
  const { type, id, arrival } = statement;
  const entry = {
    type,
    id,
    ms: arrival.effectiveAt,
    seq: arrival.seq,
    cause: arrival.cause,
    cause_id: arrival.causeId,
    outcome: outcomeOf(decision),
    version: versionOf(decision),
    reason: reasonOf(decision),
    raw: payloadOf(brand, statement),
    notes: jsonbText(JSON.stringify(notesOf(statement, decision).map(packedNote))),
  };
  if (decision.kind !== 'change') return entry;
  return {
    ...entry,
    origins: originsOf(brand, statement),
    diff: jsonbText(JSON.stringify(decision.diff)),
    key: idempotencyKey(brand.integration, type, id, decision.version, decision.text),
    trace: arrival.trace,
  };
}

function notesOf({ notes }: Statement, decision: Decision): readonly Note[] {
  if (decision.kind === 'change') return decision.notes;
  const isNoteless = decision.kind === 'dead' || decision.kind === 'dropped';
  return isNoteless ? notes.filter(({ code }) => code === 'requested_by_id') : notes;
}

/** The columns of a record's version, in `insert` and `update`. */
export const versionColumns = {
  text: ['type', 'id', 'data', 'views', 'held', 'event', 'trace', 'keys', 'arrival'],
  int: ['version'],
  float8: ['ms', 'listed'],
  bigint: ['seq'],
} as const;

/** The row of a version; `listed`: the row of the list that the record agrees with from now on. */
export function versionRow({ type, id, arrival }: Statement, change: Change, listed: number | undefined) {
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

const stateRow = ({ moment: [ms, seq], views }: RecordState) => ({ ms, seq, ...viewColumns(views) });

/** `held`: the holds that keep something of the record back, as a PostgreSQL array. */
export function viewColumns(views: StoredViews | undefined) {
  const ids = views?.aside?.flatMap(({ hold, isRefused }) => (isRefused ? [] : [hold])) ?? [];
  const held = ids.length === 0 ? undefined : `{${[...new Set(ids)].join(',')}}`;
  return { views: views && JSON.stringify(views), held };
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
  steps: readonly Step[],
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
      states.set(recordKey(statement), { statement, state: decision.state, version: versionOf(decision) });
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

const versionOf = (decision: Decision): number | undefined => ('version' in decision ? decision.version : undefined);

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
             data = t.data::json, views = t.views::json, held = t.held::text[], keys = t.keys::tsvector, changed_at = now(),
             arrival = t.arrival::date, listed = coalesce(t.listed, case when r.listed is not null then least(r.listed, -1) end)
        from ${versions.sql}
       where r.integration = $1 and r.type = t.type and r.id = t.id and r.id = any(${versions.array('id')})`,
    values: [integration, ...versions.values(rows)],
  });
}

interface MovedState {
  readonly statement: Pick<Statement, 'type' | 'id'> & { readonly record?: Statement['record'] };
  readonly state: RecordState;
}

const moved = rowsTable(2, { text: ['type', 'id', 'views', 'held', 'keys'], float8: ['ms'], bigint: ['seq'] });

/**
 * Writes what is stored beside records whose content did not change. A row without a version is found by what is set aside. While something
 * is held, the next row is read even if it is the one that the record agrees with: it ends the hold.
 */
export async function updateStates(tx: Tx, integration: string, states: readonly MovedState[]): Promise<void> {
  const rows = states.map(({ statement: { type, id, record }, state }) => {
    return { type, id, ...stateRow(state), keys: keysText(type, record) };
  });
  await tx.query({
    name: 'update-states',
    text: `update records r
              set effective_at = to_timestamp(t.ms / 1000.0), seq = t.seq, views = t.views::json, held = t.held::text[],
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

/**
 * The same key for every delivery of a version. It includes the content, so that a new store, whose versions start at 1 again,
 * does not reuse a key for other content.
 */
export function idempotencyKey(
  integration: string,
  type: EntityType,
  id: string,
  version: number,
  content: string,
): string {
  const text = `${JSON.stringify([integration, type, id, version])} ${content}`;
  return `ib_${hash('sha256', text, 'base64url').slice(0, 32)}`;
}
