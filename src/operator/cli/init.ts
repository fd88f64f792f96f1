import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findSystems, readSystems, type System } from '../../core/documents/systems.ts';
import { templateFiles } from '../../core/documents/template.ts';
import { InnboundError } from '../../errors.ts';
import type { Command } from './command.ts';
import { printJson, show } from './io.ts';

export function define(command: Command): void {
  command
    .option('--system <name>', 'the hotel’s system by any of its names, or its vendor: writes an integration for it')
    .option('--json', 'print the files that were written as JSON')
    .notes(`
Examples:
  innbound init my-workspace
  innbound init my-workspace --system hostaway
  innbound init --system "vacation rentals"       several systems: lists them`)
    .action(async (dir = '.', options: { json?: boolean; system?: string }) => {
      const root = path.resolve(dir);
      const system = options.system === undefined ? undefined : await systemOf(options.system);
      const present = await readdir(root).catch(() => [] as string[]);
      const taken = present.filter((name) =>
        ['innbound.yaml', 'connectors', 'integrations', 'destinations'].includes(name),
      );
      if (taken.length > 0 && system === undefined) {
        throw new InnboundError('operate.usage', `${root} already contains ${taken.join(', ')}; nothing was written.`);
      }
      const files = taken.length > 0 ? [] : await filesOf(system);
      if (system !== undefined) files.push({ path: `integrations/my-${system.name}.yaml`, text: system.integration });
      for (const file of files) {
        const to = path.join(root, file.path);
        if (await exists(to)) throw new InnboundError('operate.usage', `${to} exists; nothing was written.`);
        await mkdir(path.dirname(to), { recursive: true });
        await writeFile(to, file.text, { flag: 'wx' });
      }
      if (options.json) return printJson({ workspace: root, files: files.map((file) => file.path) });
      show(`${taken.length > 0 ? 'Added to the workspace' : 'Created a workspace'} in ${root}:
${files.map((file) => `  ${file.path}`).join('\n')}
${system === undefined ? '' : `\n${neededBy(system)}\n`}
Next:
  ${system === undefined ? "edit integrations/*.yaml: the address of the partner's API, its credentials, the time zone" : `edit integrations/my-${system.name}.yaml: its name, the time zone, the destinations (deliver)`}
  innbound validate -w ${dir}
  innbound serve -w ${dir}`);
    });
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** With a system, without the example of a brand. */
async function filesOf(system: System | undefined): Promise<{ path: string; text: string }[]> {
  const files = await templateFiles();
  return files.filter((file) => system === undefined || !/^(?:connectors|integrations)\//.test(file.path));
}

/** The one that is meant; several or none are an error that names what there is. */
async function systemOf(words: string): Promise<System> {
  const { found, similar } = findSystems(await readSystems(), words);
  const [system] = found;
  if (system !== undefined && found.length === 1) return system;
  const lines = (found.length > 0 ? found : similar).map(
    ({ name, title, vendor, market }) => `  ${name.padEnd(14)} ${title}, ${vendor}: ${market}`,
  );
  const message =
    found.length > 0
      ? `${found.length} systems are called or sold so; name one:\n${lines.join('\n')}`
      : `No shipped connector is called ${words}.${lines.length > 0 ? ` Similar:\n${lines.join('\n')}` : ''}
Its API description or one answer is enough: innbound import FILE --name NAME, or innbound suggest --sample FILE.`;
  throw new InnboundError('operate.usage', message);
}

const bases: Readonly<Record<System['basis'], string>> = {
  live: 'tested against a live property',
  vendor: 'made from the vendor’s documentation, not tested against a live property',
  clients: 'made from public clients of the API, not tested against a live property',
};

/** The variables of the integration, and where the vendor's settings have their values. */
function neededBy({ title, basis, integration, credentials }: System): string {
  const variables = new Set([...integration.matchAll(/\$\{env:(\w+)\}/g)].map(([, name]) => name));
  return `${title}: ${bases[basis]}.
It needs ${[...variables].join(', ')}:
${credentials.map((line) => `  - ${line.replaceAll('`', '')}`).join('\n')}`;
}
