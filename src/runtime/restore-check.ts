import path from 'node:path';
import { nextBeat, raiseEpoch, type StorePosition } from '../core/store/db/epoch.ts';
import type { Pool } from '../core/store/db/pool.ts';
import { readJsonFile, writeJsonFile, writeProblem } from '../kit/json-file.ts';
import type { Log } from '../kit/log.ts';
import { Serial } from '../kit/serial.ts';

/**
 * Notices that the database was replaced by an older copy: a restored backup, or a failover to a replica that had not received the last
 * transactions. The workspace folder remembers the last position of the store; a store that is behind it was restored. The epoch then
 * rises, so that new messages outrank the ones sent before, although version numbers repeat.
 */
export async function openRestoreCheck(pool: Pool, workspaceDir: string, log: Log) {
  const file = path.join(workspaceDir, '.innbound', 'store-position.json');
  let epoch = 1;
  let isRestored = false;
  let lastProblem: string | undefined;
  const reportOnce = (problem: string | undefined): void => {
    if (problem !== undefined && problem !== lastProblem) {
      log.warn(
        { error: problem },
        'store: its position cannot be written to .innbound/store-position.json, so a restore may go unnoticed; is the disk full?',
      );
    }
    lastProblem = problem;
  };
  /** Compares the store with the remembered position, raises the epoch if it is behind, and remembers the new position. */
  const check = async (): Promise<void> => {
    const known = await remembered(file);
    let now = await nextBeat(pool);
    if (known && (now.epoch < known.epoch || (now.epoch === known.epoch && now.beat <= known.beat))) {
      await raiseEpoch(pool, Math.max(now.epoch, known.epoch));
      now = await nextBeat(pool);
      isRestored = true;
      log.error(
        { code: 'store.restored', epoch: now.epoch },
        'store: the database is an older copy; raised the epoch; run `innbound resend` for each destination',
      );
    }
    epoch = now.epoch;
    // A read-only folder remembers nothing: then a restore must be declared with `innbound restored`.
    await writeJsonFile(file, now).then(
      () => reportOnce(undefined),
      (error: unknown) => reportOnce(writeProblem(error)),
    );
  };
  await check();
  // One at a time: an earlier check that ends later would restore an older epoch, and two would write one draft.
  const checks = new Serial();
  /** `epoch`: what messages carry. `isRestored`: whether this process noticed a restore. */
  return { epoch: () => epoch, isRestored: () => isRestored, check: () => checks.run(check) };
}

export type RestoreCheck = Awaited<ReturnType<typeof openRestoreCheck>>;

async function remembered(file: string): Promise<StorePosition | undefined> {
  const { epoch, beat } = ((await readJsonFile(file)) ?? {}) as Partial<StorePosition>;
  return Number.isSafeInteger(epoch) && Number.isSafeInteger(beat) ? ({ epoch, beat } as StorePosition) : undefined;
}
