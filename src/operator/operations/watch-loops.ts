import { loadDestinationTypes } from '../../core/deliver/destinations.ts';
import { durationMs } from '../../core/documents/units.ts';
import { withLongStatements } from '../../core/store/db/pool.ts';
import { forgetDeliveredErasures, giveUpErasures } from '../../core/store/erasure/erased.ts';
import { pruneRejections } from '../../core/store/events/rejections.ts';
import { eventPruner } from '../../core/store/events/retention.ts';
import { pruneSandboxReports } from '../../core/store/events/sandbox.ts';
import { systemClock } from '../../kit/clock.ts';
import { errorFacts } from '../../kit/log.ts';
import { type Loop, startLoop } from '../../kit/loop.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { addTally, countActivity } from '../store/activity.ts';
import { noteConfirmations } from '../store/erasure/erasures.ts';
import { claimMark } from '../store/marks.ts';
import { countEvidence } from '../store/measures/evidence.ts';
import { countQuality } from '../store/measures/quality.ts';
import { pruneStore } from '../store/retention.ts';
import { countHotels, mailWeekly } from './hotel-report.ts';
import { startDueAudits } from './jobs.ts';
import { judgeBrands, judgeCauses, judgeFeeds, sendDueAlerts } from './watch-once.ts';

/** Background work of every node: count activity, judge conditions, send alerts, delete what is past its retention. */
export function startWatch(runtime: Runtime): Loop {
  const { pool, log } = runtime;
  /** With many or large brands some turns take long: a rest of `rest` times as long follows them. */
  const every = (name: string, ms: number, turn: (signal: AbortSignal) => Promise<unknown>, rest = 0): Loop =>
    startLoop({
      name,
      heartbeats: runtime.heartbeats,
      stallsAfterMs: rest > 0 ? 600_000 : Math.max(ms, 60_000),
      turn: async (signal) => {
        const startedAt = systemClock.now();
        await turn(signal);
        return systemClock.now() - startedAt;
      },
      pause: (tookMs, signal) => systemClock.wait(Math.max(ms, rest * (tookMs ?? 0)), signal),
      onError: (error) => log.warn({ task: name, error: errorFacts(error) }, 'watch: failed'),
    });
  const kept = () => runtime.active().settings.retention;
  const pruneEvents = eventPruner(pool, systemClock);
  // One node judges what concerns single brands.
  const judge = async () => {
    if (await claimMark(pool, 'alerts', judgedEveryMs - 1_000)) await judgeBrands(runtime);
    if (await claimMark(pool, 'feeds', 20 * 60_000)) await judgeFeeds(runtime);
  };
  const loops = [
    every('activity', 2_000, async () => {
      await addTally(pool, runtime.tally, runtime.clock.now());
      await countActivity(pool);
    }),
    every('alert causes', judgedEveryMs, async () => {
      if (await claimMark(pool, 'alert causes', judgedEveryMs - 1_000)) await judgeCauses(runtime);
    }),
    every('alerts', judgedEveryMs, judge, 49),
    every('alert routes', 2_000, (signal) => sendDueAlerts(runtime, signal)),
    every('delivered erasures', 5_000, () => forgetErasures(runtime)),
    every('confirmed erasures', 5_000, () => noteConfirmations(pool)),
    every('quality', 5 * 60_000, () => countQualityOnce(runtime)),
    every('evidence', 5_000, () => countEvidenceOnce(runtime), 19),
    every('hotel reports', 5_000, () => countHotels(runtime)),
    every('audits', 30_000, () => startDueAudits(runtime)),
    every('weekly mails', 10 * 60_000, () => mailWeekly(runtime, systemClock.now())),
    every('retention', pruneEveryMs, () => prune(runtime)),
    every('event retention', pruneEveryMs, () =>
      pruneEvents({ rawMs: durationMs(kept().raw), eventIdsMs: durationMs(kept().event_ids) }, pauseBetweenBatches),
    ),
    every('rejection retention', pruneEveryMs, () => pruneRejections(pool)),
    every('sandbox retention', pruneEveryMs, () => pruneSandboxReports(pool, durationMs(kept().sandbox))),
  ];
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
}

/** Identifiers are kept no longer than the payloads that they came from. */
export async function forgetErasures({ pool, active }: Pick<Runtime, 'pool' | 'active'>): Promise<void> {
  const types = await loadDestinationTypes();
  const { destinations, settings } = active();
  const needing = [...destinations.values()].filter(({ body }) => types.get(body.type)?.findsErasedGuests !== false);
  const names = needing.map(({ name }) => name);
  await forgetDeliveredErasures(pool, names);
  await giveUpErasures(pool, names, durationMs(settings.retention.raw));
}

const judgedEveryMs = 30_000;
/** Any node prunes; two at once do no harm. */
const pruneEveryMs = 10 * 60_000;
const pauseBetweenBatches = () => systemClock.wait(20);

/** On one node: what the health of brands rests on, until all of it is counted. */
async function countEvidenceOnce({ pool }: Runtime): Promise<void> {
  if (!(await claimMark(pool, 'evidence', 4_000))) return;
  while ((await withLongStatements(pool, countEvidence)) > 0);
}

/** On one node, every half hour: it reads every reservation that changed yesterday or today. */
async function countQualityOnce({ pool }: Runtime): Promise<void> {
  if (await claimMark(pool, 'quality', 30 * 60_000)) await withLongStatements(pool, countQuality);
}

async function prune(runtime: Runtime): Promise<void> {
  const { raw, dead_letters, runs, audit, history } = runtime.active().settings.retention;
  const forgotten = await pruneStore(
    runtime.pool,
    {
      rawMs: durationMs(raw),
      deadLettersMs: durationMs(dead_letters),
      runsMs: durationMs(runs),
      auditMs: durationMs(audit),
      historyMs: durationMs(history),
    },
    pauseBetweenBatches,
  );
  if (Object.values(forgotten).some((count) => count > 0))
    runtime.log.info(forgotten, 'watch: deleted rows past their retention');
}
