import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { templateFiles } from '../documents/template.ts';
import { InnboundError } from '../errors.ts';
import type { Command } from './command.ts';
import { printJson, show } from './io.ts';

export function define(command: Command): void {
  command
    .option('--json', 'print the files that were written as JSON')
    .notes(`
Example:
  innbound init my-workspace`)
    .action(async (dir = '.', options: { json?: boolean }) => {
      const root = path.resolve(dir);
      const present = await readdir(root).catch(() => [] as string[]);
      const taken = present.filter((name) =>
        ['innbound.yaml', 'connectors', 'integrations', 'destinations'].includes(name),
      );
      if (taken.length > 0) {
        throw new InnboundError('operate.usage', `${root} already contains ${taken.join(', ')}; nothing was written.`);
      }
      const files = await templateFiles();
      for (const file of files) {
        const to = path.join(root, file.path);
        await mkdir(path.dirname(to), { recursive: true });
        await writeFile(to, file.text, { flag: 'wx' });
      }
      if (options.json) return printJson({ workspace: root, files: files.map((file) => file.path) });
      show(`Created a workspace in ${root}:\n${files.map((file) => `  ${file.path}`).join('\n')}

Next:
  edit integrations/*.yaml: the address of the partner's API, its credentials, the time zone
  innbound validate -w ${dir}
  innbound serve -w ${dir}`);
    });
}
