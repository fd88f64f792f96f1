import { type LostValue, movedTo, suggestConnector } from '../../packages/suggest/src/index.ts';
import { type Preview, replayDeadLetters } from '../deliver/replay.ts';
import { InnboundError } from '../errors.ts';
import { describeHold } from '../reconcile/accidents/hold-back.ts';
import { partsOf } from '../reconcile/accidents/signs.ts';
import type { Difference } from '../reconcile/difference.ts';
import type { Prepared } from '../reconcile/incoming.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { transaction } from '../store/db/pool.ts';
import { closeDeadLetter } from '../store/operate/dead-letter-close.ts';
import { showDeadLetter } from '../store/operate/dead-letters.ts';
import {
  type BrandHold,
  closeHold,
  dropHeldRows,
  findHold,
  type HoldFilter,
  heldRows,
  listHolds,
  rowsUnderOthers,
} from '../store/operate/holds.ts';
import { applyPrepared } from '../store/records/apply.ts';
import { isObject } from '../terms.ts';
import { prepareLetter } from './prepare-letter.ts';
import { preparationOf, replayPorts } from './replay-dead-letters.ts';

export async function holds(runtime: Runtime, filter: HoldFilter): Promise<HoldView[]> {
  return (await listHolds(runtime.pool, filter)).map(holdView);
}

type HoldView = ReturnType<typeof holdView>;

/** A hold as interfaces show it. */
export function holdView(hold: BrandHold) {
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
    message: describeHold(hold),
    at: new Date(at).toISOString(),
    ...(closedAt !== undefined && { closed_at: new Date(closedAt).toISOString() }),
    ...(closedBy !== undefined && { closed_by: closedBy }),
  };
}

/** What a release would deliver. Holds guest data. */
export interface HoldPreview {
  readonly hold: HoldView;
  /** The line of the mapping that would read the lost field again, such as `email: mail`. */
  readonly remedy?: { readonly connector: string; readonly path: string; readonly from: string };
  readonly rows: readonly { readonly id: string; readonly reservation_id: string; readonly preview: Preview }[];
}

const mostPreviewed = 20;

export async function previewHold(runtime: Runtime, id: string): Promise<HoldPreview> {
  const hold = await wanted(runtime, id);
  const letters = (await heldRows(runtime.pool, hold)).slice(0, mostPreviewed);
  const ports = replayPorts(runtime);
  const rows = [];
  for (const letter of letters) {
    rows.push({ id: letter.id, reservation_id: letter.record_id, preview: await ports.preview(letter, 'today') });
  }
  const remedy = await remedyFor(runtime, hold, rows);
  return { hold: holdView(hold), rows, ...(remedy && { remedy }) };
}

/** Applies the held rows as the partner sent them; the same change counts as normal for a while. Some only: the hold stays open. */
export async function releaseHold(
  runtime: Runtime,
  id: string,
  by: string,
  only?: readonly string[],
): Promise<{ hold: HoldView; released: number; failed: number }> {
  const hold = await wanted(runtime, id);
  const letters = await heldRows(runtime.pool, hold, only);
  // Closed first: otherwise the next poll holds the same rows again.
  if (only === undefined) await closed(runtime, hold, 'released', by);
  const counts = await replayDeadLetters(replayPorts(runtime), letters, { by, perSecond: 1_000, under: 'today' });
  runtime.wake.signal('outbox');
  const after = holdView(await wanted(runtime, id));
  return { hold: after, released: counts.replayed, failed: counts.still_failing + counts.gone };
}

/** The stored values stay, now and while the partner repeats the same rows. */
export async function refuseHold(
  runtime: Runtime,
  id: string,
  by: string,
): Promise<{ hold: HoldView; refused: number }> {
  const hold = await wanted(runtime, id);
  const refused = await closed(runtime, hold, 'refused', by);
  return { hold: holdView(await wanted(runtime, id)), refused };
}

/** After a change of documents: the held rows are mapped and judged again. What is in order now is applied; the rest is held again. */
export async function reprocessHolds(runtime: Runtime): Promise<void> {
  for (const hold of await listHolds(runtime.pool, { state: 'open' })) {
    const integration = runtime.active().integrations.get(hold.integration);
    if (integration === undefined) continue;
    const ids = await rowsUnderOthers(runtime.pool, hold, integration.target);
    const prepared: Prepared[] = [];
    for (const id of ids) {
      const letter = await showDeadLetter(runtime.pool, id);
      const preparation = letter && (await preparationOf(runtime, letter, integration));
      if (letter === undefined || preparation === undefined || preparation === 'requeue') continue;
      const cause = hold.feed === 'pull' ? 'run' : 'event';
      const arrival = { ...preparation.arrival, cause, causeId: letter.cause_id ?? '' } as const;
      prepared.push(prepareLetter(integration, { ...preparation, arrival }));
    }
    if (ids.length === 0) continue;
    await transaction(runtime.pool, async (tx) => {
      const closing = { by: 'run', reason: 'The documents changed: it was processed again.' };
      for (const id of ids) await closeDeadLetter(tx, id, 'replayed', closing);
      if (prepared.length > 0) await applyPrepared(tx, integration.target, prepared);
    });
    runtime.wake.signal('outbox');
  }
}

async function wanted(runtime: Runtime, id: string): Promise<BrandHold> {
  const hold = await findHold(runtime.pool, id);
  if (hold === undefined) throw new InnboundError('operate.not_found', `There is no hold ${id}.`);
  return hold;
}

function closed(runtime: Runtime, hold: BrandHold, state: 'released' | 'refused', by: string): Promise<number> {
  return transaction(runtime.pool, async (tx) => {
    const isClosed = await closeHold(tx, hold, state, by);
    return state === 'refused' && isClosed ? dropHeldRows(tx, hold, by, 'An operator refused the hold.') : 0;
  });
}

/** Where the lost field probably is now: where the held payloads have the stored values, or what a suggestion reads it from. */
async function remedyFor(runtime: Runtime, hold: BrandHold, rows: HoldPreview['rows']): Promise<HoldPreview['remedy']> {
  const { kind, path } = partsOf(hold.sign);
  const connector = runtime.active().integrations.get(hold.integration)?.body.connector;
  if (kind !== 'cleared' || path === undefined || connector === undefined) return undefined;
  const lost: LostValue[] = [];
  for (const { id, preview } of rows) {
    const letter = await showDeadLetter(runtime.pool, id);
    const payload = isObject(letter?.raw) ? letter.raw.value : undefined;
    const diff = 'diff' in preview ? (preview.diff as readonly Difference[]) : [];
    const value = diff.find((one) => one.path.replaceAll(/\[\d+\]/g, '') === path)?.before ?? null;
    if (payload) lost.push({ payload, value });
  }
  const suggestion = suggestConnector({ reservations: lost.map(({ payload }) => payload) });
  const suggested = suggestion.kind === 'ok' ? suggestion.fields.find(({ field }) => field === path)?.path : undefined;
  const from = movedTo(lost) ?? suggested;
  return from === undefined ? undefined : { connector, path, from };
}
