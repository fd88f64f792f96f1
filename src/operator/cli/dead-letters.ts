import { Option } from 'commander';
import { deliverPorts } from '../../composition/deliver.ts';
import { eventWorkerPorts } from '../../composition/push.ts';
import { drainOnce } from '../../core/deliver/deliveries.ts';
import { replayDeadLetters, type Under, underFor } from '../../core/deliver/replay.ts';
import { drainEvents } from '../../core/intake/push/worker.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName } from '../../terms.ts';
import { deadLetterRoutes } from '../api/routes/dead-letters.ts';
import { guestCandidates, placeText } from '../operations/assign-guest-event.ts';
import { replayPorts } from '../operations/replay-dead-letters.ts';
import { type DeadLetter, deadLetterIntegration, listDeadLetters } from '../store/dead-letters.ts';
import { call, listAll } from './call.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { positive } from './input.ts';
import { io, say } from './io.ts';
import { print } from './print.ts';

type Letter = Pick<DeadLetter, 'state' | 'type' | 'record_id'>;

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
    .requiredOption('--reason <text>', 'the reason; it is stored')
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

const filterOf = ({ integration, kind, destination, code, reservation: record_id }: FilterOptions) => ({
  integration,
  kind,
  destination,
  code,
  record_id,
});

async function list(runtime: Runtime, options: ListOptions): Promise<void> {
  const query = { ...filterOf(options), state: options.state };
  const items = await listAll<Letter>(runtime, deadLetterRoutes, 'dead_letters.list', query, options.limit);
  if (options.json) return print(options, { items: items.map(named) });
  const columns = ['id', 'kind', 'integration', 'record_id', 'destination', 'last_at', 'code', 'message'];
  print(options, { items }, { none: 'No dead letters.', columns });
  if (items.length === options.limit) say('There may be more; add a filter or raise --limit.');
}

/** With the name of its record as outside programs know it, and without what is null. */
function named({ record_id: id, ...letter }: Letter): object {
  const said = Object.fromEntries(Object.entries(letter).filter(([, value]) => value !== null));
  return { ...said, ...(id !== null && { [letter.type === 'guest' ? 'guest_id' : 'reservation_id']: id }) };
}

async function showOne(runtime: Runtime, id: string, options: CommonOptions): Promise<void> {
  const params = { id };
  const letter = await call<Letter>(runtime, deadLetterRoutes, 'dead_letters.get', { params });
  const isOpen = letter.state === 'open';
  const replay = isOpen && (await call(runtime, deadLetterRoutes, 'dead_letters.preview', { params }));
  print(options, { ...named(letter), ...(replay && { replay }) });
}

async function replay(runtime: Runtime, ids: readonly string[], options: ReplayOptions): Promise<void> {
  const letters = await chosen(runtime, ids, options);
  const ports = replayPorts(runtime);
  if (options.diff) {
    for (const letter of letters) {
      const { id, integration } = letter;
      const under = underFor(letter, options.under);
      await audited(runtime, 'dead_letters.preview', { integration, target: { id, under } });
      print(options, { id, ...(await ports.preview(letter, under)) });
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
  print(options, { ...counts, ...delivered });
  if (counts.replayed === 0 && letters.length > 0) io().exitCode = 1;
}

async function assign(runtime: Runtime, id: string, options: AssignOptions): Promise<void> {
  const candidates = (await guestCandidates(runtime, id)) ?? [];
  const to = candidates.find(({ at }) => placeText(at) === options.to)?.at;
  if (to === undefined) {
    const known = candidates.map(({ at }) => placeText(at)).join(', ');
    const why = known === '' ? `Dead letter ${id} has no guest event to assign.` : `--to takes one of ${known}.`;
    throw new InnboundError('operate.invalid_input', why);
  }
  const ask = { params: { id }, body: { to } };
  const done = await call<{ result: string }>(runtime, deadLetterRoutes, 'dead_letters.assign', ask);
  const integration = (await deadLetterIntegration(runtime.pool, id)) as IntegrationName;
  await drainOnce(await deliverPorts(runtime), { integration });
  print(options, done);
  if (done.result === 'still_open') io().exitCode = 1;
}

async function drop(runtime: Runtime, ids: readonly string[], options: DropOptions): Promise<void> {
  const body = { reason: options.reason };
  let dropped = 0;
  for (const { id, state } of await chosen(runtime, ids, options)) {
    if (state !== 'open') continue;
    await call(runtime, deadLetterRoutes, 'dead_letters.drop', { params: { id }, body });
    dropped += 1;
  }
  print(options, { dropped });
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
  const { record_id: recordId, ...filter } = filterOf(options);
  return listDeadLetters(pool, { ...filter, recordId, limit: 1_000_000 });
}
