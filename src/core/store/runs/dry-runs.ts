import { type Clock, systemClock } from '../../../kit/clock.ts';
import { timedId } from '../../../kit/ids.ts';
import { jsonbText } from '../../../kit/json.ts';
import { shortHash } from '../../../kit/short-hash.ts';
import type { EpochMs, IntegrationName, RunId } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import { encodeRecord } from '../../canonical/reservation.ts';
import type { RunStore } from '../../intake/pull/ports.ts';
import type { Counters, Run, StagedRow } from '../../intake/pull/run/run-state.ts';
import { decide } from '../../pipeline.ts';
import type { Decision, Statement, StatementOutcome, Summary } from '../../reconcile/forms.ts';
import { type Pool, rolledBack } from '../db/pool.ts';
import { ingest } from '../records/ingest.ts';
import { added, noCounters, withTally } from './row.ts';
import { readWatermark } from './runs.ts';
import { receivedElsewhere, storedRooms } from './stored-reservations.ts';

/** One record of a dry run, and what a real run would have done with it. */
export interface DryRecord {
  readonly integration: string;
  readonly statement: Statement;
  /** What it would make if nothing were stored. */
  readonly alone: Decision;
  readonly outcome: StatementOutcome;
}

/**
 * A run that stores nothing: pages go through the same code in a transaction that is rolled back, so that the counters show what a
 * real run would do. The run itself exists in memory only. `onRecord` gets each record once.
 */
export function openDryRunStore(
  pool: Pool,
  {
    clock = systemClock,
    onRecord = () => {},
  }: { readonly clock?: Pick<Clock, 'now'>; readonly onRecord?: (record: DryRecord) => void } = {},
): RunStore {
  const staged = new Map<string, StagedRow[]>();
  const seen = new Map<number, number>();
  const earlier = new EarlierStatements();
  const tallied = async (brand: Brand, all: readonly Statement[]): Promise<Summary> => {
    const statements = all.filter((one) => !wasSeen(seen, one));
    const before = earlier.before(brand.integration, statements);
    const tally = await rolledBack(pool, async (tx) => {
      if (before.length > 0) await ingest(tx, brand, before);
      return ingest(tx, brand, statements);
    });
    earlier.add(brand.integration, statements);
    for (const [index, outcome] of tally.outcomes.entries()) {
      const statement = statements[index];
      if (statement === undefined) continue;
      onRecord({ integration: brand.integration, statement, alone: decide(brand, undefined, statement), outcome });
    }
    return { ...tally, unchanged: tally.unchanged + all.length - statements.length };
  };
  return {
    isDryRun: true,
    queue: async (request) => ({ kind: 'queued', run: newRun(request, clock.now()) }),
    claimDue: async () => [],
    claim: async () => undefined,
    extend: async () => true,
    start: async () => true,
    commitPosition: async () => true,
    windowPages: async () => ({ marks: [], fingerprints: [], seen: [] }),
    commitPage: async (_lease, _leaseMs, commit, brand) => {
      for (const row of commit.staged) {
        const rows = staged.get(row.key) ?? [];
        staged.set(row.key, [...rows, row]);
      }
      const counted: Counters[] = [];
      for (const one of [{ ...commit, brand }, ...(commit.routed ?? [])]) {
        counted.push(withTally(one.counted, await tallied(one.brand, one.statements)));
      }
      return counted.reduce(added);
    },
    known: async () => [],
    staged: async (_lease, most) =>
      [...staged].slice(0, most).map(([key, rows]) => ({
        key,
        rows: rows.map(({ row }) => row),
        requestedAt: Math.min(...rows.map(({ requestedAt }) => requestedAt)),
      })),
    commitFormed: (_lease, _leaseMs, formed, brand) => {
      for (const key of formed.keys) staged.delete(key);
      return tallied(brand, formed.statements);
    },
    unlisted: async () => ({ missing: [], expected: 0 }),
    noteUnlisted: async () => {},
    storedReservation: async () => undefined,
    storedRooms: (integration, ids) => storedRooms(pool, integration, ids),
    receivedElsewhere: (integration, others, bookings) => receivedElsewhere(pool, integration, others, bookings),
    park: async () => true,
    finish: async () => true,
    get: async () => undefined,
    watermark: (integration, sync, feed) => readWatermark(pool, integration, sync, feed),
  };
}

/** How many reservations are remembered for bare rows of later pages. */
const remembered = 5_000;

/**
 * What earlier pages stated about their reservations. A bare row states only a part of one (`shape.also`, `partial`); a real run would have
 * stored the rest before.
 */
class EarlierStatements {
  readonly #of = new Map<string, readonly Statement[]>();

  before(integration: string, statements: readonly Statement[]): Statement[] {
    const parts = statements.filter((one) => one.isPart);
    return [...new Set(parts.map((one) => keyOf(integration, one)))].flatMap((key) => this.#of.get(key) ?? []);
  }

  add(integration: string, statements: readonly Statement[]): void {
    for (const one of statements) {
      if (one.content === undefined) continue;
      const key = keyOf(integration, one);
      this.#of.set(key, [...(this.#of.get(key) ?? []), one]);
    }
    for (const key of this.#of.keys()) {
      if (this.#of.size <= remembered) return;
      this.#of.delete(key);
    }
  }
}

const keyOf = (integration: string, { id }: Statement): string => JSON.stringify([integration, id]);

/** Windows may list the same reservation: in a real run, the earlier page would already be stored. */
function wasSeen(seen: Map<number, number>, one: Statement): boolean {
  const { type, id, record } = one;
  if (record === undefined) return false;
  const identity = shortHash(`${type} ${id}`);
  const content = shortHash(jsonbText(encodeRecord(record)));
  const isSame = seen.get(identity) === content;
  seen.set(identity, content);
  return isSame;
}

function newRun(request: Parameters<RunStore['queue']>[0], now: EpochMs): Run {
  return {
    integration: request.integration as IntegrationName,
    runId: timedId('dry', now) as RunId,
    sync: request.sync,
    kind: request.kind,
    state: 'running',
    fence: 0,
    counters: noCounters,
    ...(request.from !== undefined && { from: request.from }),
    ...(request.to !== undefined && { to: request.to }),
  };
}
