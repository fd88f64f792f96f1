import { type Active, activate, withChanges } from '../brand/active.ts';
import { Serial } from '../kit/serial.ts';
import type { ErasurePort } from '../reconcile/erasure-port.ts';
import type { Pool } from '../store/db/pool.ts';
import { documentsChangedSince, documentsPosition } from '../store/documents/document-changes.ts';
import { currentDocuments } from '../store/documents/documents.ts';

/** The documents in force on this node, and how it takes up what other processes changed. */
export interface ActiveDocuments {
  readonly active: () => Active;
  /** Reads what changed since the last time. True if the documents in force are others now. */
  readonly refresh: () => Promise<boolean>;
}

/** `epoch` rises when the database was restored: then everything is read again. */
export async function openActiveDocuments(
  pool: Pool,
  epoch: () => number,
  erasure: ErasurePort | undefined,
): Promise<ActiveDocuments> {
  const readAll = async () => {
    // The position is read first: what changes in between is read again next time.
    const position = await documentsPosition(pool);
    return { position, epoch: epoch(), active: activate(await currentDocuments(pool), erasure) };
  };
  let inForce = await readAll();

  async function refresh(): Promise<boolean> {
    const before = inForce;
    const position = await documentsPosition(pool);
    if (position < before.position || epoch() !== before.epoch) inForce = await readAll();
    else if (position > before.position) {
      const changes = await documentsChangedSince(pool, before.position);
      inForce = { ...before, position: changes.position, active: withChanges(before.active, changes) };
    }
    return inForce.active !== before.active;
  }

  // One at a time, so that the slower of two does not put an older state back.
  const refreshes = new Serial();
  return {
    active: () => inForce.active,
    refresh: () => refreshes.run(refresh),
  };
}
