import type { Runtime } from '../../runtime/runtime.ts';
import { openAlertsOf } from '../store/conditions.ts';
import { feedDays, feedWeeks, seasonOf } from '../store/read-activity.ts';
import { manyBrands } from '../watch/alerts.ts';
import type { Facts } from '../watch/facts.ts';
import { type FeedDay, type FeedMeasure, judgeFeed, measured } from '../watch/feed.ts';

/** Alerts that explain why a brand brings little. */
const explaining = ['feed_silent', 'auth_failed', 'breaker_open', 'run_failed', 'stream_failing'];

const nothing: FeedDay = { events: 0, runs: 0, rows: 0, run_ms: 0, dead_rows: 0, dead_events: 0 };

/** Brands whose last 24 hours are far from what this weekday usually has. */
export async function unusualDays(runtime: Runtime): Promise<Facts['volumes']> {
  const { pool } = runtime;
  const { integrations } = runtime.active();
  const volumesOf = [...Map.groupBy(await feedWeeks(pool), ({ integration }) => integration)].flatMap(
    ([name, weeks]) => {
      const integration = integrations.get(name);
      const ago = (week: number) => weeks.find((one) => one.week === week) ?? nothing;
      const habit = { today: ago(0), weeks: [1, 2, 3, 4].map(ago), listsChanges: listsChanges(runtime, name) };
      const isPaused = integration === undefined || integration.body.paused;
      return isPaused || judgeFeed(habit).length === 0 ? [] : [{ name, habit }];
    },
  );
  const names = volumesOf.map(({ name }) => name);
  const open = await openAlertsOf(pool, { integrations: names, destinations: [] });
  const explained = new Set(open.filter(({ kind }) => explaining.includes(kind)).map(({ integration }) => integration));
  const season = await seasons(runtime, names);
  const volumes = [];
  for (const { name, habit } of volumesOf) {
    const isFew = (measure: FeedMeasure) => measure === 'events' || measure === 'rows';
    const findings = judgeFeed(habit, season.get(name)).filter(
      ({ measure }) => !isFew(measure) || !explained.has(name),
    );
    if (findings.length === 0) continue;
    const history = await feedHistory(runtime, name);
    for (const finding of findings) {
      const days = history[finding.measure].map((day) => day ?? 0);
      volumes.push({ ...finding, integration: name, listsChanges: habit.listsChanges, history: days });
    }
  }
  return volumes;
}

/** Each measure for the last 29 days, oldest first; null where nothing was counted. */
export async function feedHistory(runtime: Runtime, name: string) {
  const days = await feedDays(runtime.pool, name);
  const of = (measure: FeedMeasure) => days.map((day) => measured(measure, day, listsChanges(runtime, name)) ?? null);
  return { events: of('events'), rows: of('rows'), run_seconds: of('run_seconds'), dead_share: of('dead_share') };
}

/** Whether the connector asks for changes since the last run. */
const listsChanges = (runtime: Runtime, name: string): boolean =>
  JSON.stringify(runtime.active().integrations.get(name)?.connector.body.pull ?? {}).includes('{since');

const known = new WeakMap<Runtime['pool'], Map<string, { readonly at: number; readonly season: number }>>();
const knownMs = 3_600_000;

/** `seasonOf` for each brand, remembered for an hour. Many brands at once have another cause than the end of a season: none is asked. */
export async function seasons(
  { pool, clock }: Runtime,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (names.length >= manyBrands) return new Map();
  const mine = known.getOrInsertComputed(pool, () => new Map());
  for (const name of names) {
    if (clock.now() - (mine.get(name)?.at ?? 0) < knownMs) continue;
    mine.set(name, { at: clock.now(), season: await seasonOf(pool, name) });
  }
  return new Map(names.map((name) => [name, mine.get(name)?.season ?? 1]));
}
