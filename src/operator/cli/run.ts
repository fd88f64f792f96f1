import { CommanderError } from 'commander';
import { printable } from '../../../packages/partner-kit/src/escape.ts';
import { InnboundError } from '../../errors.ts';
import { moduleSuffix } from '../../kit/module-suffix.ts';
import { version } from '../../kit/version.ts';
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

interface Module {
  /** Adds the options and the action of a command. */
  define(command: Command): void;
}

/** Usage and line in the help text, in its order: first steps, then daily work. The module of a command has its name. */
const commands: Readonly<Record<string, string>> = {
  demo: 'run a simulated hotel group with pull, push, files and tables; nothing to configure',
  'init [dir]': 'create a commented workspace to start from',
  validate: 'check all documents of a workspace and list every mistake with its position',
  apply: 'put all documents of a workspace in force, or none if one is invalid',
  serve: 'apply the workspace’s documents and run the service',
  doctor: 'check what a node needs: database, permissions, clock, disk, DNS names, certificates, keys, other nodes',
  'status [integration]': 'show the health of each brand, and why',
  'sync <integration>': 'pull from a partner once, now, and report the result',
  'runs [run]': 'list the latest runs, or show one in detail: requests, waits, findings and changes',
  'endpoint <integration>': 'issue, show, rotate or retire the webhook endpoint of an integration',
  onboard: 'create, list, approve and revoke links with which a partner connects a brand by itself',
  'listen <integration>': 'forward the events of a brand to a program on this machine, recorded and live ones',
  'consent <integration>': 'create a link with which the brand authorizes our access (OAuth 2.0 authorization code)',
  'import <description>': 'propose a connector from an API description: OpenAPI 3, Swagger 2 or a Postman collection',
  suggest: 'suggest a connector from a sample response',
  'map <connector>': 'map a sample response with a connector: canonical records, origins, notes, unmapped fields',
  'reservation <id>': 'show the timeline of one reservation: what was received, what changed, where it was delivered',
  'dead-letters': 'list, show, replay and drop what could not be processed or delivered',
  brand: 'add brands to a list, continue one with another system or in another installation',
  holds: 'list, release and refuse what is held back as a mistake of a partner',
  profile: 'merge two profiles of one guest, or split one that two guests share',
  'refetch <id>': 'request one reservation from the partner again, by its id',
  destination: 'set up destinations at their vendors, and release those in preview',
  'resend <destination>': 'resend the newest version of every record to a destination that is new or lost its data',
  'audit <destination>': 'compare what a destination holds with what would be sent to it now',
  'reprocess [integration]':
    'process stored payloads again under the documents in force, after a change of the mapping or the rules',
  'backup <file>': 'write the whole database, and its key, into one file',
  'restore <file>': 'restore a backup: raises the epoch and repeats the erasures made since',
  restored: 'declare that the database was restored from a backup, so that destinations accept older versions again',
  alerts: 'list alerts: silent feeds, failing runs, refused credentials, growing dead letters',
  alert: 'list the alert routes, or send a test alert',
  secret: 'manage encrypted secrets that documents refer to; they can be set but never read',
  key: 'show and rotate the key that seals stored secrets',
  erase: 'erase a guest everywhere, notify the destinations, and prevent the guest from being stored again',
  export: 'print everything held on a guest as JSON, for an access request',
  token: 'manage access to the API and the console: create, list and revoke tokens, create sign-in links',
  mcp: 'tools for assistants (Model Context Protocol) on top of a running service',
  partner: 'tools for partners: a simulated PMS, checks for their API and sender, an event sender',
};

/**
 * Adds all commands, and the options of the named one. The modules of the others are not loaded: that would take half a second (two arm64
 * cores), and the help text needs only their lines here.
 */
export async function addCommands(program: Command, name: string | undefined): Promise<void> {
  for (const [usage, description] of Object.entries(commands)) {
    const command = program.command(usage).description(description);
    if (command.name() !== name) continue;
    const { define } = (await import(new URL(`${name}${moduleSuffix}`, import.meta.url).href)) as Module;
    define(command);
  }
}
