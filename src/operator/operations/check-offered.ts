import type { CheckResult } from '../../core/documents/check.ts';
import { hostReferences } from '../../core/documents/host-references.ts';
import type { LoadedDocuments } from '../../core/documents/kinds.ts';
import type { Mistake } from '../../core/documents/mistake.ts';
import { hasReference } from '../../core/documents/secret-reference.ts';
import { readAuthorities } from '../../runtime/network.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { offThread } from './off-thread.ts';
import { type InForce, isOne, type Named, soundSources, sourcesAround } from './sources-in-force.ts';

interface OfferedDocument extends Named {
  readonly file: string;
  readonly text: string;
}

interface CheckedOffer {
  readonly checked: CheckResult;
  readonly holdsCredentials: boolean;
}

/** A file that the settings name must be there, or no node would use the network after its next start. */
async function withoutFile(
  { workspaceDir }: Runtime,
  around: readonly InForce[],
  offered: readonly OfferedDocument[],
  { workspace }: LoadedDocuments,
): Promise<Mistake[]> {
  const { ca } = workspace.body.network;
  const before = around.find(({ kind }) => kind === 'workspace')?.body as { network?: { ca?: string } } | undefined;
  const file = offered.find(({ kind }) => kind === 'workspace')?.file;
  if (file === undefined || ca === undefined || hasReference(ca) || ca === before?.network?.ca) return [];
  const failed = await readAuthorities(workspaceDir, ca).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return failed === undefined ? [] : [{ file, line: 1, column: 1, path: 'network.ca', message: failed }];
}

/**
 * The one door for documents of somebody without a shell on this machine: edits through the API and the console, the answers of a partner on
 * its onboarding page, the documents in a brand's file. Checks them together with the documents in force, as an apply would, and refuses what
 * refers to the machine. Documents in force that had mistakes before do not matter.
 */
export async function checkOffered(
  runtime: Runtime,
  around: readonly InForce[],
  documents: readonly OfferedDocument[],
): Promise<CheckedOffer> {
  const others = await sourcesAround(around, documents);
  const offered = documents.map(({ kind, name, file, text }) => ({
    source: { kind, file, text, shipped: false },
    hostReferences: hostReferences(around.find((one) => isOne(one, { kind, name }))?.body),
  }));
  const check = (sources: typeof others) => offThread(runtime, 'checkOffered', { others: sources, offered });
  const { names, ...first } = await check(others);
  const isElsewhere =
    first.checked.kind === 'invalid' &&
    first.checked.mistakes.every((one) => documents.every(({ file }) => one.file !== file));
  const { checked, holdsCredentials } = isElsewhere
    ? await check(await soundSources(runtime, around, others, documents))
    : first;
  const mistakes: Mistake[] = documents.flatMap(({ kind, name, file }, i) => {
    const named = names[i];
    if (kind === 'workspace' || name === undefined || named === undefined || named === name) return [];
    return [{ file, line: 1, column: 1, path: kind, message: `the document is named ${named}, not ${name}` }];
  });
  if (checked.kind === 'ok') mistakes.push(...(await withoutFile(runtime, around, documents, checked.documents)));
  if (mistakes.length === 0) return { checked, holdsCredentials };
  return { checked: { kind: 'invalid', mistakes, warnings: checked.warnings }, holdsCredentials };
}
