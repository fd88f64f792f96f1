import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { readEvents } from '../send/read-events.ts';
import { runSend, type SendTask } from '../send/run.ts';
import { terminalIo } from '../terminal/io.ts';
import { isHttpUrl, readInput, type Shell, secretFrom } from './shell.ts';

interface Options {
  readonly url?: string;
  readonly secretEnv: string;
  readonly secretFile?: string;
  readonly brand?: string;
  readonly folder: string;
  readonly list?: boolean;
  readonly replay?: string[] | true;
  readonly drop?: string;
  readonly json?: boolean;
}

export function registerSend(program: Command, shell: Shell): void {
  program
    .command('send [files...]')
    .description('send events to a webhook endpoint: signed, retried, and kept as dead letters when refused')
    .option('--url <url>', 'the endpoint that was issued for the brand')
    .option('--secret-env <name>', 'the variable that holds its secret', 'INNBOUND_WEBHOOK_SECRET')
    .option('--secret-file <file>', 'a file that holds the secret, instead of a variable')
    .option('--brand <id>', 'the brand_id for events without one')
    .option('--folder <dir>', 'the folder for pending events and dead letters', 'webhook-letters')
    .option('--list', 'list the dead letters of the folder')
    .option('--replay [ids...]', 'send dead letters again: the given ones, or all')
    .option('--drop <id>', 'delete a dead letter')
    .option('--json', 'print one JSON object per event or letter')
    .addHelpText(
      'after',
      `
A file contains one event, an array of events, or one event per line: {"event": "reservation.updated", "data": {…}}. Without
a file, events are read from standard input. Missing event_id and timestamp are added. Exits with 1 when an event failed.

Examples:
  ${shell.name} send --url https://…/webhooks/… --brand LIS01 event.json
  ${shell.name} send --list
  ${shell.name} send --url https://…/webhooks/… --replay`,
    )
    .action(async (files: readonly string[], options: Options) => {
      const task = await taskOf(shell, files, options);
      const sends = task.kind === 'send' || task.kind === 'replay';
      if (sends && !isHttpUrl(options.url ?? '')) {
        throw shell.refuse('operate.usage', 'Give the endpoint with --url (http or https).');
      }
      const secret = sends ? await secretFrom(shell, { env: options.secretEnv, file: options.secretFile }) : '';
      process.exitCode = await runSend(
        {
          url: options.url ?? '',
          secret,
          folder: options.folder,
          ...(options.brand === undefined ? {} : { brandId: options.brand }),
        },
        task,
        options.json === true,
        terminalIo(),
      );
    });
}

async function taskOf(shell: Shell, files: readonly string[], options: Options): Promise<SendTask> {
  if (options.list) return { kind: 'list' };
  if (options.drop !== undefined) return { kind: 'drop', id: options.drop };
  if (options.replay !== undefined) return { kind: 'replay', ids: options.replay === true ? 'all' : options.replay };
  const texts =
    files.length === 0 ? [await text(process.stdin)] : await Promise.all(files.map((file) => readInput(shell, file)));
  const events = texts.map((one, index) => {
    const read = readEvents(one);
    if ('wrong' in read) throw shell.refuse('operate.usage', `${files[index] ?? 'Standard input'}: ${read.wrong}`);
    return read;
  });
  const all = events.flat();
  const nameless = all.some((event) => event.brand_id === undefined);
  if (nameless && options.brand === undefined)
    throw shell.refuse('operate.usage', 'An event has no brand_id: give one with --brand.');
  return { kind: 'send', events: all };
}
