import type { z } from 'zod';
import type { DeliverLimits, DestinationServices, DestinationType, Prepared, PreparedStep } from '../destination.ts';
import { type CallLimits, EngineFailure, encoded, mergeSql } from './dialect.ts';
import { warehouseHoldings } from './holdings.ts';
import { type Engine, Loader } from './loader.ts';
import { type Change, changes, existing } from './schema.ts';
import { type Table, tables } from './tables.ts';

export interface WarehouseType<Settings> {
  readonly type: string;
  readonly settings: z.ZodType<Settings>;
  /** As the engine's prices and limits suggest. */
  readonly batch: ReturnType<DestinationType['batch']>;
  readonly timeoutMs: number;
  readonly connect: (settings: Settings, services: DestinationServices, timeoutMs: number) => Promise<Engine> | Engine;
  /** The least rights, as statements or roles for the one who administers the engine. */
  readonly grants: (settings: Settings) => readonly string[];
}

export function warehouseType<Settings>({
  connect,
  grants,
  batch,
  timeoutMs,
  ...about
}: WarehouseType<Settings>): DestinationType<Settings> {
  const open = (settings: Settings, services: DestinationServices) => async () =>
    connect(settings, services, timeoutMs);
  return {
    ...about,
    batch: () => batch,
    timeoutMs: () => timeoutMs,
    open: (settings, services) => new Loader(open(settings, services), services.clock),
    holdings: (settings, services) => warehouseHoldings(open(settings, services), timeoutMs),
    writeState: async (settings, services, state) => {
      const loader = new Loader(open(settings, services), services.clock);
      try {
        return await loader.writeState(state, alone(timeoutMs));
      } finally {
        await loader.close();
      }
    },
    async prepare(settings, services, { dryRun }) {
      const rights = grants(settings);
      const steps: PreparedStep[] = [];
      const engine = await attempted(steps, 'connection', open(settings, services));
      if (engine !== undefined) {
        await prepareTables(engine, steps, dryRun, alone(timeoutMs));
        await engine.connection.close();
      }
      return { steps, settings: {}, grants: rights } satisfies Prepared;
    },
  };
}

const alone = (deadlineMs: number): CallLimits & Pick<DeliverLimits, 'signal'> => ({
  deadlineMs,
  signal: AbortSignal.timeout(deadlineMs * 10),
  extend: async () => true,
});

async function attempted<Value>(
  steps: PreparedStep[],
  what: string,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    steps.push({ what, result: 'failed', message: error.message });
    return undefined;
  }
}

/** Creates what is missing, then proves the rights on each table with a merge of no rows. */
async function prepareTables(
  { dialect, connection }: Engine,
  steps: PreparedStep[],
  dryRun: boolean,
  limits: CallLimits,
): Promise<void> {
  const found = await attempted(steps, 'login', () => existing(dialect, connection, limits));
  if (found === undefined) return;
  steps.push({ what: 'login', result: 'exists' });
  const missing = changes(dialect, found);
  for (const { what, statement } of missing) {
    const isDone = dryRun || (await attempted(steps, what, () => connection.run([statement], limits)));
    if (!isDone) return;
    steps.push({ what, result: dryRun ? 'would_create' : 'created' });
  }
  const isNew = (table: Table) => dryRun && missing.some(({ what }: Change) => what.includes(table.name));
  for (const table of Object.values(tables) as Table[]) {
    if (isNew(table)) continue;
    const merge = dialect.merge ?? ((...asked) => mergeSql(dialect, ...asked));
    const statements = merge(table, table.columns, table.replaces, encoded([]));
    const what = `rights and columns of ${table.name}`;
    if (!(await attempted(steps, what, () => connection.run(statements, limits)))) return;
    steps.push({ what, result: 'exists' });
  }
}
