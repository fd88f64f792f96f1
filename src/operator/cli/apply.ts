import type { LoadedDocuments } from '../../core/documents/kinds.ts';
import type { Tx } from '../../core/store/db/pool.ts';
import { currentSources } from '../../core/store/documents/list.ts';
import { type BrokenCase, casesText } from '../../errors/broken-cases.ts';
import { InnboundError } from '../../errors.ts';
import { applyWorkspace, auditApplied } from '../../runtime/in-force.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { readSoundDocuments } from '../../runtime/workspace-documents.ts';
import { acceptCases, casesBrokenBy } from '../operations/mapping-cases.ts';
import { type Command, type CommonOptions, commandLineUser, withRuntime } from './command.ts';
import { print } from './print.ts';

export function define(command: Command): void {
  command
    .common()
    .option('--accept-cases', 'accept changed records of kept samples (cases) as the new expectation')
    .notes(`
A running service uses the new versions at once. Documents that were removed from the workspace are no longer in force; their
data and versions are kept.

Samples that were kept as cases in the mapping studio must still produce the same records. If a changed connector produces others,
nothing is applied without --accept-cases.

Example:
  innbound apply -w my-workspace`)
    .action(async (options: CommonOptions & { acceptCases?: boolean }) => {
      const load = () => readSoundDocuments(options.workspace);
      await load();
      await withRuntime(
        options,
        'apply',
        async (runtime) => {
          const applied = await applyWorkspace(runtime, load, 'apply', (tx, documents) =>
            checkedCases(runtime, tx, documents, options.acceptCases ?? false),
          );
          await auditApplied(runtime.pool, commandLineUser(), applied);
          print(options, { items: applied }, { columns: ['change', 'kind', 'name', 'version'] });
        },
        { apply: 'never' },
      );
    });
}

/** Only connectors with a new text are checked. */
async function checkedCases(
  runtime: Runtime,
  tx: Tx,
  { connectors }: LoadedDocuments,
  isAccepted: boolean,
): Promise<void> {
  const inForce = await currentSources(tx);
  const changed: { readonly name: string; readonly source: string }[] = [];
  const refused: BrokenCase[] = [];
  for (const { name, source } of connectors.values()) {
    if (inForce.get(`connector ${name}`) === source) continue;
    const broken = await casesBrokenBy(runtime, [{ name, source }]);
    refused.push(...broken.filter(({ message }) => !isAccepted || message !== null));
    if (broken.length > 0) changed.push({ name, source });
  }
  if (refused.length > 0) throw new InnboundError('documents.case_changed', `${casesText(refused)}.`);
  for (const { name, source } of changed) await acceptCases(runtime, tx, { name, source }, 'apply');
}
