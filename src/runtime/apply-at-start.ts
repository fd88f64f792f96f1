import { setTimeout as delay } from 'node:timers/promises';
import type { Mistake } from '../core/documents/mistake.ts';
import type { Pool } from '../core/store/db/pool.ts';
import { hasDocuments } from '../core/store/documents/documents.ts';
import type { BrokenCase } from '../errors/broken-cases.ts';
import { casesText } from '../errors/broken-cases.ts';
import { errors, InnboundError } from '../errors.ts';
import type { Log } from '../kit/log.ts';
import type { Offload } from '../kit/offload.ts';
import { findHolder } from '../operator/embedded-postgres/membership.ts';
import { type DocumentContext, type TakenUp, takeUpWorkspace } from './in-force.ts';
import type { RuntimeOptions } from './options.ts';
import { readSoundDocuments, readSoundFiles } from './workspace-documents.ts';

interface Context extends DocumentContext {
  readonly offload: Offload;
  readonly log: Log;
  readonly hasPrivateServer: boolean;
}

/** The kept samples that changed connectors would map otherwise. */
export type CasesBrokenBy = (
  context: Pick<Context, 'pool' | 'offload'>,
  connectors: readonly { readonly name: string; readonly source: string }[],
) => Promise<BrokenCase[]>;

/**
 * Takes up the files of the workspace when a process starts, if they count for it. A mistake in one stops a service only if nothing is in
 * force yet: whoever set it up is there. Otherwise what was in force stays in force, and the mistakes are returned.
 */
export async function applyAtStart(
  context: Context,
  options: RuntimeOptions,
  casesBrokenBy: CasesBrokenBy,
): Promise<readonly Mistake[]> {
  if (!(await shouldApply(context, options.apply))) return [];
  const { needs, purpose } = options;
  const goesOn = needs !== undefined || (purpose === 'service' && (await hasDocuments(context.pool)));
  let mistakes: readonly Mistake[] = [];
  const load = async () => {
    if (!goesOn) return { documents: await readSoundDocuments(context.workspaceDir), leftOut: [] };
    const read = await readSoundFiles(context.workspaceDir, needs?.integration);
    mistakes = read.mistakes;
    return read;
  };
  const taken = await takeUpWorkspace(
    context,
    load,
    options.describe,
    (changed) => casesBrokenBy(context, changed),
    context.hasPrivateServer,
  );
  if (taken.kind === 'taken' && taken.leftOut.length > 0) needs?.onLeftOut(taken.leftOut);
  report(taken, purpose, context.log);
  return purpose === 'service' ? mistakes : [];
}

/** With a running service, its documents in force count. Without one, the files count, as they would for `serve`. */
async function shouldApply(
  { pool, hasPrivateServer }: { readonly pool: Pool; readonly hasPrivateServer: boolean },
  apply: RuntimeOptions['apply'],
): Promise<boolean> {
  if (apply === 'always') return true;
  if (apply === 'never') return false;
  if (hasPrivateServer && (await findHolder(pool)) === undefined) return true;
  // Waits for a service that is just starting to apply its documents.
  for (let waits = 0; hasPrivateServer && waits < 100; waits++) {
    if ((await hasDocuments(pool)) || (await findHolder(pool)) === undefined) break;
    await delay(100);
  }
  return !(await hasDocuments(pool));
}

/**
 * A service whose files would change a kept sample keeps the documents in force and goes on: to refuse the start would also stop the
 * intake. A command fails, because the person who changed the file is there.
 */
function report(taken: TakenUp, purpose: RuntimeOptions['purpose'], log: Log): void {
  if (taken.kind === 'taken') {
    if (taken.behind.length === 0) return;
    log.warn(
      { files: taken.behind },
      'documents: these files are older than the documents in force; run `apply` to restore them',
    );
    return;
  }
  const code = 'documents.case_changed';
  const cases = casesText(taken.cases);
  if (purpose === 'command') throw new InnboundError(code, `${cases}. The documents in force did not change.`);
  log.error({ code, cases, next: errors[code].next }, 'documents: no file was taken up, the documents in force stay');
}
