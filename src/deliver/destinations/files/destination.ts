import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { timedId } from '../../../kit/ids.ts';
import type { DestinationType, Outcome } from '../../destination.ts';
import type { Delivery } from '../../message.ts';
import { eraseFromFiles } from './erase.ts';
import { findKeys } from './find-keys.ts';
import { isStill, removeAbandoned, replaceFile, syncFolder } from './folder.ts';
import type { Format } from './format.ts';
import { ndjson } from './ndjson.ts';
import { parquet } from './parquet.ts';
import { fileBytes, type Settings, settingsSchema } from './settings.ts';

/**
 * Files under date=YYYY-MM-DD/ (the day of the change, UTC). A file grows up to file_size: each batch replaces it as a whole, so a
 * reader sees complete lines (or a complete Parquet file) at any moment. Appending would be cheaper and was rejected: a reader can
 * see half a line, and a crash leaves one.
 *
 * A version that may have been written before a crash is searched for in its day's folder first, so that it is there once. An
 * erasure is a row of its own, and removes the guest from the older rows in all files.
 */
export const destinationType: DestinationType<Settings> = {
  type: 'files',
  settings: settingsSchema,
  batch: () => ({ standard: 1_000, most: 20_000 }),
  timeoutMs: () => 60_000,
  open(settings, services) {
    const root = path.resolve(services.workspaceDir, settings.path);
    const format: Format = settings.format === 'parquet' ? parquet : ndjson;
    const fullAt = fileBytes(settings);
    const growing = new Map<string, Part>();
    let last: Promise<unknown> = Promise.resolve();

    async function write(day: string, deliveries: readonly Delivery[], late: AbortSignal): Promise<void> {
      const folder = path.join(root, `date=${day}`);
      let part = growing.get(day);
      if (part === undefined) {
        await makeFolder(folder, root);
        await removeAbandoned(folder, services.clock.now());
      }
      const fresh = await withoutWritten(folder, format, deliveries, late);
      const rows = fresh.map((delivery) => format.encode(delivery));
      if (rows.length === 0) return;
      if (part === undefined || part.size >= fullAt || !(await isStill(part.file, part.inode))) {
        part = {
          file: path.join(folder, timedId('changes', services.clock.now()) + format.extension),
          rows: [],
          size: 0,
          inode: 0,
        };
      }
      const grown = {
        ...part,
        rows: [...part.rows, ...rows.map(({ row }) => row)],
        size: rows.reduce((sum, { size }) => sum + size, part.size),
      };
      const inode = await replaceFile(part.file, format.file(grown.rows), late);
      growing.delete(day);
      growing.set(day, { ...grown, inode });
      const oldest = growing.keys().next().value;
      if (growing.size > daysKeptOpen && oldest !== undefined) growing.delete(oldest);
    }

    return {
      deliver(batch, { deadlineMs, signal }) {
        const deadlineAtMs = services.clock.now() + deadlineMs;
        const turn = last.then(async () => {
          const outcomes = new Map<Delivery, Outcome>();
          for (const [day, deliveries] of Map.groupBy(batch, ({ changedAt }) => dayOf(changedAt))) {
            const outcome = await write(day, deliveries, signal).then(written, failed);
            for (const delivery of deliveries) outcomes.set(delivery, outcome);
          }
          const erased = batch.filter(
            (one) => one.message.event === 'erased' && outcomes.get(one)?.kind === 'delivered',
          );
          if (erased.length > 0) {
            const limits = { clock: services.clock, deadlineAtMs };
            const outcome = await eraseFromFiles(root, format, erased, limits).then(written, unerased);
            for (const delivery of erased) outcomes.set(delivery, outcome);
          }
          return batch.map((delivery) => outcomes.get(delivery) ?? written());
        });
        last = turn;
        return turn;
      },
      async close() {
        await last;
      },
    };
  },
};

interface Part {
  readonly file: string;
  readonly rows: readonly unknown[];
  readonly size: number;
  readonly inode: number;
}

/** Today, and yesterday around midnight; a backlog is written day by day. */
const daysKeptOpen = 3;

async function withoutWritten(
  folder: string,
  format: Format,
  deliveries: readonly Delivery[],
  late: AbortSignal,
): Promise<readonly Delivery[]> {
  const doubtful = deliveries.filter(({ mayHaveArrived }) => mayHaveArrived);
  if (doubtful.length === 0) return deliveries;
  const keys = new Set(doubtful.map(({ message }) => message.idempotency_key));
  const changedAt = Math.min(...doubtful.map((delivery) => delivery.changedAt));
  const found = await findKeys(folder, format.extension, keys, { changedAt, late });
  return deliveries.filter(({ message }) => !found.has(message.idempotency_key));
}

async function makeFolder(folder: string, root: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first !== undefined) await syncFolder(path.dirname(path.resolve(root, first)));
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const written = (): Outcome => ({ kind: 'delivered' });

function failed(error: unknown): Outcome {
  const message = messageOf(error);
  if (error instanceof RangeError) return { kind: 'dead', code: 'deliver.refused', message, whole: true };
  return { kind: 'retry', code: 'deliver.write_failed', message };
}

const unerased = (error: unknown): Outcome => ({
  kind: 'retry',
  code: 'deliver.write_failed',
  message: messageOf(error),
});

/** Only the code of the system's error: its text names paths. */
function messageOf(error: unknown): string {
  if (error instanceof RangeError) return `Writing failed: ${error.message}.`;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === undefined
    ? `Writing failed: ${(error as Error).name}.`
    : `Writing failed: ${syscall ?? 'system'} ${code}.`;
}
