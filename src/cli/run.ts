import { CommanderError } from 'commander';
import { printable } from '../../packages/partner-kit/src/escape.ts';
import { InnboundError } from '../errors.ts';
import { version } from '../kit/version.ts';
import { Command } from './command.ts';
import { fail, io } from './io.ts';

/** Runs one command line; the result is its output and its exit code. */
export async function run(args: readonly string[]): Promise<void> {
  // With --json, usage errors are JSON too.
  const wantsJson = args.includes('--json');
  const program = new Command('innbound')
    .description(
      'Collects hotel reservations by pull and push, converts them to one schema, and delivers every change.',
    )
    .version(version)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io().stdout.write(printable(text)),
      writeErr: (text) => void (wantsJson || io().stderr.write(printable(text))),
    })
    .addHelpText(
      'after',
      `
First steps:
  innbound demo                        a simulated hotel group, pulled and pushing, into files and tables
  innbound init my-workspace           a commented workspace to edit
  innbound validate -w my-workspace    every mistake with file, line and column
  innbound serve -w my-workspace       apply the documents and run

Each command explains itself: innbound COMMAND --help. Errors have stable codes: docs/errors.md.`,
    );
  const [first, second] = args.filter((word) => !word.startsWith('-'));
  await addCommands(program, first === 'help' ? second : first);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) fail(error, wantsJson);
    else if (error.exitCode !== 0 && wantsJson) fail(new InnboundError('operate.usage', usageMessage(error)), true);
    else io().exitCode = error.exitCode;
  }
}

function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'No command was given.' : message.replace(/^error: /, '').replaceAll('\n', ' ');
}

/** A command: its usage, its line in the help text, and the module that adds its options and its action. */
type CommandEntry = readonly [
  usage: string,
  description: string,
  load: () => Promise<{ define(command: Command): void }>,
];

/** In the order of the help text: first steps, then daily work. */
const commands: readonly CommandEntry[] = [
  [
    'demo',
    'run a simulated hotel group with pull, push, files and tables; nothing to configure',
    () => import('./demo.ts'),
  ],
  ['init [dir]', 'create a commented workspace to start from', () => import('./init.ts')],
  [
    'validate',
    'check all documents of a workspace and list every mistake with its position',
    () => import('./validate.ts'),
  ],
  ['apply', 'put all documents of a workspace in force, or none if one is invalid', () => import('./apply.ts')],
  ['serve', 'apply the workspace’s documents and run the service', () => import('./serve.ts')],
  [
    'doctor',
    'check what a node needs: database, permissions, clock, disk, DNS names, certificates, keys, other nodes',
    () => import('./doctor.ts'),
  ],
  ['status [integration]', 'show the health of each brand, and why', () => import('./status.ts')],
  ['sync <integration>', 'pull from a partner once, now, and report the result', () => import('./sync.ts')],
  [
    'runs [run]',
    'list the latest runs, or show one in detail: requests, waits, findings and changes',
    () => import('./runs.ts'),
  ],
  [
    'endpoint <integration>',
    'issue, show, rotate or retire the webhook endpoint of an integration',
    () => import('./endpoint.ts'),
  ],
  [
    'onboard',
    'create, list, approve and revoke links with which a partner connects a brand by itself',
    () => import('./onboard.ts'),
  ],
  [
    'listen <integration>',
    'forward the events of a brand to a program on this machine, recorded and live ones',
    () => import('./listen.ts'),
  ],
  [
    'consent <integration>',
    'create a link with which the brand authorizes our access (OAuth 2.0 authorization code)',
    () => import('./consent.ts'),
  ],
  [
    'import <description>',
    'propose a connector from an API description: OpenAPI 3, Swagger 2 or a Postman collection',
    () => import('./import.ts'),
  ],
  ['suggest', 'suggest a connector from a sample response', () => import('./suggest.ts')],
  [
    'map <connector>',
    'map a sample response with a connector: canonical records, origins, notes, unmapped fields',
    () => import('./map.ts'),
  ],
  [
    'reservation <id>',
    'show the timeline of one reservation: what was received, what changed, where it was delivered',
    () => import('./reservation.ts'),
  ],
  [
    'dead-letters',
    'list, show, replay and drop what could not be processed or delivered',
    () => import('./dead-letters.ts'),
  ],
  [
    'brand',
    'add brands to a list, continue one with another system or in another installation',
    () => import('./brand.ts'),
  ],
  ['holds', 'list, release and refuse what is held back as a mistake of a partner', () => import('./holds.ts')],
  ['profile', 'merge two profiles of one guest, or split one that two guests share', () => import('./profile.ts')],
  ['refetch <id>', 'request one reservation from the partner again, by its id', () => import('./refetch.ts')],
  [
    'destination',
    'set up destinations at their vendors, and release those in preview',
    () => import('./destination.ts'),
  ],
  [
    'resend <destination>',
    'resend the newest version of every record to a destination that is new or lost its data',
    () => import('./resend.ts'),
  ],
  [
    'reprocess [integration]',
    'process stored payloads again under the documents in force, after a change of the mapping or the rules',
    () => import('./reprocess.ts'),
  ],
  ['backup <file>', 'write the whole database, and its key, into one file', () => import('./backup.ts')],
  [
    'restore <file>',
    'restore a backup: raises the epoch and repeats the erasures made since',
    () => import('./restore.ts'),
  ],
  [
    'audit <destination>',
    'compare what a destination holds with what would be sent to it now',
    () => import('./audit.ts'),
  ],
  [
    'restored',
    'declare that the database was restored from a backup, so that destinations accept older versions again',
    () => import('./restored.ts'),
  ],
  [
    'alerts',
    'list alerts: silent feeds, failing runs, refused credentials, growing dead letters',
    () => import('./alerts.ts'),
  ],
  ['alert', 'list the alert routes, or send a test alert', () => import('./alert.ts')],
  [
    'secret',
    'manage encrypted secrets that documents refer to; they can be set but never read',
    () => import('./secret.ts'),
  ],
  ['key', 'show and rotate the key that seals stored secrets', () => import('./key.ts')],
  [
    'erase',
    'erase a guest everywhere, notify the destinations, and prevent the guest from being stored again',
    () => import('./erase.ts'),
  ],
  ['export', 'print everything held on a guest as JSON, for an access request', () => import('./export.ts')],
  [
    'token',
    'manage access to the API and the console: create, list and revoke tokens, create sign-in links',
    () => import('./token.ts'),
  ],
  ['mcp', 'tools for assistants (Model Context Protocol) on top of a running service', () => import('./mcp.ts')],
  [
    'partner',
    'tools for partners: a simulated PMS, checks for their API and sender, an event sender',
    () => import('./partner.ts'),
  ],
];

/**
 * Adds all commands, and the options of the named one. The modules of the others are not loaded: that would take half a second (two arm64
 * cores), and the help text needs only their lines here.
 */
export async function addCommands(program: Command, name: string | undefined): Promise<void> {
  for (const [usage, description, load] of commands) {
    const command = program.command(usage).description(description);
    if (command.name() === name) (await load()).define(command);
  }
}
