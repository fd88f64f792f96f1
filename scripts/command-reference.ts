/** Writes docs/reference/commands.md from the command line itself; test/docs/generated.test.ts says when to run it. */
import { writeFileSync } from 'node:fs';
import type { Command as Base } from 'commander';
import { Command } from '../src/operator/cli/command.ts';
import { addCommands } from '../src/operator/cli/run.ts';

export const commandsFile = new URL('../docs/reference/commands.md', import.meta.url);

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();

/** Options that nearly every command has are explained once. */
const isCommon = (flags: string) => flags === '-w, --workspace <dir>' || flags === '--json';

/** What the help text says below the options. */
function notesOf(command: Base): string {
  const said: string[] = [];
  command.configureOutput({ writeOut: (text) => void said.push(text) });
  command.outputHelp();
  return said.join('').slice(command.helpInformation().length).trim();
}

function partsOf(command: Base, path: string, level: string): string[] {
  const usage = [path, ...command.registeredArguments.map((one) => argument(one.name(), one.required, one.variadic))];
  const options = command.options.filter(({ flags, hidden }) => !isCommon(flags) && !hidden);
  const rows = options.map(({ flags, description, argChoices, defaultValue, defaultValueDescription }) => {
    const choices = argChoices === undefined ? '' : ` (${argChoices.join(', ')})`;
    const shown = defaultValue === undefined || typeof defaultValue === 'boolean' || Array.isArray(defaultValue);
    return `| \`${cell(flags)}\` | ${cell(description + choices)}${shown ? '' : `; default \`${defaultValueDescription ?? String(defaultValue)}\``} |`;
  });
  const notes = notesOf(command);
  return [
    `${level} \`${usage.join(' ')}\``,
    `${command.description().replace(/^./, (first) => first.toUpperCase())}.`,
    ...(rows.length > 0 ? [['| option | |', '|---|---|', ...rows].join('\n')] : []),
    ...(notes === '' ? [] : [`\`\`\`text\n${notes}\n\`\`\``]),
    ...command.commands.flatMap((one) => partsOf(one, `${path} ${one.name()}`, '###')),
  ];
}

const argument = (name: string, required: boolean, variadic: boolean) => {
  const shown = variadic ? `${name}...` : name;
  return required ? `<${shown}>` : `[${shown}]`;
};

export async function commandsText(): Promise<string> {
  const all = new Command('innbound');
  await addCommands(all, undefined);
  const parts: string[] = [];
  for (const name of all.commands.map((one) => one.name())) {
    const program = new Command('innbound');
    await addCommands(program, name);
    const command = program.commands.find((one) => one.name() === name);
    if (command !== undefined) parts.push(...partsOf(command, `innbound ${name}`, '##'));
  }
  return `${[
    '<!-- Written by scripts/command-reference.ts from the commands; edits are lost. -->',
    '# Commands',
    'Every command and option, as `innbound COMMAND --help` prints them. Nearly all take `-w, --workspace DIR` (else `INNBOUND_WORKSPACE`, else the current folder) and `--json`, which prints one JSON object, or one per line for lists. They work beside a running service and without one, unless the text says otherwise. The exit code is 0 only if the command did what it was asked.',
    ...parts,
  ].join('\n\n')}\n`;
}

if (import.meta.main) writeFileSync(commandsFile, await commandsText());
