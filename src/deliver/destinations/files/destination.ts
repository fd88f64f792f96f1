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
    return openLake({ store, format, fileBytes: fileBytes(settings), brandOf, clock, failure });
  },
};

function failure(error: unknown): Outcome {
  const message = messageOf(error);
  if (error instanceof UnfitValue) return { kind: 'dead', code: 'deliver.refused', message, whole: true };
  return { kind: 'retry', code: 'deliver.write_failed', message };
}

/** Only the code of the system error: its text names paths. */
function messageOf(error: unknown): string {
  if (error instanceof UnfitValue) return `Writing failed: ${error.message}.`;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === undefined
    ? `Writing failed: ${(error as Error).name}.`
    : `Writing failed: ${syscall ?? 'system'} ${code}.`;
}
