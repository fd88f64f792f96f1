import { rm } from 'node:fs/promises';
import path from 'node:path';
import { isMap, parseDocument } from 'yaml';
import type { Brand } from '../../core/brand/brand.ts';
import { type BookingMatches, matchBookings } from '../../core/persons/match-bookings.ts';
import type { Pool, Tx } from '../../core/store/db/pool.ts';
import {
  bookingsOfBrand,
  incompleteSyncs,
  moveFeeds,
  openBackfill,
  waitingEvents,
} from '../../core/store/records/move-brand.ts';
import { queueRun } from '../../core/store/runs/runs.ts';
import { InnboundError } from '../../errors.ts';
import { changeDocument } from '../../runtime/in-force.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { fileHere, freeFile, listedBrands, writeWhole } from './document-file.ts';
import { namedBrand } from './endpoints.ts';
import { offThread } from './off-thread.ts';
import { fileName, isOne, readAround, sourcesAround } from './sources-in-force.ts';

/**
 * The same hotel leaves one system for another. The new one is connected first, as an integration that delivers nowhere; when its feed is
 * complete, the brand takes the feed over and keeps its name, its destinations, and the ids of its bookings (docs/adr/0018-brand-move.md).
 */
export interface MovePreview extends BookingMatches {
  /** Bookings of the old system that are not over, and not cancelled. */
  readonly open: number;
  readonly openMatched: number;
  /** Guests with a withdrawn consent whom the new system states as agreed. */
  readonly consentRegained: number;
  /** What must be done first. */
  readonly obstacles: readonly string[];
}

export async function previewMove(runtime: Runtime, from: string, to: string): Promise<MovePreview> {
  const [brand, next] = [namedBrand(runtime, from), namedBrand(runtime, to)];
  return compare(runtime, runtime.pool, brand, next);
}

async function compare(runtime: Runtime, db: Pool | Tx, brand: Brand, next: Brand): Promise<MovePreview> {
  const now = await bookingsOfBrand(db, next.integration, '');
  const first = now.map(({ checkIn }) => checkIn).toSorted()[0] ?? '';
  const before = await bookingsOfBrand(db, brand.integration, first);
  const matches = matchBookings(before, now);
  const today = new Date(runtime.clock.now()).toISOString().slice(0, 10);
  const isOpen = ({ isCancelled, checkOut }: (typeof before)[number]) => !isCancelled && checkOut >= today;
  const openMatched = matches.matched.filter((one) => isOpen(one.before)).length;
  const agreed = (guests: (typeof before)[number]['guests'], is: boolean) =>
    guests.filter((guest) => guest.marketing_consent === is).length;
  const obstacles: string[] = [];
  const row = (await listedBrands(runtime.workspaceDir)).get(next.integration);
  if (row !== undefined) obstacles.push(`${next.integration} is a row of ${row.file}: give it its own file`);
  if (next.body.deliver.length > 0) {
    obstacles.push(`${next.integration} delivers to ${next.body.deliver.join(', ')}: remove \`deliver\` from it`);
  }
  const syncs = Object.keys(next.body.pull?.syncs ?? {});
  const incomplete = await incompleteSyncs(db, next.integration, syncs);
  if (incomplete.length > 0)
    obstacles.push(`the last ${incomplete.join(', ')} of ${next.integration} was not complete`);
  if (now.length === 0) obstacles.push(`${next.integration} has no reservations yet`);
  const waiting = await waitingEvents(db, brand.integration);
  if (waiting > 0) obstacles.push(`${waiting} events of ${brand.integration} are not processed yet`);
  return {
    ...matches,
    open: before.filter(isOpen).length,
    openMatched,
    consentRegained: matches.matched
      .filter((one) => agreed(one.before.guests, false) > 0)
      .reduce((sum, one) => sum + agreed(one.now.guests, true), 0),
    obstacles,
  };
}

/** Below this share of matched bookings the two are probably not the same hotel. */
const enough = 0.5;

/** `range`: the days that the brand is read again for. */
export async function moveBrand(
  runtime: Runtime,
  from: string,
  to: string,
  { by, acceptUnmatched = false }: { readonly by: string; readonly acceptUnmatched?: boolean },
) {
  if (isMoved(runtime, from, to)) {
    await finishFiles(runtime, from, to);
    return { preview: nothing, range: await openBackfill(runtime.pool, from) };
  }
  const moved = await changeDocument<{ readonly preview: MovePreview; readonly range: ReturnType<typeof rangeOf> }>(
    runtime,
    by,
    async (tx) => {
      const text = await documentAfter(runtime, tx, from, to);
      const around = await readAround(runtime, tx, { kind: 'integration', name: from }, `${text} ${to}`);
      const [brand, next] = [namedBrand(runtime, from), namedBrand(runtime, to)];
      const preview = await compare(runtime, tx, brand, next);
      const { obstacles, open, openMatched } = preview;
      if (obstacles.length > 0) throw refused(obstacles.join('; '));
      if (openMatched < open * enough && !acceptUnmatched) {
        const message = `only ${openMatched} of ${open} bookings still to come are in ${to}: the others would stay as they are, and those of ${to} would be created beside them`;
        throw refused(`${message}. If that is right, add --accept-unmatched`);
      }
      const others = around.filter((one) => !isOne(one, { kind: 'integration', name: to }));
      const sources = await sourcesAround(others, [{ kind: 'integration', name: from }]);
      const edited = { kind: 'integration', file: fileName('integration', from), text, shipped: false } as const;
      const checked = await offThread(runtime, 'check', { sources: [...sources, edited] });
      if (checked.kind === 'invalid') throw refused(checked.mistakes.map(({ message }) => message).join('; '));
      const document = checked.documents.integrations.get(from);
      const removed = around.find((one) => isOne(one, { kind: 'integration', name: to }));
      if (document === undefined || removed === undefined) throw refused(`${from} or ${to} is no longer in force`);
      const prefix = prefixOf(to);
      const matched = preview.matched.map((one) => ({ id: one.before.id, partnerId: one.now.id }));
      const isListed = next.body.pull !== undefined && next.connector.body.pull?.request !== undefined;
      await moveFeeds(tx, { integration: brand.integration, to: next.integration, prefix, isListed, matched });
      const range = isListed ? rangeOf(preview) : undefined;
      if (range !== undefined) {
        await queueRun(tx, { integration: brand.integration, kind: 'backfill', requestedBy: by, ...range });
      }
      return { put: [document], remove: [removed], result: () => ({ preview, range }) };
    },
  );
  await runtime.refresh();
  runtime.wake.signal('documents');
  runtime.wake.signal('runs');
  runtime.wake.signal('events');
  await finishFiles(runtime, from, to);
  return moved;
}

const nothing: MovePreview = {
  matched: [],
  onlyBefore: [],
  onlyNow: [],
  open: 0,
  openMatched: 0,
  consentRegained: 0,
  obstacles: [],
};

const refused = (message: string): InnboundError =>
  new InnboundError('operate.move_refused', `${message[0]?.toUpperCase()}${message.slice(1)}.`);

const prefixOf = (to: string): string => `${to}~`;

const isMoved = (runtime: Runtime, from: string, to: string): boolean =>
  !runtime.active().integrations.has(to) && runtime.active().integrations.get(from)?.body.id_prefix === prefixOf(to);

function rangeOf({ matched, onlyNow }: BookingMatches) {
  const all = [...matched.map(({ now }) => now), ...onlyNow];
  const [first] = all.map(({ checkIn }) => checkIn).sort();
  const last = all
    .map(({ checkOut }) => checkOut)
    .sort()
    .at(-1);
  return first === undefined || last === undefined ? undefined : { from: first, to: last };
}

/** The text of the new integration under the brand's name. What belongs to the brand and not to a system stays. */
async function documentAfter(runtime: Runtime, tx: Tx, from: string, to: string): Promise<string> {
  const around = await readAround(runtime, tx, { kind: 'integration', name: from }, to);
  const sourceOf = (name: string) => around.find((one) => isOne(one, { kind: 'integration', name }))?.source ?? '';
  const before = parseDocument(sourceOf(from), { uniqueKeys: false });
  const next = parseDocument(sourceOf(to), { uniqueKeys: false });
  if (!isMap(next.contents)) throw refused(`${to} is no longer in force`);
  next.set('integration', from);
  next.set('id_prefix', prefixOf(to));
  for (const key of ['transforms', 'rooms_available', 'deliver']) {
    if (before.has(key) && (key === 'deliver' || !next.has(key))) next.set(key, before.get(key, true));
  }
  return next.toString({ lineWidth: 0 });
}

/**
 * Writes the files after the commit: if this process dies in between, the files are those of an earlier version, which no service takes up
 * again, and the same command writes them.
 */
async function finishFiles(runtime: Runtime, from: string, to: string): Promise<void> {
  const { workspaceDir, pool } = runtime;
  const around = await readAround(runtime, pool, { kind: 'integration', name: from });
  const source = around.find((one) => isOne(one, { kind: 'integration', name: from }))?.source;
  const own = await fileHere(workspaceDir, 'integration', from);
  const old = await fileHere(workspaceDir, 'integration', to);
  const file = own?.file ?? freeFile(workspaceDir, 'integration', from);
  if (source !== undefined && own?.text !== source) await writeWhole(workspaceDir, file, source);
  if (old !== undefined) await rm(path.join(workspaceDir, old.file));
}
