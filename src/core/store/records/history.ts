import { hash } from 'node:crypto';
import { jsonbText } from '../../../kit/json.ts';
import type { EntityType, Note } from '../../../terms.ts';
import { packedNote } from '../../canonical/notes.ts';
import type { Decided } from '../../reconcile/accidents/signs.ts';
import type { Decision, Statement } from '../../reconcile/forms.ts';
import { rowsTable } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { storedRaw } from './entry-payload.ts';
import { type Target, versionOf } from './write.ts';

/** A row that a list repeats is noted for the whole page; an event without news in its own row; a row without id has no timeline. */
export function isNoted({ statement, decision }: Decided): boolean {
  if (statement.id === '') return false;
  if (decision.kind !== 'unchanged' && decision.kind !== 'superseded') return true;
  if (decision.notes !== undefined) return true;
  // Reading again what is stored already is no news.
  if (decision.isShown || statement.receipt.cause === 'reprocess') return false;
  return !(isInEvent(statement) && statement.receipt.cause === 'event' && statement.notes.length === 0);
}

/** The payload of an event is stored with the event. */
const isInEvent = ({ receipt: { cause, causeId, seq } }: Pick<Statement, 'receipt'>): boolean =>
  (cause === 'event' || cause === 'guest') && causeId === String(seq);

const entryOutcome = (decision: Decision): string => (decision.kind === 'change' ? decision.event : decision.kind);

function reasonOf(decision: Decision): string | undefined {
  if (decision.kind === 'dead') return decision.deadLetter.code;
  return decision.reason;
}

/** What arrived, unless the event has it. */
function payloadOf({ shapers }: Target, statement: Statement): string | undefined {
  if (isInEvent(statement)) return undefined;
  const raw = storedRaw(shapers?.[statement.receipt.mode].selfContained(statement.raw) ?? statement.raw);
  return raw === null ? undefined : jsonbText(JSON.stringify(raw));
}

/** From which raw path each field came; undefined where the documents and the payload tell it again. */
function originsOf(brand: Target, { receipt, raw, origins }: Statement): string | undefined {
  if (origins === undefined && receipt.cause !== 'replay' && receipt.cause !== 'reprocess') return undefined;
  return jsonbText(JSON.stringify(origins ?? brand.shapers?.[receipt.mode].origins(raw) ?? {}));
}

const entries = rowsTable(4, {
  text: ['type', 'id', 'cause', 'cause_id', 'outcome', 'reason', 'raw', 'notes', 'origins', 'diff', 'key', 'trace'],
  float8: ['ms'],
  bigint: ['seq'],
  int: ['version'],
});

/** Inserts entries in the order of the batch, each with the version that it made. */
export async function writeHistory(tx: Tx, brand: Target, steps: readonly Decided[]): Promise<void> {
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

function entryOf(brand: Target, { statement, decision }: Decided) {
  const { type, id, receipt } = statement;
  const entry = {
    type,
    id,
    ms: receipt.effectiveAt,
    seq: receipt.seq,
    cause: receipt.cause,
    cause_id: receipt.causeId,
    outcome: entryOutcome(decision),
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
    trace: receipt.trace,
  };
}

function notesOf({ notes }: Statement, decision: Decision): readonly Note[] {
  if (decision.kind === 'change') return decision.notes;
  const isNoteless = decision.kind === 'dead' || decision.kind === 'dropped';
  if ('notes' in decision && decision.notes) return [...notes, ...decision.notes];
  return isNoteless ? notes.filter(({ code }) => code === 'requested_by_id') : notes;
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
