import type { Closing, Preview, ReplayLetter, ReplayPorts, Under } from '../deliver/replay.ts';
import { systemClock } from '../kit/clock.ts';
import { difference } from '../reconcile/difference.ts';
import type { Arrival } from '../reconcile/incoming.ts';
import { type ActiveIntegration, activate, documentsOf } from '../runtime/active.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { RawRecord } from '../shape/config.ts';
import { type Tx, transaction } from '../store/db/pool.ts';
import { currentDocuments } from '../store/documents/documents.ts';
import { requeueEvent } from '../store/events/lane.ts';
import {
  closeDeadLetter,
  lockDeadLetter,
  passOverHeld,
  retryHeld,
  skipHeldTo,
} from '../store/operate/dead-letter-close.ts';
import { showDeadLetter, type WholeDeadLetter } from '../store/operate/dead-letters.ts';
import { applyPrepared } from '../store/records/apply.ts';
import { newestRaw } from '../store/records/receipt-raw.ts';
import { storedRecord } from '../store/records/stored-record.ts';
import type { Json, JsonObject } from '../terms.ts';
import { offThread } from './off-thread.ts';
import { type Preparation, prepareLetter } from './prepare-letter.ts';
import { recordedDocuments } from './recorded-documents.ts';

/** Dead letters taken through the path again. */
export function replayPorts(runtime: Runtime): ReplayPorts {
  return {
    clock: systemClock,
    preview: (letter, under) => preview(runtime, letter, under),
    replay: (letter, under, closing) => replay(runtime, letter, under, closing),
    wake: (topic) => runtime.wake.signal(topic),
  };
}

/** Gives one up, with a reason; a held record goes on with its next version. */
export async function dropDeadLetter(runtime: Runtime, id: string, closing: Closing): Promise<boolean> {
  const dropped = await transaction(runtime.pool, async (tx) => {
    const letter = await lockDeadLetter(tx, id);
    if (letter === undefined) return false;
    if (letter.kind === 'delivery') await passOverHeld(tx, id, runtime.node);
    await closeDeadLetter(tx, id, 'dropped', closing);
    return true;
  });
  if (dropped) runtime.wake.signal('outbox');
  return dropped;
}

async function preview(runtime: Runtime, { id, kind }: ReplayLetter, under: Under): Promise<Preview> {
  const letter = await showDeadLetter(runtime.pool, id);
  if (letter === undefined || letter.state !== 'open') return gone('It is not open any more.');
  if (kind === 'delivery' && under === 'recorded') {
    if (letter.data === null) return gone('The version is no longer kept.');
    return { kind: 'ready', record: recordOf(letter), after: letter.data, diff: [] };
  }
  const integration = await integrationFor(runtime, letter, under);
  if (integration === undefined) return gone(`The documents of ${letter.integration} are not in force.`);
  const preparation = await preparationOf(runtime, letter);
  if (preparation === undefined) return gone('What it was made of is no longer kept.');
  if (preparation === 'guest') return { kind: 'ready', record: recordOf(letter), after: letter.raw, diff: [] };
  const outcome = await offThread(runtime, 'prepareLetter', { brand: documentsOf(integration), preparation });
  if (outcome.kind === 'dropped') return outcome;
  if (outcome.kind === 'dead') return { ...outcome, kind: 'still_failing' };
  const { type, id: recordId, record: after } = outcome;
  const before = await storedRecord(runtime.pool, letter.integration, type, recordId);
  return {
    kind: 'ready',
    record: { type, id: recordId },
    ...(before !== undefined && { before }),
    after,
    diff: difference(before, after),
  };
}

async function replay(runtime: Runtime, { id, kind }: ReplayLetter, under: Under, closing: Closing): Promise<boolean> {
  const letter = await showDeadLetter(runtime.pool, id);
  if (letter === undefined) return false;
  if (kind === 'delivery' && under === 'recorded') {
    return inTransaction(runtime, id, closing, async (tx) => void (await retryHeld(tx, id)));
  }
  if (kind === 'event' && under === 'today') {
    return inTransaction(runtime, id, closing, async (tx) => {
      await requeueEvent(tx, letter.integration, Number(letter.cause_id));
    });
  }
  const integration = await integrationFor(runtime, letter, under);
  const preparation = integration && (await preparationOf(runtime, letter));
  if (integration === undefined || preparation === undefined || preparation === 'guest') return false;
  const prepared = prepareLetter(integration, preparation);
  return inTransaction(runtime, id, closing, async (tx) => {
    const tally = await applyPrepared(tx, integration.target, [prepared]);
    if (kind !== 'delivery') return;
    const [outcome] = tally.outcomes;
    const changed = tally.changed > 0 && outcome?.version !== undefined;
    if (changed && outcome?.version !== undefined) await skipHeldTo(tx, id, outcome.version, runtime.node);
    else await retryHeld(tx, id);
  });
}

async function inTransaction(
  runtime: Runtime,
  id: string,
  closing: Closing,
  work: (tx: Tx) => Promise<void>,
): Promise<boolean> {
  return transaction(runtime.pool, async (tx) => {
    if ((await lockDeadLetter(tx, id)) === undefined) return false;
    await closeDeadLetter(tx, id, 'replayed', closing);
    await work(tx);
    return true;
  });
}

/** What to take through the path again. A guest's own event is more than a record: it can only be put back in line. */
async function preparationOf(runtime: Runtime, letter: WholeDeadLetter): Promise<Preparation | 'guest' | undefined> {
  const effectiveAt = letter.effective_at?.getTime() ?? letter.last_at.getTime();
  const arrival: Arrival = { mode: 'pull', effectiveAt, cause: 'replay', causeId: letter.id };
  if (letter.kind === 'event') {
    const event = letter.event as { event: string; body: { data: JsonObject } | null } | null;
    if (event === null || event.body === null) return undefined;
    if (event.event === 'guest.updated') return 'guest';
    return { kind: 'event', data: event.body.data, arrival: { ...arrival, mode: 'push' } };
  }
  if (letter.kind === 'record') {
    return letter.raw === null ? undefined : { kind: 'record', raw: rawRecord(letter.raw), arrival };
  }
  const newest = await newestRaw(
    runtime.pool,
    letter.integration,
    letter.type ?? 'reservation',
    letter.record_id ?? '',
  );
  if (newest === undefined || letter.type !== 'reservation') return undefined;
  const asBefore: Arrival = { ...arrival, mode: newest.mode, effectiveAt: newest.effectiveAt.getTime() };
  if (newest.mode === 'push') return { kind: 'event', data: newest.raw, arrival: asBefore };
  return { kind: 'record', raw: { key: letter.record_id ?? '', value: newest.raw }, arrival: asBefore };
}

/** A dead record keeps what the mapping needs around it; an older one only itself. */
function rawRecord(raw: Json): RawRecord {
  const kept = raw as Partial<RawRecord> | null;
  if (typeof kept === 'object' && kept !== null && typeof kept.key === 'string' && 'value' in kept)
    return kept as RawRecord;
  return { key: '', value: raw };
}

async function integrationFor(
  runtime: Runtime,
  letter: WholeDeadLetter,
  under: Under,
): Promise<ActiveIntegration | undefined> {
  const current = runtime.active().integrations.get(letter.integration);
  if (under === 'today' || letter.integration_version === null || letter.connector_version === null) return current;
  const { integration: name, integration_version: version, connector_version: connectorVersion } = letter;
  const recorded = await recordedDocuments(runtime.pool, name, version, connectorVersion);
  if (recorded === undefined) return undefined;
  const destinations = (await currentDocuments(runtime.pool)).filter(({ kind }) => kind === 'destination');
  return activate([...recorded, ...destinations], undefined, runtime.active().erasure).integrations.get(name);
}

const recordOf = ({ type, record_id }: WholeDeadLetter): { type: string; id: string } => ({
  type: type ?? 'reservation',
  id: record_id ?? '',
});

const gone = (message: string): Preview => ({ kind: 'gone', message });
