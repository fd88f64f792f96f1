import { Option } from 'commander';
import { deliverPorts } from '../composition/deliver.ts';
import { eventWorkerPorts } from '../composition/push.ts';
import { drainOnce } from '../deliver/deliveries.ts';
import { type Preview, replayDeadLetters, type Under, underFor } from '../deliver/replay.ts';
import { InnboundError } from '../errors.ts';
import { drainEvents } from '../intake/push/worker.ts';
import { assignGuestEvent, guestCandidates, placeText } from '../operations/assign-guest-event.ts';
import { dropDeadLetter, replayPorts } from '../operations/replay-dead-letters.ts';
import type { Runtime } from '../runtime/runtime.ts';
import {
  countDeadLetters,
  type DeadLetter,
  type DeadLetterFilter,
  listDeadLetters,
  showDeadLetter,
} from '../store/operate/dead-letters.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { positive, shortText } from './input.ts';
import { answer, io, printJson, say, show, table } from './io.ts';

interface FilterOptions extends CommonOptions {
  readonly integration?: string;
  readonly kind?: DeadLetter['kind'];
  readonly destination?: string;
  readonly code?: string;
  readonly reservation?: string;
  readonly all?: boolean;
}

interface ListOptions extends FilterOptions {
  readonly state: DeadLetter['state'] | 'all';
  readonly limit: number;
}

interface ReplayOptions extends FilterOptions {
  readonly under?: Under;
  readonly diff?: boolean;
  readonly rate: number;
}

interface AssignOptions extends CommonOptions {
  readonly to: string;
}

interface DropOptions extends FilterOptions {
  readonly reason: string;
}

export function define(group: Command): void {
  filtered(group.command('list'))
    .description('list open dead letters, oldest first')
    .addOption(
      new Option('--state <state>', 'only this state').choices(['open', 'replayed', 'dropped', 'all']).default('open'),
    )
    .option('--limit <n>', 'maximum number', positive, 1_000)
    .inRuntime((runtime, options: ListOptions) => list(runtime, options));

  group
    .subcommand('show <id>', 'show one with its payload, its history and what a replay would change')
    .inRuntime((runtime, id: string, options: CommonOptions) => showOne(runtime, id, options));

  filtered(group.command('replay [ids...]'))
    .description('replay dead letters: deliveries unchanged, events and records with the current documents')
    .option('--all', 'every open dead letter that matches the filters')
    .addOption(
      new Option('--under <documents>', 'use the current (today) or the recorded documents').choices([
        'today',
        'recorded',
      ]),
    )
    .option('--diff', 'only show what would change')
    .option('--rate <n>', 'maximum per second', positive, 50)
    .notes(replayExamples)
    .inRuntime((runtime, ids: string[], options: ReplayOptions) => replay(runtime, ids, options));

  group
    .subcommand('assign <id>', 'apply a guest event that may mean several persons to one of them')
    .requiredOption(
      '--to <person>',
      'one of the candidates: a profile, or a reservation and the place in its guest list',
    )
    .notes(assignExamples)
    .inRuntime((runtime, id: string, options: AssignOptions) => assign(runtime, id, options));

  filtered(group.command('drop [ids...]'))
    .description('drop dead letters permanently; a held reservation continues with its next version')
    .option('--all', 'every open dead letter that matches the filters')
    .requiredOption('--reason <text>', 'the reason; it is stored', shortText(500))
    .inRuntime((runtime, ids: string[], options: DropOptions) => drop(runtime, ids, options));
}

const replayExamples = `
Examples:
  innbound dead-letters replay 17
  innbound dead-letters replay 17 --under today --diff
  innbound dead-letters replay --all --destination crm --rate 10`;

const assignExamples = `
Examples:
  innbound dead-letters show 17                       # names the candidates
  innbound dead-letters assign 17 --to gst_77c2
  innbound dead-letters assign 17 --to R-1001:2       # the second guest of R-1001`;

function filtered(command: Command): Command {
  return command
    .common()
    .option('-i, --integration <name>', 'only this integration')
    .addOption(new Option('--kind <kind>', 'only this kind').choices(['event', 'record', 'delivery']))
    .option('-d, --destination <name>', 'only deliveries to this destination')
    .option('--code <code>', 'only with this error code')
    .option('--reservation <id>', 'only this reservation or guest');
}

function filterOf(options: FilterOptions): DeadLetterFilter {
  const { integration, kind, destination, code, reservation: recordId } = options;
  return { integration, kind, destination, code, recordId };
}

async function list({ pool }: Runtime, options: ListOptions): Promise<void> {
  const filter = { ...filterOf(options), state: options.state };
  const letters = await listDeadLetters(pool, { ...filter, limit: options.limit });
  if (options.json) for (const letter of letters) printJson(summary(letter));
  else if (letters.length === 0) say('No dead letters.');
  else {
    const rows = letters.map((letter) => [
      letter.id,
      letter.kind,
      letter.integration,
      letter.record_id ?? '-',
      letter.destination ?? '-',
      letter.last_at.toISOString(),
      letter.code,
      letter.message,
    ]);
    show(table([['id', 'kind', 'integration', 'record', 'destination', 'last', 'code', 'message'], ...rows]));
    const total = letters.length < options.limit ? letters.length : await countDeadLetters(pool, filter);
    if (total > letters.length) say(`${total - letters.length} more; add a filter or raise --limit.`);
  }
}

function summary(letter: DeadLetter) {
  return {
    id: letter.id,
    kind: letter.kind,
    integration: letter.integration,
    ...(letter.type !== null && { type: letter.type }),
    ...(letter.record_id !== null && { [letter.type === 'guest' ? 'guest_id' : 'reservation_id']: letter.record_id }),
    ...(letter.destination !== null && { destination: letter.destination }),
    ...(letter.version !== null && { version: letter.version }),
    code: letter.code,
    message: letter.message,
    times: letter.times,
    at: letter.at.toISOString(),
    last_at: letter.last_at.toISOString(),
    state: letter.state,
  };
}

async function showOne(runtime: Runtime, id: string, options: CommonOptions): Promise<void> {
  const letter = await showDeadLetter(runtime.pool, id);
  if (letter === undefined) throw new InnboundError('deliver.not_dead', `There is no dead letter ${id}.`, { id });
  await audited(runtime, 'dead_letters.get', { integration: letter.integration, target: { id } });
  const replayed =
    letter.state === 'open' ? await replayPorts(runtime).preview(letter, underFor(letter, undefined)) : undefined;
  const { record_id: _, ...rest } = letter;
  const held = Object.entries(rest).filter(([, value]) => value !== null);
  const whole = { ...Object.fromEntries(held), ...summary(letter), ...(replayed && { replay: replayed }) };
  answer(options, whole, JSON.stringify(whole, null, 2));
}

async function replay(runtime: Runtime, ids: readonly string[], options: ReplayOptions): Promise<void> {
  const letters = await chosen(runtime, ids, options);
  const ports = replayPorts(runtime);
  if (options.diff) {
    for (const letter of letters) {
      const { id, integration } = letter;
      const under = underFor(letter, options.under);
      await audited(runtime, 'dead_letters.preview', { integration, target: { id, under } });
      showDiff(letter, await ports.preview(letter, under), options);
    }
    return;
  }
  const counts = await replayDeadLetters(ports, letters, {
    under: options.under,
    by: commandLineUser(),
    perSecond: options.rate,
    onEach: (result) => {
      if (options.json) return;
      say(`${result.id}: ${result.result.replace('_', ' ')}${'message' in result ? `: ${result.message}` : ''}`);
    },
  });
  const brands = new Set(letters.map(({ integration }) => integration));
  for (const integration of brands) {
    const target = { ids: letters.filter((one) => one.integration === integration).map(({ id }) => id) };
    await audited(runtime, 'dead_letters.replay', { integration, target });
  }
  // A running service may process them first; without one, this command does.
  if (letters.some(({ kind }) => kind === 'event')) await drainEvents(eventWorkerPorts(runtime));
  const outbound = await deliverPorts(runtime);
  const delivered = { delivered: 0, retry: 0, dead: 0 };
  for (const integration of brands) {
    const counted = await drainOnce(outbound, { integration });
    delivered.delivered += counted.delivered;
    delivered.retry += counted.retry;
    delivered.dead += counted.dead;
  }
  if (options.json) printJson({ ...counts, ...delivered });
  else say(`${counts.replayed} replayed, ${counts.still_failing} would fail again, ${counts.gone} gone.`);
  if (counts.replayed === 0 && letters.length > 0) io().exitCode = 1;
}

function showDiff(letter: DeadLetter, preview: Preview, { json }: CommonOptions): void {
  if (json) {
    printJson({ id: letter.id, ...preview });
    return;
  }
  show(`${letter.id} (${letter.kind}): ${preview.kind.replace('_', ' ')}`);
  if (preview.kind !== 'ready') return;
  if (preview.before === undefined && letter.kind !== 'delivery') show('  no stored record; a replay would create it');
  for (const { path, before, after } of preview.diff) {
    show(`  ${path}: ${JSON.stringify(before) ?? '(none)'} -> ${JSON.stringify(after) ?? '(none)'}`);
  }
  if (preview.diff.length === 0) show('  the record would not change');
}

async function assign(runtime: Runtime, id: string, options: AssignOptions): Promise<void> {
  const letter = await showDeadLetter(runtime.pool, id);
  const candidates = (await guestCandidates(runtime, id)) ?? [];
  const to = candidates.find(({ at }) => placeText(at) === options.to)?.at;
  if (letter === undefined || to === undefined) {
    const known = candidates.map(({ at }) => placeText(at)).join(', ');
    const why = known === '' ? `Dead letter ${id} has no guest event to assign.` : `--to takes one of ${known}.`;
    throw new InnboundError('operate.invalid_input', why);
  }
  const done = await assignGuestEvent(runtime, id, to, commandLineUser());
  if (done.result === 'refused') throw new InnboundError('operate.conflict', done.reason);
  const { integration } = letter;
  await audited(runtime, 'dead_letters.assign', { integration, target: { id, to: options.to } });
  await drainOnce(await deliverPorts(runtime), { integration });
  if (options.json) printJson(done);
  else say(done.result === 'assigned' ? `${id}: assigned to ${options.to}.` : `${id}: it stays open. ${done.message}`);
  if (done.result === 'still_open') io().exitCode = 1;
}

async function drop(runtime: Runtime, ids: readonly string[], options: DropOptions): Promise<void> {
  let dropped = 0;
  for (const { id, integration } of await chosen(runtime, ids, options)) {
    if (!(await dropDeadLetter(runtime, id, { by: commandLineUser(), reason: options.reason }))) continue;
    await audited(runtime, 'dead_letters.drop', { integration, target: { id } });
    dropped += 1;
  }
  if (options.json) printJson({ dropped });
  else say(`${dropped} dropped.`);
}

async function chosen({ pool }: Runtime, ids: readonly string[], options: FilterOptions): Promise<DeadLetter[]> {
  if (ids.length === 0 && !options.all)
    throw new InnboundError('operate.usage', 'Give the ids of dead letters, or --all.');
  if (ids.length > 0) {
    const wrong = ids.find((id) => !/^\d{1,18}$/.test(id));
    const letters = wrong === undefined ? await listDeadLetters(pool, { ids, limit: ids.length }) : [];
    const missing = wrong ?? ids.find((id) => !letters.some((letter) => letter.id === id));
    if (missing !== undefined) {
      throw new InnboundError('deliver.not_dead', `There is no open dead letter ${missing}.`, { id: missing });
    }
    return letters;
  }
  return listDeadLetters(pool, { ...filterOf(options), limit: 1_000_000 });
}
