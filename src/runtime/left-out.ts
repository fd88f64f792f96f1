import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Broken } from '../core/brand/brand.ts';
import type { Mistake } from '../core/documents/mistake.ts';
import type { Log } from '../kit/log.ts';

/**
 * What a service could not take up when it started, for an alert: it went on with what was in force. A file counts until it changes; then it
 * waits for `apply` as any edited file does.
 */
export async function openLeftOut(workspaceDir: string, mistakes: readonly Mistake[], log: Pick<Log, 'error'>) {
  const textOf = (file: string) => readFile(path.join(workspaceDir, file), 'utf8').catch(() => undefined);
  const files = Map.groupBy(mistakes, ({ file }) => file);
  const texts = new Map(await Promise.all([...files.keys()].map(async (file) => [file, await textOf(file)] as const)));
  const others: Broken[] = [];
  const add = (one: Broken) => {
    log.error(one, 'documents: not taken up at the start, what was in force stays');
    others.push(one);
  };
  const found = [...files].map(([file, [first]]) => ({
    file,
    document: `file ${file}`,
    message: `line ${first?.line}, ${first?.path}: ${first?.message}`,
  }));
  for (const { document, message } of found) log.error({ document, message }, 'documents: not taken up at the start');
  return {
    add,
    now: async (): Promise<readonly Broken[]> => {
      const same = await Promise.all(found.map(async ({ file }) => (await textOf(file)) === texts.get(file)));
      return [...others, ...found.filter((_, i) => same[i]).map(({ document, message }) => ({ document, message }))];
    },
  };
}
