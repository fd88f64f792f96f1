import { type LostValue, movedTo, suggestConnector } from '../../../packages/suggest/src/index.ts';
import type { Brand } from '../../core/brand/brand.ts';
import { describeSign, partsOf } from '../../core/reconcile/accidents/signs.ts';
import { type Difference, difference } from '../../core/reconcile/difference.ts';
import { arrivedBy, type Statement } from '../../core/reconcile/forms.ts';
import { aboutRecord } from '../../core/reconcile/profile.ts';
import { rolledBack, type Tx, transaction } from '../../core/store/db/pool.ts';
import { shownOf } from '../../core/store/records/entry-payload.ts';
import { ingest } from '../../core/store/records/ingest.ts';
import { payloadsOf } from '../../core/store/records/kept-payloads.ts';
import { storedRecord } from '../../core/store/records/stored-record.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Json } from '../../terms.ts';
import {
  type BrandHold,
  closeHold,
  findHold,
  type HeldRecord,
  type HoldFilter,
  heldIdsOf,
  listHolds,
  lockHeld,
  noteRefused,
  writeQuarantine,
} from '../store/holds.ts';
import { stateAll } from './reprocess.ts';

export async function holds(runtime: Runtime, filter: HoldFilter) {
  return (await listHolds(runtime.pool, filter)).map(holdView);
}

/** A hold as interfaces show it. */
function holdView(hold: BrandHold) {
  const { id, integration, feed, sign, shareBefore, shareNow, rows, open, state, at, closedAt, closedBy } = hold;
  const { kind, path } = partsOf(sign);
  return {
    id,
    integration,
    feed,
    kind,
    ...(path !== undefined && { path }),
    share_before: Number(shareBefore.toFixed(3)),
    share_now: Number(shareNow.toFixed(3)),
    rows,
    waiting: open,
    state,
    message: describeSign(sign, hold),
    at: new Date(at).toISOString(),
    ...(closedAt !== undefined && { closed_at: new Date(closedAt).toISOString() }),
    ...(closedBy !== undefined && { closed_by: closedBy }),
  };
}

const mostPreviewed = 50;
/** Records that one transaction settles. */
const settledAtOnce = 200;

/** What a release would change. Holds guest data. `next`: the last booking, if others follow. */
export async function previewHold(runtime: Runtime, id: string, after?: string) {
  const hold = await wanted(runtime, id);
  const brand = brandOf(runtime, hold);
  const rows = await rolledBack(runtime.pool, async (tx) => {
    const held = await lockHeld(tx, hold, undefined, mostPreviewed, after);
    const before = new Map<string, Json | undefined>();
    for (const one of held) before.set(one.id, await storedRecord(tx, hold.integration, 'reservation', one.id));
    await releaseIn(tx, brand, hold, held);
    const changed = [];
    for (const one of held) {
      const after = await storedRecord(tx, hold.integration, 'reservation', one.id);
      changed.push({ reservation_id: one.id, diff: difference(before.get(one.id), after) });
    }
    return changed;
  });
  const remedy = await remedyFor(runtime, hold, rows);
  const next = rows.length === mostPreviewed ? (rows.at(-1)?.reservation_id ?? null) : null;
  return { hold: holdView(hold), rows, next, ...(remedy && { remedy }) };
}

/** The held values count, each as of its own time; the same change counts as normal for a while. Some records only: the hold stays open. */
export async function releaseHold(runtime: Runtime, id: string, by: string, only?: readonly string[]) {
  const hold = await wanted(runtime, id);
  const brand = brandOf(runtime, hold);
  // Closed first: otherwise the next poll holds the same values again.
  if (only === undefined) await transaction(runtime.pool, (tx) => closeHold(tx, hold, 'released', by));
  const released = await eachHeld(runtime, hold, only, (tx, held) => releaseIn(tx, brand, hold, held));
  runtime.wake.signal('outbox');
  return { hold: holdView(await wanted(runtime, id)), released };
}

/** Exactly these values are dropped, also when the partner repeats them; the next different value is judged afresh. */
export async function refuseHold(runtime: Runtime, id: string, by: string) {
  const hold = await wanted(runtime, id);
  await transaction(runtime.pool, (tx) => closeHold(tx, hold, 'refused', by));
  const refused = await eachHeld(runtime, hold, undefined, async (tx, held) => {
    await writeQuarantine(
      tx,
      hold.integration,
      held.map((one) => refusedBy(hold, one)),
    );
    await noteRefused(tx, hold, held, `${by} refused the held value of ${partsOf(hold.sign).path ?? 'the booking'}.`);
  });
  return { hold: holdView(await wanted(runtime, id)), refused };
}

const refusedBy = ({ id }: BrandHold, { claims, ...record }: HeldRecord): HeldRecord => {
  const quarantine = claims.quarantine?.map((one) => (one.hold === id ? { ...one, state: 'refused' as const } : one));
  return { ...record, claims: { ...claims, quarantine } };
};

/** Settles the records of a hold, some at a time; the number of records. */
async function eachHeld(
  runtime: Runtime,
  hold: BrandHold,
  only: readonly string[] | undefined,
  settle: (tx: Tx, held: readonly HeldRecord[]) => Promise<void>,
): Promise<number> {
  for (let count = 0; ; ) {
    const settled = await transaction(runtime.pool, async (tx) => {
      const held = await lockHeld(tx, hold, only, settledAtOnce);
      if (held.length > 0) await settle(tx, held);
      return held.length;
    });
    count += settled;
    if (settled < settledAtOnce) return count;
  }
}

/** The records are decided again without what is held: newer claims win by their times. */
async function releaseIn(tx: Tx, brand: Brand, { id: hold }: BrandHold, held: readonly HeldRecord[]): Promise<void> {
  const statements = held.flatMap(({ id, claims }): Statement[] => {
    const first = claims.quarantine?.find((one) => one.hold === hold && one.state === 'held');
    if (first === undefined) return [];
    const [effectiveAt, seq] = first.at;
    const arrival = { ...arrivedBy(first.source), effectiveAt, seq, cause: 'replay', causeId: hold } as const;
    return [{ ...aboutRecord('reservation', id, arrival), content: { values: {}, lists: {} }, releases: hold }];
  });
  await ingest(tx, brand, statements);
}

/** After a change of documents: the held bookings are mapped again. A value that is read otherwise now is no longer held. */
export async function reprocessHolds(runtime: Runtime): Promise<void> {
  for (const hold of await listHolds(runtime.pool, { state: 'open' })) {
    const brand = runtime.active().integrations.get(hold.integration);
    if (brand === undefined) continue;
    const ids = await heldIdsOf(runtime.pool, hold, brand);
    if (ids.length === 0) continue;
    const payloads = await payloadsOf(runtime.pool, hold.integration, ids, {});
    const { statements } = await stateAll(runtime, brand, payloads);
    await transaction(runtime.pool, (tx) => ingest(tx, brand, statements));
    runtime.wake.signal('outbox');
  }
}

async function wanted(runtime: Runtime, id: string): Promise<BrandHold> {
  const hold = await findHold(runtime.pool, id);
  if (hold === undefined) throw new InnboundError('operate.not_found', `There is no hold ${id}.`);
  return hold;
}

function brandOf(runtime: Runtime, { integration }: BrandHold): Brand {
  const brand = runtime.active().integrations.get(integration);
  if (brand === undefined)
    throw new InnboundError('operate.not_found', `The documents of ${integration} are not in force.`);
  return brand;
}

interface Previewed {
  readonly reservation_id: string;
  readonly diff: readonly Difference[];
}

/**
 * Where the lost field probably is now: where the held payloads have the stored values, or what a suggestion reads it from. So the line of
 * the mapping that would read it again, such as `email: mail`, with a payload without the field.
 */
async function remedyFor(runtime: Runtime, hold: BrandHold, rows: readonly Previewed[]) {
  const { kind, path } = partsOf(hold.sign);
  const connector = runtime.active().integrations.get(hold.integration)?.body.connector;
  if (kind !== 'cleared' || path === undefined || connector === undefined) return undefined;
  const ids = rows.map(({ reservation_id }) => reservation_id);
  const payloads = new Map(
    (await payloadsOf(runtime.pool, hold.integration, ids, {})).map(({ id, sent }) => [id, shownOf(sent)]),
  );
  const lost = rows.flatMap(({ reservation_id, diff }): LostValue[] => {
    const payload = payloads.get(reservation_id);
    const value = diff.find((one) => one.path.replaceAll(/\[\d+\]/g, '') === path)?.before ?? null;
    return payload === undefined ? [] : [{ payload, value }];
  });
  const suggestion = suggestConnector({ reservations: lost.map(({ payload }) => payload) });
  const suggested = suggestion.kind === 'ok' ? suggestion.fields.find(({ field }) => field === path)?.path : undefined;
  const from = movedTo(lost) ?? suggested;
  const [first] = lost;
  return from === undefined || first === undefined ? undefined : { connector, path, from, sample: first.payload };
}
