import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import {
  type OutgoingEvent,
  type SendResult,
  WebhookSender,
  type WebhookSenderOptions,
} from '../../../sender/src/index.ts';
import { type Io, terminalIo } from '../terminal.ts';
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

export type SendTask =
  | { readonly kind: 'send'; readonly events: readonly OutgoingEvent[] }
  | { readonly kind: 'list' }
  | { readonly kind: 'replay'; readonly ids: readonly string[] | 'all' }
  | { readonly kind: 'drop'; readonly id: string };

/** Exit code 0 if everything succeeded; 1 if an event became a dead letter or a dead letter is unknown. */
export async function runSend(options: WebhookSenderOptions, task: SendTask, json: boolean, io: Io): Promise<number> {
  const sender = await WebhookSender.open({
    ...options,
    // Listing sends nothing.
    resume: task.kind === 'send' || task.kind === 'replay',
    observe: (seen) => {
      options.observe?.(seen);
      if (seen.kind === 'retry')
        io.say(`${seen.eventId}: ${seen.failure.message} Next attempt in ${(seen.delayMs / 1000).toFixed(1)} s.`);
    },
  });
  try {
    if (task.kind === 'list') return await list(sender, json, io);
    if (task.kind === 'drop') return (await sender.drop(task.id)) ? 0 : unknown(task.id, io);
    const results =
      task.kind === 'replay'
        ? await sender.replay(task.ids)
        : await Promise.all(task.events.map((event) => sender.send(event)));
    if (task.kind === 'replay' && task.ids !== 'all' && results.length < task.ids.length)
      io.say('Some dead letters are unknown; --list shows the existing ones.');
    for (const result of results) io.out(json ? JSON.stringify(result) : sentence(result));
    const wanted = task.kind === 'replay' && task.ids !== 'all' ? task.ids.length : results.length;
    return results.length === wanted && results.every(({ kind }) => kind === 'delivered') ? 0 : 1;
  } finally {
    // Opening the folder also resumes events that a crash left; wait for those too.
    await sender.drain();
    await sender.close();
  }
}

async function list(sender: WebhookSender, json: boolean, io: Io): Promise<number> {
  const letters = await sender.deadLetters();
  for (const { id, eventId, event, orderKey, attempts, failedAt, failure } of letters) {
    io.out(
      json
        ? JSON.stringify({ id, event_id: eventId, event, about: orderKey, attempts, failed_at: failedAt, failure })
        : `${id}  ${event}  ${orderKey}  ${attempts} tries, last ${failedAt}: ${failure.message}`,
    );
  }
  if (letters.length === 0) io.say('No dead letters.');
  return 0;
}

function unknown(id: string, io: Io): number {
  io.say(`There is no dead letter ${id}; --list shows the existing ones.`);
  return 1;
}

function sentence(result: SendResult): string {
  switch (result.kind) {
    case 'delivered':
      return `${result.eventId}  ${result.duplicate ? 'duplicate' : 'accepted'} (${result.status}, attempt ${result.attempts})`;
    case 'dead':
      return `${result.eventId}  dead after ${result.attempts} attempts: ${result.failure.message} Dead letter ${result.deadLetterId}.`;
    case 'pending':
      return `${result.eventId}  interrupted; it is sent when the folder is used again.`;
    case 'refused':
      return `${result.eventId}  not taken: ${result.why}`;
  }
}

/** Reads events from text: one JSON object, an array, or one per line. Numbers keep their digits. */
export function readEvents(text: string): readonly OutgoingEvent[] | { readonly wrong: string } {
  const parsed = parseAll(text);
  if ('wrong' in parsed) return parsed;
  const events: OutgoingEvent[] = [];
  for (const [index, value] of parsed.values.entries()) {
    const which = parsed.values.length === 1 ? 'The event' : `Event ${index + 1}`;
    if (typeof value !== 'object' || value === null) return { wrong: `${which} is not an object.` };
    const { event, data, event_id: id, timestamp, brand_id: brand } = value as Record<string, unknown>;
    if (typeof event !== 'string') return { wrong: `${which} has no event, such as reservation.updated.` };
    if (typeof data !== 'object' || data === null || Array.isArray(data))
      return { wrong: `${which} has no data object.` };
    events.push({
      event,
      data: data as Record<string, unknown>,
      ...(typeof id === 'string' ? { event_id: id } : {}),
      ...(typeof timestamp === 'string' ? { timestamp } : {}),
      ...(typeof brand === 'string' ? { brand_id: brand } : {}),
    });
  }
  return events.length === 0 ? { wrong: 'The input contains no events.' } : events;
}

function parseAll(text: string): { readonly values: readonly unknown[] } | { readonly wrong: string } {
  try {
    const whole = parse(text);
    return { values: Array.isArray(whole) ? whole : [whole] };
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    try {
      return { values: lines.map(parse) };
    } catch (error) {
      return {
        wrong: `The input is not JSON: ${error instanceof Error ? error.message.replace(/"[^"]*"\s/g, '') : ''}`,
      };
    }
  }
}

function parse(text: string): unknown {
  const exact = JSON as unknown as { rawJSON(source: string): unknown };
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? exact.rawJSON(context.source) : value,
  );
}
