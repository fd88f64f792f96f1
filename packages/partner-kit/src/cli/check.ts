import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CheckAuth } from '../check/auth.ts';
import { type WalkKind, walkKinds } from '../check/evidence.ts';
import { runApiCheck, runSenderCheck } from '../check/run.ts';
import { addDays } from '../simulate/property.ts';
import { isRealDate } from '../simulate/query.ts';
import { terminalIo } from '../terminal.ts';
import { readAuthFile } from './auth-file.ts';
import { count, isHttpUrl, onPort, port, type Shell, secretFrom } from './shell.ts';

export interface Target {
  readonly baseUrl: string;
  readonly auth: CheckAuth;
}

/** Where `--integration` finds a target; only inside the service's own program. */
export interface Integrations {
  readonly addOptions: (command: Command) => Command;
  readonly find: (name: string, options: { readonly workspace: string }) => Promise<Target>;
}

interface Options {
  readonly workspace: string;
  readonly integration?: string;
  readonly auth?: string;
  readonly from: string;
  readonly to: string;
  readonly paging?: WalkKind;
  readonly cursorParameter: string;
  readonly root?: string;
  readonly property?: string;
  readonly post?: boolean;
  readonly listPath?: string;
  readonly interval: number;
  readonly sender?: boolean;
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly brand?: string;
  readonly secretEnv?: string;
  readonly patience: number;
  readonly json?: boolean;
  readonly html?: string;
}

export function registerCheck(program: Command, shell: Shell, integrations?: Integrations): void {
  const command = program
    .command('check [url]')
    .description('check a partner’s API (with --sender, a partner’s webhook sender) against every rule')
    .option(
      '--auth <file>',
      'credentials as YAML or JSON, in the format of auth in an integration; may refer to variables',
    )
    .addOption(day('--from <date>', 'start of the date range', -3, 'three days ago'))
    .addOption(day('--to <date>', 'end of the date range', 3, 'in three days'))
    .addOption(new Option('--paging <paging>', 'how lists are paged; detected by default').choices(walkKinds))
    .option('--cursor-parameter <name>', 'the query parameter that takes next_cursor', 'cursor')
    .option('--root <key>', 'the key that holds the list; default: reservations, or the only array')
    .option('--post', 'request the list by POST with a body')
    .option('--list-path <path>', 'the path of the list below the base URL')
    .option('--property <id>', 'property_id for a request by POST')
    .option('--interval <ms>', 'milliseconds between two requests', atLeastZero, 400)
    .option('--sender', 'check a sender: listens and says what to send')
    .option('--host <address>', 'with --sender: the address to listen on', '127.0.0.1')
    .option('-p, --port <n>', 'with --sender: the port to listen on; 0 for any free port', port, 0)
    .option('--public-url <url>', 'with --sender: the URL at which the partner reaches this machine, such as a tunnel')
    .option('--brand <id>', 'with --sender: the expected brand_id of events')
    .option('--secret-env <name>', 'with --sender: the variable that holds the secret; by default a new secret')
    .option('--patience <seconds>', 'with --sender: the longest wait in seconds', atLeastZero, 600)
    .option('--json', 'print the report as one JSON object')
    .option('--html <file>', 'write the report as a page to send to the partner')
    .addHelpText(
      'after',
      `
Makes about twenty requests, one at a time, and changes nothing at the partner. The report contains no guest data and no
secrets, only the format of values. Exits with 1 when a rule fails.

Examples:
  ${shell.name} check https://pms.example --auth auth.yaml --html report.html
  ${shell.name} check --sender --public-url https://tunnel.example --port 8080`,
    );
  (integrations?.addOptions(command) ?? command).action(async (url: string | undefined, options: Options) => {
    const output = { json: options.json === true, html: options.html };
    const { from, to, root, property, brand, secretEnv } = options;
    if (options.sender) {
      process.exitCode = await onPort(shell, options.port, async () =>
        runSenderCheck(
          {
            ...options,
            patienceMs: options.patience * 1000,
            ...(brand !== undefined && { brandId: brand }),
            ...(secretEnv !== undefined && { secret: await secretFrom(shell, { env: secretEnv }) }),
          },
          output,
          terminalIo(),
        ),
      );
      return;
    }
    const target = await findTarget(shell, url, options, integrations);
    if (to < from) throw shell.refuse('operate.usage', '--to is before --from.');
    const asking = {
      ...options,
      ...target,
      intervalMs: options.interval,
      form: options.post ? ('post' as const) : ('get' as const),
      ...(root !== undefined && { rootPath: root }),
      ...(property !== undefined && { propertyId: property }),
    };
    process.exitCode = await runApiCheck(asking, output, terminalIo());
  });
}

async function findTarget(
  shell: Shell,
  url: string | undefined,
  options: Options,
  integrations: Integrations | undefined,
): Promise<Target> {
  if (options.integration !== undefined && integrations !== undefined) {
    return integrations.find(options.integration, options);
  }
  if (url === undefined || !isHttpUrl(url)) {
    const others = integrations === undefined ? 'or --sender' : '--integration, or --sender';
    throw shell.refuse('operate.usage', `Give the base URL of the API (http or https), ${others}.`);
  }
  return {
    baseUrl: url,
    auth: options.auth === undefined ? { type: 'none' } : await readAuthFile(shell, options.auth),
  };
}

/** A day, by default so many days from today; the help says it in words. */
const day = (flags: string, about: string, days: number, words: string) =>
  new Option(flags, about).argParser(date).default(addDays(new Date().toISOString().slice(0, 10), days), words);

function date(text: string): string {
  if (!isRealDate(text)) throw new InvalidArgumentError('Expected a date such as 2026-03-31.');
  return text;
}

const atLeastZero = count(0, 86_400_000);
