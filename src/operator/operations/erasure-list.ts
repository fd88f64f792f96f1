import { appendFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { InnboundError } from '../../errors.ts';
import { writeProblem } from '../../kit/json-file.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type KnownErasure, knownErasure } from '../store/backup.ts';

/**
 * A list of erasures beside the key. The restore of a backup that is older than an erasure repeats it, also if the database is lost. It
 * holds keyed hashes and no guest data.
 */
const fileIn = (workspaceDir: string): string => path.join(workspaceDir, '.innbound', 'erasures.ndjson');

export async function listErasure({ pool, workspaceDir, log }: Runtime, erasureId: string): Promise<void> {
  const file = fileIn(workspaceDir);
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, `${JSON.stringify(await knownErasure(pool, erasureId))}\n`, { mode: 0o600 });
  } catch (error) {
    const problem = writeProblem(error);
    if (problem === undefined) return;
    log.warn({ error: problem, file }, 'privacy: an erasure is not in the list from which a restore would repeat it');
  }
}

/** Of the workspace, and of the given copies of other nodes' lists. */
export async function listedErasures(workspaceDir: string, copies: readonly string[]): Promise<KnownErasure[]> {
  const own = await readFile(fileIn(workspaceDir), 'utf8').catch(() => '');
  const texts = [own, ...(await Promise.all(copies.map((file) => readFile(file, 'utf8'))))];
  return texts.flatMap((text) => text.split('\n')).flatMap((line) => readLine(line));
}

const form = z.object({
  erasure_id: z.string(),
  requested_by: z.string(),
  requested_at: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/),
  subject: z.string(),
  hashes: z.array(z.hex()),
});

function readLine(line: string): KnownErasure[] {
  try {
    return [form.parse(JSON.parse(line))];
  } catch (error) {
    // A line that a crash cut short belongs to an erasure that is still in the database of that time.
    if (error instanceof SyntaxError) return [];
    throw new InnboundError(
      'store.backup_unreadable',
      'A line in a list of erasures is not an erasure. Nothing was changed.',
    );
  }
}
