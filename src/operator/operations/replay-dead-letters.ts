import { documentsOf } from '../../core/brand/active.ts';
import type { Brand } from '../../core/brand/brand.ts';
import type { Closing, Preview, ReplayLetter, ReplayPorts, Under } from '../../core/deliver/replay.ts';
import type { EventType } from '../../core/intake/push/envelope.ts';
import { thinIdOf } from '../../core/intake/push/reservation-event.ts';
import { decide } from '../../core/pipeline.ts';
import { difference } from '../../core/reconcile/difference.ts';
import type { Receipt, Statement } from '../../core/reconcile/forms.ts';
import type { RawRecord } from '../../core/shape/config.ts';
import { rolledBack, type Tx, transaction } from '../../core/store/db/pool.ts';
import { requeueEvent } from '../../core/store/events/set-aside.ts';
import {
  closeDeadLetter,
  holdsErasure,
  lockDeadLetter,
  passOverHeld,
  retryHeld,
  skipHeldTo,
} from '../../core/store/records/dead-letters.ts';
import { ingest } from '../../core/store/records/ingest.ts';
import { payloadsOf } from '../../core/store/records/kept-payloads.ts';
import { storedRecord } from '../../core/store/records/stored-record.ts';
import { systemClock } from '../../kit/clock.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Json, JsonObject } from '../../terms.ts';
import { newestFailure, showDeadLetter, type WholeDeadLetter } from '../store/dead-letters.ts';
import { offThread } from './off-thread.ts';
import { type Preparation, stateAgain } from './prepare-letter.ts';
import { recordedIntegration } from './recorded-documents.ts';

/** Processes dead letters again. */
export function replayPorts(runtime: Runtime): ReplayPorts {
  return {
    clock: systemClock,
    preview: (letter, under) => preview(runtime, letter, under),
    replay: (letter, under, closing) => replay(runtime, letter, under, closing),
    wake: (topic) => runtime.wake.signal(topic),
  };
}

/** Drops a dead letter, with a reason; a held record continues with its next version. */
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
  if (letter === undefined || letter.state !== 'open') return gone('The dead letter is no longer open.');
  if (kind === 'delivery' && under === 'recorded') {
    if (letter.data === null) return gone('The version is no longer kept.');
    return { kind: 'ready', record: recordOf(letter), after: letter.data, diff: [] };
  }
  const integration = await integrationFor(runtime, letter, under);
  if (integration === undefined) return gone(`The documents of ${letter.integration} are not in force.`);
  const preparation = await preparationOf(runtime, letter, integration);
  if (preparation === undefined) return gone('Its payload is no longer kept.');
  if (preparation === 'requeue') return { kind: 'ready', record: recordOf(letter), after: letter.raw, diff: [] };
  // In a worker with a deadline: the payload may be built to take very long.
  await offThread(runtime, 'stateLetter', { brand: documentsOf(integration), preparation });
  return tryOut(runtime, integration, stateAgain(integration, preparation));
}

/** The result of a replay, merged with the stored record: runs the same transaction and rolls it back. */
function tryOut(runtime: Runtime, brand: Brand, statement: Statement): Promise<Preview> {
  return rolledBack(runtime.pool, async (tx): Promise<Preview> => {
    const { type, id } = statement;
    const { integration } = brand;
    const before = await storedRecord(tx, integration, type, id);
    const { outcomes } = await ingest(tx, brand, [statement]);
    const [outcome] = outcomes;
    if (outcome?.outcome === 'dropped' || outcome?.outcome === 'removed') {
      const alone = decide(brand, undefined, statement);
      return {
        kind: 'dropped',
        reason: alone.kind === 'dropped' ? alone.reason : 'A business rule drops the merged record.',
      };
    }
    if (outcome?.outcome === 'dead') return { kind: 'still_failing', ...(await newestFailure(tx, integration)) };
    const after = (await storedRecord(tx, integration, type, id)) ?? null;
    const known = before !== undefined && { before };
    return { kind: 'ready', record: { type, id }, ...known, after, diff: difference(before, after) };
  });
}

async function replay(runtime: Runtime, { id, kind }: ReplayLetter, under: Under, closing: Closing): Promise<boolean> {
  const letter = await showDeadLetter(runtime.pool, id);
  if (letter === undefined) return false;
  if (kind === 'delivery' && under === 'recorded') {
    return inTransaction(runtime, id, closing, async (tx) => void (await retryHeld(tx, id)));
  }
  if (kind === 'event' && under === 'today') return requeued(runtime, id, closing, letter);
  const integration = await integrationFor(runtime, letter, under);
  const preparation = integration && (await preparationOf(runtime, letter, integration));
  if (integration === undefined || preparation === undefined) return false;
  if (preparation === 'requeue') return requeued(runtime, id, closing, letter);
  const statement = stateAgain(integration, preparation);
  return inTransaction(runtime, id, closing, async (tx) => {
    const tally = await ingest(tx, integration, [statement]);
    if (kind !== 'delivery') return;
    const [outcome] = tally.outcomes;
    const changed = tally.changed > 0 && outcome?.version !== undefined;
    if (changed && outcome?.version !== undefined) await skipHeldTo(tx, id, outcome.version, runtime.node);
    else if (outcome?.outcome === 'dropped' && !(await holdsErasure(tx, id))) {
      await passOverHeld(tx, id, runtime.node, 'A rule of today’s documents drops it.');
    } else await retryHeld(tx, id);
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

/** The event worker processes it from the beginning, under the documents in force. */
function requeued(runtime: Runtime, id: string, closing: Closing, letter: WholeDeadLetter): Promise<boolean> {
  return inTransaction(runtime, id, closing, async (tx) => {
    await requeueEvent(tx, letter.integration, Number(letter.cause_id));
  });
}

interface LetterEvent {
  readonly event: EventType;
  readonly body: { readonly data: JsonObject } | null;
  readonly hydrated?: Json;
}

/**
 * What to process again. `requeue` for an event that needs more than the path: a guest event looks for its profile and reservations,
 * and a thin event must fetch its reservation from the partner first.
 */
async function preparationOf(
  runtime: Runtime,
  letter: WholeDeadLetter,
  integration: Brand,
): Promise<Preparation | 'requeue' | undefined> {
  const { requested_by_id: isSingle } = (letter.detail ?? {}) as JsonObject;
  const effectiveAt = (letter.effective_at ?? letter.last_at).getTime();
  const arrival: Receipt = { mode: 'pull', effectiveAt, cause: 'replay', causeId: letter.id };
  if (letter.kind === 'event') {
    const event = letter.event as LetterEvent | null;
    if (event === null || event.body === null) return undefined;
    if (event.event.startsWith('guest.')) return 'requeue';
    const { data } = event.body;
    const hydrated = event.hydrated ?? undefined;
    if (hydrated === undefined && thinIdOf(integration, 'reservation', data) !== undefined) return 'requeue';
    const mode = hydrated === undefined ? 'push' : 'single';
    const content = { event: event.event, data, ...(hydrated !== undefined && { hydrated }) };
    return { kind: 'event', content, arrival: { ...arrival, mode } };
  }
  if (letter.kind === 'record') {
    const mode = isSingle === true ? 'single' : 'pull';
    const raw = letter.raw as RawRecord | null;
    return raw === null ? undefined : { kind: 'record', raw, arrival: { ...arrival, mode } };
  }
  if (letter.type !== 'reservation') return undefined;
  const newest = (await payloadsOf(runtime.pool, letter.integration, [letter.record_id ?? ''], {})).at(-1);
  if (newest === undefined) return undefined;
  const { mode, effectiveAt: at, sent } = newest;
  return { ...sent, arrival: { ...arrival, mode, effectiveAt: at.getTime() } };
}

async function integrationFor(runtime: Runtime, letter: WholeDeadLetter, under: Under): Promise<Brand | undefined> {
  const current = runtime.active().integrations.get(letter.integration);
  if (under === 'today' || letter.integration_version === null || letter.connector_version === null) return current;
  const { integration: name, integration_version: version, connector_version: connectorVersion } = letter;
  return recordedIntegration(runtime, name, version, connectorVersion);
}

const recordOf = ({ type, record_id }: WholeDeadLetter) => ({
  type: type ?? 'reservation',
  id: record_id ?? '',
});

const gone = (message: string): Preview => ({ kind: 'gone', message });
