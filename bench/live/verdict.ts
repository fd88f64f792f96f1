import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '../../src/core/store/db/pool.ts';
import { checkHistory } from '../../test/history/check.ts';
import type { Erasure, History, Violation, Write } from '../../test/history/history.ts';
import { observeDatabase } from '../../test/simulation/observe.ts';
import { type Partner, stateText } from '../../test/simulation/partner.ts';
import { keptTexts } from './erasing.ts';

export interface Verdict {
  readonly history: History;
  /** How the runs ended. */
  readonly runs: readonly string[];
  readonly violations: readonly Violation[];
  readonly quietAfterMs: number;
}

const quietWithinMs = 240_000;

/** Waits until all work is done, then checks what happened. */
export async function judge(
  pool: Pool,
  partner: Partner,
  writes: readonly Write[],
  erasures: readonly Erasure[] = [],
): Promise<Verdict> {
  const endedAt = Date.now();
  const isQuiet = await quiet(pool, partner);
  const quietAfterMs = Date.now() - endedAt;
  const { fates, versions, settled, runs } = await observeDatabase(pool);
  const history: History = {
    statements: partner.statements,
    mentions: erasures.length > 0 ? [] : partner.mentions,
    fates,
    versions: versions.map((one) => ({
      ...one,
      value: stateText(JSON.parse(one.value)),
      ...(erasures.length === 0 && { text: one.value }),
    })),
    settled,
    writes,
    runs,
    erasures,
    kept: erasures.length > 0 ? await keptTexts(pool) : [],
    isQuiet: true,
  };
  const stuck: Violation[] = isQuiet
    ? []
    : [{ rule: 'accepted_is_accounted_for', message: `work is left ${quietWithinMs} ms after the load ended` }];
  return {
    history,
    runs: runs.map(({ state }) => state),
    violations: [...stuck, ...checkHistory(history)],
    quietAfterMs,
  };
}

/** A killed node's deliveries wait for the end of their leases, half a minute after their timeout; its runs for a minute. */
async function quiet(pool: Pool, partner: Partner): Promise<boolean> {
  const endAt = Date.now() + quietWithinMs;
  while (Date.now() < endAt) {
    const open = await pool
      .query<{ open: number }>(
        `select (select count(*) from events where state in ('pending', 'waiting', 'hydrate'))
              + (select count(*) from runs where state in ('queued', 'running'))
              + (select count(*) from outbox where due_at is not null) as open`,
      )
      .catch(() => undefined);
    if (open?.rows[0]?.open === 0 && !partner.hasUnsentEvents) return true;
    await delay(500);
  }
  return false;
}

/** The lines of the report. */
export function linesOf({ history, runs, violations, quietAfterMs }: Verdict): string[] {
  const { statements, fates, versions, settled, writes, erasures } = history;
  const events = statements.filter(({ isEvent }) => isEvent);
  const distinct = new Set(writes.map(({ destination, record, version }) => `${destination} ${record} ${version}`));
  return [
    `events      ${events.length}: ${counts(fates)}`,
    `runs        ${runs.length}: ${counts(runs.map((kind) => ({ kind })))}`,
    `versions    ${versions.length}`,
    `deliveries  ${settled.length}: ${counts(settled)}`,
    `writes      ${writes.length}, of them ${writes.length - distinct.size} repeated`,
    ...(erasures.length > 0 ? [`erasures    ${erasures.length}`] : []),
    `quiet       ${seconds(quietAfterMs)} after the load ended`,
    '',
    violations.length === 0 ? 'No promise broken.' : `${violations.length} violations:`,
    ...violations.slice(0, 30).map(({ rule, message }) => `  ${rule}: ${message}`),
  ];
}

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function counts(items: readonly { readonly kind: string }[]): string {
  const byKind = Map.groupBy(items, ({ kind }) => kind);
  return [...byKind].map(([kind, some]) => `${some.length} ${kind}`).join(', ');
}
