import path from 'node:path';
import type { DestinationType, Outcome } from '../../destination.ts';
import { openLake } from '../../lake/destination.ts';
import { UnfitValue } from '../../lake/format.ts';
import { fileBytes } from '../../lake/settings.ts';
import { folderStore } from './folder.ts';
import { type Settings, settingsSchema } from './settings.ts';

/** Files in a folder. */
export const destinationType: DestinationType<Settings> = {
  type: 'files',
  settings: settingsSchema,
  batch: () => ({ standard: 1_000, most: 20_000 }),
  timeoutMs: () => 60_000,
  open(settings, { workspaceDir, clock, brandOf }) {
    const store = folderStore(path.resolve(workspaceDir, settings.path), clock);
    const { format } = settings;
    return openLake({
      store,
      format,
      fileBytes: fileBytes(settings),
      brandOf,
      clock,
      failure: (error) => failure(error, settings.path),
    });
  },
};

function failure(error: unknown, folder: string): Outcome {
  if (error instanceof UnfitValue) {
    return { kind: 'dead', code: 'deliver.refused', message: `Writing failed: ${error.message}.`, whole: true };
  }
  const { code, name } = error as NodeJS.ErrnoException;
  const why = code === undefined ? name : `${reasons.get(code) ?? 'the system refuses it'} (${code})`;
  return { kind: 'retry', code: 'deliver.write_failed', message: `Writing to the folder ${folder} failed: ${why}.` };
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOTDIR', 'it is not a folder'],
  ['ENOENT', 'it does not exist'],
  ['EACCES', 'the service may not write there'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
]);
