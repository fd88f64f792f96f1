#!/usr/bin/env node
/** `innbound-partner-kit`: the commands of the kit by themselves, for developers of a hotel system. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { printable } from '../escape.ts';
import { registerCheck } from './check.ts';
import { registerSend } from './send.ts';
import type { Shell } from './shell.ts';
import { registerSimulate } from './simulate.ts';

class Refusal extends Error {}

const shell: Shell = { name: 'innbound-partner-kit', refuse: (_code, message) => new Refusal(message) };
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command(shell.name)
  .description('For hotel systems that send reservations to Innbound: check an API or a sender, simulate a hotel.')
  .version(version)
  .showSuggestionAfterError();
registerCheck(program, shell);
registerSimulate(program, shell);
registerSend(program, shell);

try {
  await program.parseAsync();
} catch (error) {
  const message = error instanceof Refusal ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`error: ${printable(message ?? '')}\n`);
  process.exitCode = 1;
}
