import type { Clock, Timers } from '../../../kit/clock.ts';
import { reservationWithoutMentions } from '../../canonical/mentions.ts';
import type { DeliverLimits, Destination, Outcome } from '../destination.ts';
import type { Delivery } from '../message.ts';
import {
  type CallLimits,
  type Connection,
  type Dialect,
  type EncodedRows,
  EngineFailure,
  encoded,
  failureCodes,
  type How,
  mergeSql,
  type Row,
  rowText,
  type Statement,
  selectSql,
} from './dialect.ts';
import { changes, existing, mistyped } from './schema.ts';
import {
  type Cells,
  rowsOf,
  type Table,
  type TableName,
  tables,
  timeText,
  UnfitValue,
  versionTexts,
} from './tables.ts';

/**
 * Loads a warehouse: one statement per table and batch, in which the engine unpacks the rows from one JSON text and merges them by epoch and
 * version. So a batch that is repeated, or comes late, changes nothing, and there is no staging file, staging table or ledger to clean up.
 */

export interface Engine {
  readonly dialect: Dialect;
  readonly connection: Connection;
}

/** A part of a call whose rows fit into one statement per table. */
interface Part {
  readonly deliveries: Delivery[];
  readonly rows: Map<TableName, EncodedRows>;
  bytes: number;
}

const purgeAgainMs = 5_000;

export class Loader implements Destination {
  readonly #engine: () => Promise<Engine>;
  readonly #clock: Clock & Pick<Timers, 'uptimeMs'>;
  #opened: Promise<Engine> | undefined;
  #migrated: Promise<void> | undefined;
  /** Statements on one table of most engines wait for each other, or abort: this node sends one call at a time. */
  #last: Promise<unknown> = Promise.resolve();
  /** By the key of an erasure whose old parts are not gone. */
  readonly #purging = new Map<string, Map<string, string>>();

  constructor(engine: () => Promise<Engine>, clock: Clock & Pick<Timers, 'uptimeMs'>) {
    this.#engine = engine;
    this.#clock = clock;
  }

  deliver(batch: readonly Delivery[], limits: DeliverLimits): Promise<readonly Outcome[]> {
    const turn = this.#last.then(() => this.#deliverAll(batch, limits));
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Rows that are no records of the outbox: the state of the brands, and the runs. */
  async writeState(
    state: Readonly<Partial<Record<TableName, readonly Cells[]>>>,
    limits: CallLimits,
  ): Promise<Outcome> {
    return this.#attempt(limits, async (engine) => {
      for (const [name, rows] of Object.entries(state) as [TableName, readonly Cells[]][]) {
        if (rows.length === 0) continue;
        const table = tables[name];
        await run(engine, statements(engine, table, encoded(rows, engine.dialect, table)), limits);
      }
      return delivered;
    });
  }

  async close(): Promise<void> {
    await this.#last;
    const engine = await this.#opened?.catch(() => undefined);
    await engine?.connection.close();
  }

  async #deliverAll(batch: readonly Delivery[], limits: DeliverLimits): Promise<readonly Outcome[]> {
    const startedAt = this.#clock.uptimeMs();
    const outcomes = new Map<Delivery, Outcome>();
    let stopped: Outcome | undefined;
    const opened = await this.#open().catch(asOutcome);
    if ('kind' in opened) return batch.map(() => opened);
    for (const part of this.#cut(batch, opened.dialect, outcomes)) {
      const outcome: Outcome =
        stopped ?? (await this.#attempt(limits, (engine) => this.#write(engine, part, limits, outcomes)));
      // Some row of this part is to blame, or the engine: then the other parts wait as well.
      if (outcome.kind === 'retry') stopped = outcome;
      for (const delivery of part.deliveries) if (!outcomes.has(delivery)) outcomes.set(delivery, outcome);
    }
    const durationMs = Math.round(this.#clock.uptimeMs() - startedAt);
    return batch.map((delivery) => ({ ...(outcomes.get(delivery) ?? delivered), durationMs }));
  }

  /** Parts by bytes. A record that no statement can hold, or with a value that no engine takes, gets its outcome here. */
  *#cut(batch: readonly Delivery[], dialect: Dialect, outcomes: Map<Delivery, Outcome>): Generator<Part> {
    const loadedAt = timeText(this.#clock.now());
    let part: Part = { deliveries: [], rows: new Map(), bytes: 0 };
    for (const delivery of batch) {
      const rows = fittingRows(delivery, loadedAt, dialect);
      if (rows.kind !== 'rows') {
        outcomes.set(delivery, rows);
        continue;
      }
      if (part.bytes + rows.bytes > dialect.mostBytes) {
        yield part;
        part = { deliveries: [], rows: new Map(), bytes: 0 };
      }
      part.deliveries.push(delivery);
      part.bytes += rows.bytes;
      // The rest of its erasure is to wait for the engine.
      if (this.#purging.has(delivery.message.idempotency_key)) continue;
      for (const { table, cells, text } of rows.list) {
        const known = part.rows.get(table) ?? { cells: [], texts: [] };
        known.cells.push(cells);
        known.texts.push(text);
        part.rows.set(table, known);
      }
    }
    if (part.deliveries.length > 0) yield part;
  }

  async #write(engine: Engine, part: Part, limits: DeliverLimits, outcomes: Map<Delivery, Outcome>): Promise<Outcome> {
    const erasures = part.deliveries.filter(({ message }) => message.event === 'erased');
    const reservations = erasures.filter(({ message }) => message.type === 'reservation');
    await this.#keepRemoved(engine, part.rows.get('reservations'), reservations, limits);
    let running: Promise<unknown> = Promise.resolve();
    for (const [name, rows] of part.rows) {
      // Made while the engine still works on the table before.
      const next = statements(engine, tables[name], rows);
      await running;
      running = run(engine, next, limits);
    }
    await running;
    await this.#eraseFromVersions(engine, reservations, limits);
    for (const delivery of erasures) {
      if (!(await this.#purge(engine, delivery, limits))) outcomes.set(delivery, purging);
    }
    return delivered;
  }

  /** An erasure does not bring back a record that has left. */
  async #keepRemoved(
    { dialect, connection }: Engine,
    rows: EncodedRows | undefined,
    erasures: readonly Delivery[],
    limits: CallLimits,
  ): Promise<void> {
    if (erasures.length === 0 || rows === undefined) return;
    const { reservations } = tables;
    const wanted = reservations.columns.filter(({ name }) => ['integration', 'id', 'removed_at'].includes(name));
    const keys = encoded(erasures.map(({ message: { integration, data } }) => ({ integration, id: data.id })));
    const stored = await connection.run(selectSql(dialect, reservations, wanted, reservations.key, keys), limits);
    const removed = new Set(stored.flatMap((row) => (row.removed_at ? [`${row.integration} ${row.id}`] : [])));
    for (const [i, row] of rows.cells.entries()) {
      if (row.event !== 'erased' || !removed.has(`${row.integration} ${row.id}`)) continue;
      // The time is that of the erasure: the engines write theirs in different ways, and the views only ask whether there is one.
      const kept = { ...row, removed_at: row.changed_at ?? '' };
      rows.cells[i] = kept;
      rows.texts[i] = rowText(kept, dialect, reservations);
    }
  }

  /** Earlier versions of a reservation hold no guests, but a text in them may name one. */
  async #eraseFromVersions(engine: Engine, erasures: readonly Delivery[], limits: CallLimits): Promise<void> {
    const named = erasures.filter(({ erased = [] }) => erased.length > 0);
    if (named.length === 0) return;
    const table = tables.reservation_versions;
    const columns = table.columns.filter(({ name }) => [...table.key, ...versionTexts, 'rooms'].includes(name));
    const keys = encoded(named.map(({ message: { integration, data } }) => ({ integration, id: data.id })));
    const found = selectSql(engine.dialect, table, columns, ['integration', 'id'], keys);
    const stored = await engine.connection.run(found, limits);
    const cleaned = stored.flatMap((row) => {
      const of = named.find(({ message }) => message.integration === row.integration && message.data.id === row.id);
      const kept = of && withoutGuests(row, of.erased ?? []);
      return kept ? [kept] : [];
    });
    if (cleaned.length === 0) return;
    await run(engine, statements(engine, table, encoded(cleaned), 'present', columns), limits);
  }

  async #purge({ dialect, connection }: Engine, { message }: Delivery, limits: CallLimits): Promise<boolean> {
    if (dialect.purge === undefined) return true;
    const { integration, epoch = 1, version, idempotency_key: key, data } = message;
    const memo = this.#purging.get(key) ?? new Map<string, string>();
    this.#purging.set(key, memo);
    const table = message.type === 'guest' ? tables.guest_profiles : tables.reservations;
    const rows = encoded([{ integration, id: data.id, epoch: String(epoch), version: String(version) }]);
    const isDone = await dialect.purge(connection, limits, { table, rows, memo });
    if (isDone) this.#purging.delete(key);
    return isDone;
  }

  #open(): Promise<Engine> {
    this.#opened ??= this.#engine().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** Once per opening; a failure is retried. */
  #migrate({ dialect, connection }: Engine, limits: CallLimits): Promise<void> {
    const migrate = async () => {
      const found = await existing(dialect, connection, limits);
      for (const { statement } of changes(dialect, found)) {
        await limits.extend();
        await connection.run([statement], limits);
      }
    };
    this.#migrated ??= migrate().catch((error: unknown) => {
      this.#migrated = undefined;
      throw error;
    });
    return this.#migrated;
  }

  /** What is missing is created once, then the work is done again. */
  async #attempt(limits: CallLimits, work: (engine: Engine) => Promise<Outcome>): Promise<Outcome> {
    try {
      const engine = await this.#open();
      const isFresh = this.#migrated === undefined;
      await this.#migrate(engine, limits);
      return await work(engine).catch(async (error: unknown) => {
        if (!(error instanceof EngineFailure) || error.meaning !== 'missing' || isFresh) throw error;
        this.#migrated = undefined;
        await this.#migrate(engine, limits);
        return work(engine);
      });
    } catch (error) {
      if (error instanceof EngineFailure && error.meaning === 'missing') this.#migrated = undefined;
      return this.#explained(error, limits);
    }
  }

  /** A refused value may be one that a changed column does not take: then no record is to blame. */
  async #explained(error: unknown, limits: CallLimits): Promise<Outcome> {
    const outcome = asOutcome(error);
    if (!(error instanceof EngineFailure) || !['refused', 'missing', 'other'].includes(error.meaning)) return outcome;
    const { dialect, connection } = await this.#open();
    const found = await existing(dialect, connection, limits).catch(() => 'no_schema' as const);
    const causes = found === 'no_schema' ? [] : mistyped(dialect, found).slice(0, 3);
    if (causes.length === 0) return outcome;
    const message = `${causes.join(', ')}; change it back, or rename the column and let the next try create ours. ${error.message}`;
    return { kind: 'retry', code: 'deliver.warehouse_mismatch', message };
  }
}

function statements(
  { dialect }: Engine,
  table: Table,
  rows: EncodedRows,
  how: How = table.replaces,
  columns = table.columns,
) {
  const merge = dialect.merge ?? ((...asked) => mergeSql(dialect, ...asked));
  return merge(table, columns, how, rows);
}

async function run({ connection }: Engine, made: readonly Statement[], limits: CallLimits): Promise<readonly Row[]> {
  if (!(await limits.extend())) throw new EngineFailure('lease', 'Not sent: another node may hold the records.');
  return connection.run(made, limits);
}

const delivered: Outcome = { kind: 'delivered' };

const purging: Outcome = {
  kind: 'retry',
  code: 'deliver.write_failed',
  message:
    'The guest is erased from the tables. The erasure counts as delivered when the engine has removed the old parts.',
  afterMs: purgeAgainMs,
  free: true,
  mayHaveArrived: true,
};

function fittingRows(delivery: Delivery, loadedAt: string, dialect: Dialect) {
  const { mostBytes } = dialect;
  const refused = (message: string) => ({ kind: 'dead', code: 'deliver.refused', message }) as const;
  try {
    const list = rowsOf(delivery, loadedAt).map(([table, cells]) => {
      return { table, cells, text: rowText(cells, dialect, tables[table]) };
    });
    // Of the larger of its rows: each table has a statement of its own.
    const bytes = Math.max(...list.map(({ text }) => Buffer.byteLength(text) + 2));
    if (bytes <= mostBytes - 2) return { kind: 'rows', list, bytes } as const;
    return refused(`The record has ${bytes} bytes; a statement of this engine takes ${mostBytes}.`);
  } catch (error) {
    if (error instanceof UnfitValue) return refused(`${error.message}.`);
    throw error;
  }
}

/** The version without what names a guest; undefined if nothing does. */
function withoutGuests(row: Row, erased: NonNullable<Delivery['erased']>): Cells | undefined {
  const { rooms, ...texts } = row;
  const given = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== null)) as Cells;
  const version = { ...given, ...(rooms && { rooms: JSON.parse(rooms) as object[] }) };
  const kept = reservationWithoutMentions(version, erased);
  if (kept === version) return undefined;
  const { rooms: keptRooms, ...keptTexts } = kept as Cells & { rooms?: object[] };
  return { ...keptTexts, ...(keptRooms && { rooms: JSON.stringify(keptRooms) }) };
}

export function asOutcome(error: unknown): Outcome {
  if (!(error instanceof EngineFailure)) throw error;
  const { meaning, message, afterMs } = error;
  const code = failureCodes[meaning];
  if (meaning === 'blocked') return { kind: 'dead', code, message };
  if (meaning === 'refused') return { kind: 'dead', code, message, whole: true };
  const isFree = meaning === 'busy' || meaning === 'lease';
  const wait = isFree ? { free: true, mayHaveArrived: true, ...(afterMs !== undefined && { afterMs }) } : {};
  return { kind: 'retry', code, message, ...wait, whole: meaning === 'other' };
}
