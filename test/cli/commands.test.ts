import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from '../../src/operator/cli/command.ts';
import { addCommands } from '../../src/operator/cli/run.ts';

async function added(name?: string): Promise<Command['commands']> {
  const program = new Command();
  await addCommands(program, name);
  return program.commands;
}

/** A command gets its options, or the commands below it, from its module. */
const isLoaded = ({ options, commands }: Command['commands'][number]): boolean => options.length + commands.length > 0;

test('the help text lists every command without loading one', async () => {
  const listed = await added();
  assert.ok(listed.length > 20);
  assert.deepEqual(listed.filter(isLoaded), []);
  assert.ok(listed.every((command) => command.description() !== ''));
});

test('a command loads itself only', async () => {
  const loaded = (await added('key')).filter(isLoaded);
  assert.deepEqual(
    loaded.map((command) => command.name()),
    ['key'],
  );
});
