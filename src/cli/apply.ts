import type { Command } from 'commander';
import { applyWorkspace } from '../runtime/in-force.ts';
import { openRuntime, readSoundDocuments } from '../runtime/runtime.ts';
import { audited, type CommonOptions, common, printJson, show, table } from './command.ts';

export function registerApply(program: Command): void {
  common(program.command('apply'))
    .description('put all documents of a workspace in force, or none if one is invalid')
    .addHelpText(
      'after',
      `
A running service uses the new versions at once. Documents that were removed from the workspace are no longer in force; their
data and versions are kept.

Example:
  innbound apply -w my-workspace`,
    )
    .action(async (options: CommonOptions) => {
      const documents = await readSoundDocuments(options.workspace);
      const runtime = await openRuntime({
        workspaceDir: options.workspace,
        purpose: 'command',
        describe: 'apply',
        apply: 'never',
      });
      try {
        const applied = await applyWorkspace(runtime, documents, 'apply');
        const changed = applied.filter(({ change }) => change !== 'same');
        if (changed.length > 0) {
          const target = { documents: changed.map(({ kind, name, version }) => `${kind} ${name} version ${version}`) };
          await audited(runtime, 'documents.apply', { target });
        }
        if (options.json) for (const document of applied) printJson(document);
        else show(table(applied.map(({ change, kind, name, version }) => [change, kind, name, `version ${version}`])));
      } finally {
        await runtime.close();
      }
    });
}
