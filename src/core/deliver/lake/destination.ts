import type { Clock } from '../../../kit/clock.ts';
import { brandWriter } from '../brands.ts';
import type { BrandFacts, Destination, DestinationServices, Outcome } from '../destination.ts';
import type { Delivery } from '../message.ts';
import { eraseFromFiles } from './erase.ts';
import type { FileStore } from './file-store.ts';
import { UnfitValue } from './format.ts';
import { ndjson } from './ndjson.ts';
import { parquet } from './parquet.ts';
import { fileBytes, type LakeSettings } from './settings.ts';
import { LakeWriter } from './writer.ts';

interface LakeOptions {
  readonly store: FileStore;
  readonly settings: LakeSettings;
  /** Each brand has its own folder. With the ids that a brand had before: its older files are in other folders. */
  readonly brandIdsOf?: (integration: string) => Promise<readonly string[]>;
  readonly brandOf: DestinationServices['brandOf'];
  readonly clock: Clock;
  /** What a failure means. The message names no path and no key. */
  readonly failure: (error: unknown) => Outcome;
}

/**
 * Files for analytic engines, under date=YYYY-MM-DD/ (the day of the change, UTC), and under brand=…/ inside it where each brand has
 * its own folder. Files are always complete, and each version is written once. An erasure is a separate row, and removes the guest from
 * the older rows.
 */
export function openLake(options: LakeOptions): Destination {
  const { store, settings, brandIdsOf, clock } = options;
  const failure = (error: unknown): Outcome => (error instanceof UnfitValue ? unfit(error) : options.failure(error));
  const format = settings.format === 'parquet' ? parquet : ndjson;
  const writer = new LakeWriter({ store, format, fullAt: fileBytes(settings), clock });
  const writeBrands = brandWriter(options.brandOf);
  const folderOf = ({ message, changedAt }: Delivery): string =>
    `date=${dayOf(changedAt)}${brandIdsOf ? `/${brandFolder(message.brand_id)}` : ''}`;
  /** By the key of an erasure that is not complete. */
  const cleaned = new Map<string, Set<string>>();
  let last: Promise<unknown> = Promise.resolve();

  async function erase(erased: readonly Delivery[], deadlineAtMs: number): Promise<Outcome> {
    const brands = brandIdsOf && (await brandsOf(erased, brandIdsOf));
    const mayHold = (name: string) => brands === undefined || brands.some((brand) => name.includes(`/${brand}/`));
    const keys = erased.map(({ message }) => message.idempotency_key);
    if (cleaned.size > mostKept) cleaned.clear();
    for (const key of keys) if (!cleaned.has(key)) cleaned.set(key, new Set());
    const clean = keys.map((key) => cleaned.get(key) ?? new Set<string>());
    if (!(await eraseFromFiles(store, erased, { clock, deadlineAtMs, mayHold, clean }))) return unfinished;
    for (const key of keys) cleaned.delete(key);
    return written();
  }

  return {
    deliver(batch, { deadlineMs, signal }) {
      // The rest is for the file in progress.
      const deadlineAtMs = clock.now() + 0.8 * deadlineMs;
      const turn = last.then(async () => {
        const brands = await writeBrands(batch, (name, facts) => writeBrand(store, name, facts)).catch(failure);
        if (typeof brands === 'object') return batch.map(() => brands);
        brands();
        const outcomes = new Map<Delivery, Outcome>();
        for (const [folder, deliveries] of Map.groupBy(batch, folderOf)) {
          const outcome = await writer.write(folder, deliveries, signal).then(written, failure);
          for (const delivery of deliveries) outcomes.set(delivery, outcome);
        }
        const erased = batch.filter((one) => one.message.event === 'erased' && outcomes.get(one)?.kind === 'delivered');
        if (erased.length > 0) {
          const outcome = await erase(erased, deadlineAtMs).catch((error: unknown) => later(failure(error)));
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
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const brandFolder = (brandId: string): string => `brand=${encodeURIComponent(brandId)}`;

async function brandsOf(
  erased: readonly Delivery[],
  brandIdsOf: NonNullable<LakeOptions['brandIdsOf']>,
): Promise<readonly string[]> {
  const ids = new Set(erased.map(({ message }) => message.brand_id));
  for (const integration of new Set(erased.map(({ message }) => message.integration))) {
    for (const id of await brandIdsOf(integration)) ids.add(id);
  }
  return [...ids].map(brandFolder);
}

const unfit = ({ message }: UnfitValue): Outcome => ({
  kind: 'dead',
  code: 'deliver.refused',
  message: `Writing failed: ${message}.`,
  whole: true,
});

const written = (): Outcome => ({ kind: 'delivered' });

/** An erasure is retried until it is complete; each try continues where the last one stopped, so it uses none up. */
const unfinished: Outcome = {
  kind: 'retry',
  code: 'deliver.write_failed',
  message: 'There are more files to erase from than fit into one call; the next one continues.',
  free: true,
  mayHaveArrived: true,
};

/** Erasures whose progress is kept. */
const mostKept = 100;

/** An erasure is retried whatever the reason. */
function later(outcome: Outcome): Outcome {
  if (outcome.kind !== 'dead') return outcome;
  return { kind: 'retry', code: 'deliver.write_failed', message: outcome.message };
}

/** Engines that read the whole lake pass over folders that begin with an underscore. */
const folder = '_brands';

/** What is known about a brand, for the measures (ops/duckdb/lake.sql). */
export async function writeBrand(store: FileStore, integration: string, facts: BrandFacts): Promise<void> {
  const { brandId, timezone, country = '', roomsAvailable } = facts;
  const brand = `${integration},"${brandId.replaceAll('"', '""')}",${timezone},${country}`;
  const lines =
    roomsAvailable.length === 0 ? [`${brand},,`] : roomsAvailable.map((step) => `${brand},${step.join(',')}`);
  const name = `${folder}/${integration}.csv`;
  await store.prepare(folder);
  const { tag = 'absent' } = (await store.read(name)) ?? {};
  // A node that is faster writes the same.
  await store.replace(name, `integration,brand_id,timezone,country,from_night,rooms\n${lines.join('\n')}\n`, tag);
}
