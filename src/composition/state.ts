import type { Versioned } from '../core/brand/brand.ts';
import type { DestinationType, WarehouseState } from '../core/deliver/destination.ts';
import { loadDestinationTypes } from '../core/deliver/destinations.ts';
import { cellsOf, tables, timeText } from '../core/deliver/warehouse/tables.ts';
import { durationMs } from '../core/documents/units.ts';
import { brandStates, finishedRuns } from '../core/store/runs/state.ts';
import { errorFacts } from '../kit/log.ts';
import { type Loop, startLoop } from '../kit/loop.ts';
import { listComparisons } from '../operator/store/comparisons.ts';
import { claimMark, keepMark, moveMark, readMark } from '../operator/store/marks.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { configured, readyDestination } from './deliver.ts';

/**
 * Warehouses know how fresh and complete each brand is, and every run that ended: one node at a time writes that to each of them. What was
 * written is remembered only after the warehouse has it, so that nothing is lost while it is away.
 */
export async function startState(runtime: Runtime): Promise<Loop> {
  const { heartbeats, wake, log } = runtime;
  const types = await loadDestinationTypes();
  const written = new Map<string, string>();
  return startLoop({
    name: 'state',
    heartbeats,
    stallsAfterMs: 10 * 60_000,
    turn: async (_, beat) => {
      for (const destination of runtime.active().destinations.values()) {
        beat();
        if (!destination.body.paused) await writeState(runtime, types, destination, written);
      }
    },
    pause: (_, signal) => wake.wait('feedback', turnMs, signal),
    onError: (error) => log.warn({ error: errorFacts(error) }, 'state: writing failed'),
  });
}

const turnMs = 5_000;
/** The least time between two writes; where batches wait for long because statements are dear, twelve times as long as they. */
const leastMs = 15_000;
const mostRuns = 1_000;

async function writeState(
  runtime: Runtime,
  types: ReadonlyMap<string, DestinationType>,
  { name, body }: Versioned<'destination'>,
  written: Map<string, string>,
): Promise<void> {
  const { pool, log } = runtime;
  const type = types.get(body.type);
  if (type?.writeState === undefined) return;
  const config = configured({ name, body });
  const waitMs =
    body.batch?.wait === undefined
      ? type.batch(type.settings.parse(config.settings)).waitMs
      : durationMs(body.batch.wait);
  const mark = `state ${name}`;
  const everyMs = Math.max(leastMs, 12 * (waitMs ?? 0));
  if (!(await claimMark(pool, mark, everyMs, Math.min(everyMs, 60_000)))) return;
  const { settings, services } = await readyDestination(runtime, types, config);
  const integrations = [...runtime.active().integrations.values()]
    .filter(({ body: { deliver } }) => deliver.includes(name))
    .map(({ integration }) => integration);
  const sinceMs = await readMark(pool, `${mark} runs`);
  const runs = await finishedRuns(pool, integrations, sinceMs, mostRuns);
  const loaded_at = timeText(runtime.clock.now());
  const brands: Record<string, string>[] = [];
  const texts = new Map<string, string>();
  const comparisons = await listComparisons(pool, { destination: name, within: integrations });
  for (const { integration, ...state } of await brandStates(pool, integrations)) {
    const last = comparisons.find((one) => one.integration === integration);
    const facts = await services.brandOf(integration);
    if (facts === undefined) continue;
    const { brandId: brand_id, timezone, country, roomsAvailable } = facts;
    const currency = runtime.active().documents.get(integration)?.body.measures?.currency;
    const capacity = roomsAvailable.map(([from, rooms]) => ({ from, rooms }));
    const row = cellsOf(tables.brands, {
      integration,
      brand_id,
      timezone,
      currency,
      country,
      capacity,
      ...times(state),
      ...(last && {
        compared_at: timeText(last.finished_at.getTime()),
        compared: last.counts.compared,
        compared_equal: last.counts.equal,
      }),
    });
    const key = `${name} ${integration}`;
    if (written.get(key) === JSON.stringify(row)) continue;
    texts.set(key, JSON.stringify(row));
    brands.push({ ...row, loaded_at });
  }
  const brandIdOf = (integration: string) => runtime.active().documents.get(integration)?.body.brand_id;
  const state: WarehouseState = {
    brands,
    runs: runs.map((run) => cellsOf(tables.runs, { ...times(run), brand_id: brandIdOf(run.integration), loaded_at })),
  };
  if (brands.length + runs.length > 0) {
    const outcome = await type.writeState(settings, services, state);
    if (outcome.kind !== 'delivered') {
      log.warn({ destination: name, code: outcome.code, reason: outcome.message }, 'state: not written');
      return;
    }
  }
  for (const [key, text] of texts) written.set(key, text);
  const last = runs.at(-1);
  if (last !== undefined) await moveMark(pool, `${mark} runs`, last.ended_at.getTime());
  // A full page: the rest follows at once.
  if (runs.length < mostRuns) await keepMark(pool, mark);
}

/** Dates of the store as the warehouse takes them. */
const times = <Row extends object>(row: Row): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? timeText(value.getTime()) : value]),
  );
