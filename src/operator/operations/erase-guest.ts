import { profilesDestination } from '../../core/deliver/profiles.ts';
import { cancelOf, rolledBack, type Tx, transaction, withLongStatements } from '../../core/store/db/pool.ts';
import type { Target } from '../../core/store/records/write.ts';
import { timedId } from '../../kit/ids.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { EntityType, IntegrationName, Json } from '../../terms.ts';
import { hashesOf, hashIdentity, rememberedOf } from '../privacy/identity.ts';
import { withoutGuests } from '../privacy/strip.ts';
import { eraseFromRecords } from '../store/erasure/erase.ts';
import {
  beginErasure,
  completeErasure,
  type ErasureReceipt,
  type ErasureRow,
  endStopped,
  findErasures,
  holdersOf,
  type Notified,
  noteErasure,
  readErasure,
  renewErasure,
} from '../store/erasure/erasures.ts';
import { eraseTraces, eraseTracesIn, places } from '../store/erasure/traces.ts';
import { listErasure } from './erasure-list.ts';
import { type EraseRequest, type ReadRequest, readGuestRequest } from './guest-request.ts';

/**
 * Erases a guest from records, versions, payloads and messages, queues the erasure for the destinations, and keeps keyed hashes so that the
 * guest is not stored again. Returns the receipt.
 */
export async function eraseGuest(runtime: Runtime, request: EraseRequest, by: string): Promise<ErasureReceipt> {
  const read = readGuestRequest(runtime, request);
  const erasureId = timedId('era', runtime.clock.now());
  await beginErasure(runtime.pool, erasureId, by, hashIdentity(runtime.keys.hashKeys[0], read.identities.join(' ')));
  const row = await erase(runtime, read, request, erasureId);
  if (row === undefined) throw new TypeError('the erasure that was just begun is missing');
  await listErasure(runtime, erasureId);
  const receipt = receiptOf(row);
  const ended = receipt.stopped_at === null ? 'privacy: erased a guest' : 'privacy: an erasure was stopped';
  runtime.log.info({ erasure_id: erasureId, ...receipt.removed }, ended);
  return receipt;
}

/**
 * First the records, then one place after another. Intake waits while the records are rewritten, but not for the search through payloads;
 * so each is a separate transaction.
 */
async function erase(runtime: Runtime, read: ReadRequest, request: EraseRequest, erasureId: string) {
  const { pool } = runtime;
  const rewritten = await stoppable(runtime, erasureId, (tx) => eraseRecords(tx, runtime, read, request, erasureId));
  if (rewritten.kind === 'stopped') return endStopped(pool, erasureId);
  runtime.wake.signal('outbox');
  const { records } = rewritten.result;
  const notified = notifiedOf(runtime, rewritten.result) as unknown as Json;
  const traces: { [where: string]: number } = {};
  for (const [done, place] of places.entries()) {
    const progress = { place: place.name, done: done + 1, of: places.length + 1 };
    await noteErasure(pool, erasureId, progress, { removed: removedOf(rewritten.result, traces), notified });
    const erased = await stoppable(runtime, erasureId, (tx) => eraseTracesIn(tx, place, records, read.person.traces()));
    if (erased.kind === 'stopped') return endStopped(pool, erasureId);
    traces[place.name] = erased.result;
  }
  return completeErasure(pool, erasureId, { removed: removedOf(rewritten.result, traces), notified });
}

const previewId = 'preview';

/** What an erasure would remove. Changes nothing. */
export async function previewErasure(runtime: Runtime, request: EraseRequest) {
  const read = readGuestRequest(runtime, request);
  return rolledBack(runtime.pool, async (tx) => {
    await beginErasure(tx, previewId, 'preview', '');
    const erased = await eraseRecords(tx, runtime, read, request, previewId);
    const removed = removedOf(erased, await eraseTraces(tx, erased.records, read.person.traces()));
    const records = erased.records.map(({ integration, type, id }) => ({ integration, type, id }));
    return { removed, records, notified: notifiedOf(runtime, erased) };
  });
}

type Erased = Awaited<ReturnType<typeof eraseRecords>>;

async function eraseRecords(
  tx: Tx,
  runtime: Runtime,
  { identities, inPayloads, person }: ReadRequest,
  { integration }: EraseRequest,
  erasureId: string,
) {
  const hash = (identity: string) => hashIdentity(runtime.keys.hashKeys[0], identity);
  const erased = await eraseFromRecords(
    tx,
    {
      erasureId,
      person,
      integration,
      hashes: [...identities, ...inPayloads].map(hash),
      isPreview: erasureId === previewId,
    },
    {
      keyring: runtime.keyring,
      strip: withoutGuests,
      remember: (guest, brand, reservationId) => rememberedOf(guest, brand, reservationId).map(hash),
    },
    (brand) => targetOf(runtime, brand),
  );
  return { ...erased, holders: await holdersOf(tx, erased.records) };
}

function removedOf({ records, versions, receipts }: Erased, traces: { readonly [where: string]: number }) {
  const { raw_payloads = 0, ...others } = traces;
  return { records: records.length, versions, raw_payloads: receipts + raw_payloads, ...others };
}

/** The receipts of earlier erasures of this guest. */
export async function findReceipts(runtime: Runtime, request: EraseRequest): Promise<ErasureReceipt[]> {
  const { identities } = readGuestRequest(runtime, request);
  const subjects = hashesOf(runtime.keys.hashKeys, [identities.join(' ')]);
  return (await findErasures(runtime.pool, subjects)).map(receiptOf);
}

/** A brand that is no longer in force still has stored data, but no destinations. */
function targetOf(runtime: Runtime, integration: string): Target {
  return (
    runtime.active().integrations.get(integration) ?? {
      integration: integration as IntegrationName,
      connectorVersion: 0,
      integrationVersion: 0,
      destinations: { reservation: [], guest: [] },
    }
  );
}

/** Also names destinations that received the guest and are no longer delivered to: somebody has to erase the guest there. */
function notifiedOf(runtime: Runtime, { records, holders }: Erased): Notified[] {
  const counts = new Map<string, Notified>();
  const add = (integration: string, destination: string, more: { records?: number; not_notified?: number }) => {
    if (destination === profilesDestination) return;
    const key = `${integration} ${destination}`;
    const known = counts.get(key) ?? { ...notYet, integration, destination };
    const { records = 0, not_notified = 0 } = more;
    counts.set(key, { ...known, records: known.records + records, not_notified: known.not_notified + not_notified });
  };
  const receives = (integration: string, type: EntityType) => targetOf(runtime, integration).destinations[type];
  for (const { integration, type } of records) {
    for (const destination of receives(integration, type)) add(integration, destination, { records: 1 });
  }
  for (const { integration, destination, type, records: not_notified } of holders) {
    if (!receives(integration, type).includes(destination)) add(integration, destination, { not_notified });
  }
  return [...counts.values()];
}

const notYet = {
  records: 0,
  confirmed: 0,
  passed_over: 0,
  dropped: 0,
  not_notified: 0,
  given_up: 0,
  confirmed_at: null,
};

export async function readReceipt({ pool }: Runtime, erasureId: string): Promise<ErasureReceipt | undefined> {
  const row = await readErasure(pool, erasureId);
  return row && receiptOf(row);
}

export function receiptOf({ receipt, ...row }: ErasureRow): ErasureReceipt {
  const { removed = {}, notified = [] } = (receipt ?? {}) as Partial<Pick<ErasureReceipt, 'removed' | 'notified'>>;
  return { ...row, removed, notified };
}

/**
 * Runs one step of an erasure in a transaction, and cancels its statement when somebody asks to stop: a search through all payloads may
 * take minutes. A step that is stopped has changed nothing.
 */
async function stoppable<T>({ pool, clock }: Runtime, erasureId: string, step: (tx: Tx) => Promise<T>) {
  let isStopped = await renewErasure(pool, erasureId);
  if (isStopped) return { kind: 'stopped' } as const;
  const attempt = async (tx: Tx): Promise<T> => {
    const cancel = await cancelOf(tx);
    const ended = new AbortController();
    const watch = async () => {
      for (;;) {
        await clock.wait(1_000, ended.signal);
        if (ended.signal.aborted) return;
        isStopped = await renewErasure(pool, erasureId).catch(() => false);
        if (isStopped) return cancel(pool);
      }
    };
    const watching = watch();
    try {
      return await step(tx);
    } finally {
      // Awaited, so that no cancellation hits the connection's next statement.
      ended.abort();
      await watching;
    }
  };
  try {
    const result = await withLongStatements(pool, (separate) => transaction(separate, attempt));
    return { kind: 'done', result } as const;
  } catch (error) {
    if (isStopped) return { kind: 'stopped' } as const;
    throw error;
  }
}
