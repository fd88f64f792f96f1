import path from 'node:path';
import type { Mistake } from '../../core/documents/mistake.ts';
import { readDocuments } from '../../runtime/workspace-documents.ts';
import type { Command, CommonOptions } from './command.ts';
import { answer, io, say, show } from './io.ts';

export function define(command: Command): void {
  command
    .common()
    .notes(`
Prints FILE:LINE:COLUMN PATH: MESSAGE for each mistake and exits with 1 if there is any. Applies nothing, sends no
requests, and does not look up secrets.

Example:
  innbound validate -w my-workspace`)
    .action(async (options: CommonOptions) => {
      const dir = path.resolve(options.workspace);
      const loaded = await readDocuments(dir);
      for (const warning of loaded.warnings) {
        answer(options, warning, `${placeOf(warning)}warning: ${warning.message}`);
      }
      if (loaded.kind === 'invalid') {
        io().exitCode = 1;
        for (const mistake of loaded.mistakes) {
          answer(options, mistake, `${placeOf(mistake)}${mistake.message}`);
        }
        const count = loaded.mistakes.length;
        if (!options.json)
          say(`\n${count === 1 ? '1 mistake' : `${count} mistakes`}; apply would refuse this workspace.`);
        return;
      }
      if (options.json) return;
      const { connectors, integrations, destinations } = loaded.documents;
      const own = [...connectors.values()].filter(({ shipped }) => !shipped).length;
      const counted = [
        plural(own, 'connector'),
        plural(integrations.size, 'integration'),
        plural(destinations.size, 'destination'),
      ];
      show(`No mistakes: ${counted.join(', ')}.`);
    });
}

function plural(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}

function placeOf({ file, line, column, path: at }: Mistake): string {
  return `${file}:${line}:${column} ${at === '' ? '' : `${at}: `}`;
}
