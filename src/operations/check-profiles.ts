import type { Brand } from '../brand/brand.ts';
import { noIntegration } from '../errors/no-integration.ts';
import { InnboundError } from '../errors.ts';
import { amend } from '../pipeline.ts';
import { type Difference, difference } from '../reconcile/difference.ts';
import type { Arrival, Statement } from '../reconcile/forms.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { rolledBack, type Tx, transaction } from '../store/db/pool.ts';
import { checkProfiles, mergedReservations } from '../store/records/check-profiles.ts';
import { storedRecord } from '../store/records/stored-record.ts';
import { take } from '../store/records/take.ts';
import type { EntityType } from '../terms.ts';

/** Where a check continues: reservations first, because profiles are made from them. */
export interface CheckPosition {
  readonly type: EntityType;
  readonly after: string;
}

export const checkStart: CheckPosition = { type: 'reservation', after: '' };

export interface CheckStep {
  readonly read: number;
  readonly changed: readonly { readonly type: EntityType; readonly id: string; readonly diff: readonly Difference[] }[];
  readonly next: CheckPosition | undefined;
}

/** The usual size of a step. */
export const checkedAtOnce = 100;

/**
 * Decides again who is who, for bookings and profiles that earlier rules of matching made: values of one person that were stored for another
 * are removed, and destinations get the corrected versions. Repeating it changes nothing.
 */
export async function checkStep(
  runtime: Runtime,
  name: string,
  position: CheckPosition,
  { isPreview, limit = checkedAtOnce }: { readonly isPreview: boolean; readonly limit?: number },
): Promise<CheckStep> {
  const integration = runtime.active().integrations.get(name);
  if (integration === undefined) throw new InnboundError('documents.unknown_name', noIntegration(name));
  const { type, after } = position;
  const step =
    type === 'reservation'
      ? await checkReservations(runtime, integration, after, limit, isPreview)
      : await checkProfiles(runtime.pool, integration, after, limit, isPreview);
  if (step.changed.length > 0 && !isPreview) runtime.wake.signal('outbox');
  const following: CheckPosition | undefined = type === 'reservation' ? { type: 'guest', after: '' } : undefined;
  return {
    read: step.read,
    changed: step.changed.map((one) => ({ type, ...one })),
    next: step.last === undefined ? following : { type, after: step.last },
  };
}

/** Merges the statements of a reservation's sources again. */
async function checkReservations(
  { pool }: Runtime,
  integration: Brand,
  after: string,
  limit: number,
  isPreview: boolean,
) {
  const { found, read, last } = await mergedReservations(pool, integration.integration, after, limit);
  const changed: { id: string; diff: readonly Difference[] }[] = [];
  for (const { id, source, at } of found) {
    const merge = async (tx: Tx) => {
      const before = await storedRecord(tx, integration.integration, 'reservation', id);
      const { changed } = await take(tx, integration, [mergedAgain(id, source, at)]);
      return changed === 0
        ? []
        : difference(before, await storedRecord(tx, integration.integration, 'reservation', id));
    };
    const diff = await (isPreview ? rolledBack(pool, merge) : transaction(pool, merge));
    if (diff.length > 0) changed.push({ id, diff });
  }
  return { read, changed, last };
}

/** A statement that says nothing: the merge decides again what the sources' statements mean. */
function mergedAgain(id: string, mode: Arrival['mode'], effectiveAt: number): Statement {
  const arrival: Arrival = { mode, effectiveAt, cause: 'reprocess', causeId: 'profile check' };
  const said = amend({ id, says: { values: {}, lists: {} }, raw: null, notes: [] }, arrival);
  return { ...said, failure: undefined, dropped: undefined };
}
