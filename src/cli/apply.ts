import type { Command } from 'commander';
import { applyWorkspace } from '../runtime/in-force.ts';
import { openRuntime, readSoundDocuments } from '../runtime/runtime.ts';
import { type CommonOptions, common, printJson, show, table } from './command.ts';

export function registerApply(program: Command): void {
  common(program.command('apply'))
    .description('put the documents of a workspace in force, all or none')
    .addHelpText(
      'after',
      `
A running service takes the new versions up at once. What is not in the workspace any more is no longer in force; its data
and its versions are kept.

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
        if (options.json) for (const document of applied) printJson(document);
        else show(table(applied.map(({ change, kind, name, version }) => [change, kind, name, `version ${version}`])));
      } finally {
        await runtime.close();
      }
    });
}
