import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';

/** The content of a small file that this program wrote; undefined if it is missing or damaged. */
export async function readJsonFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Processes on several machines may share the folder, and in containers all of them have the same number. */
export const draftOf = (file: string): string => `${file}.${hostname()}.${process.pid}`;

/**
 * Replaces the file as a whole: a reader sees the old content or the new one. If writing fails, the old content stays. A process writes a
 * file once at a time.
 */
export async function writeJsonFile(file: string, content: unknown): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = draftOf(file);
  try {
    await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

/** The code of a failed write, such as ENOSPC; undefined if the folder is read-only for this process, which may be intended. */
export function writeProblem(error: unknown): string | undefined {
  const { code, name } = error as NodeJS.ErrnoException;
  return ['EROFS', 'EACCES', 'EPERM'].includes(code ?? '') ? undefined : (code ?? name);
}
