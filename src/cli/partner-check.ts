import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CheckAuth, runApiCheck, runSenderCheck } from '../../packages/partner-kit/src/check/index.ts';
import { type AuthDocument, authSchema } from '../documents/auth.ts';
import { positionAt } from '../documents/positions.ts';
import { resolveSecrets } from '../documents/resolve-secrets.ts';
import { readYaml } from '../documents/yaml-text.ts';
import { noIntegration } from '../errors/no-integration.ts';
import { InnboundError } from '../errors.ts';
import { checkAuth } from './check-auth.ts';
import { type CommonOptions, withRuntime } from './command.ts';
import { readInputFile } from './input-file.ts';
import { onPort, terminalIo } from './partner-io.ts';
import { secretFrom } from './partner-secret.ts';
import { portNumber } from './port-number.ts';

interface Options {
  readonly workspace: string;
  readonly integration?: string;
  readonly auth?: string;
  readonly from: string;
  readonly to: string;
  readonly paging?: 'offset' | 'page' | 'cursor' | 'link';
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

export function registerPartnerCheck(partner: Command): void {
  partner
    .command('check [url]')
    .description('check a partner’s API (with --sender, a partner’s webhook sender) against every rule')
    .option('--integration <name>', 'use the URL and credentials of this integration')
    .option('-w, --workspace <dir>', 'the workspace folder', process.env.INNBOUND_WORKSPACE ?? '.')
    .option(
      '--auth <file>',
      'credentials as YAML or JSON, in the format of auth in an integration; may refer to variables',
    )
    .option('--from <date>', 'start of the date range', date, dayFromNow(-3))
    .option('--to <date>', 'end of the date range', date, dayFromNow(3))
    .addOption(
      new Option('--paging <paging>', 'how lists are paged; detected by default').choices([
        'offset',
        'page',
        'cursor',
        'link',
      ]),
    )
    .option('--cursor-parameter <name>', 'the query parameter that takes next_cursor', 'cursor')
    .option('--root <key>', 'the key that holds the list; default: reservations, or the only array')
    .option('--post', 'request the list by POST with a body')
    .option('--list-path <path>', 'the path of the list below the base URL')
    .option('--property <id>', 'property_id for a request by POST')
    .option('--interval <ms>', 'milliseconds between two requests', atLeastZero, 400)
    .option('--sender', 'check a sender: listens and says what to send')
    .option('--host <address>', 'with --sender: the address to listen on', '127.0.0.1')
    .option('-p, --port <n>', 'with --sender: the port to listen on; 0 for any free port', portNumber, 0)
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
  innbound partner check https://pms.example --auth auth.yaml --html report.html
  innbound partner check --integration lisbon-grand -w my-workspace
  innbound partner check --sender --public-url https://tunnel.example --port 8080`,
    )
    .action(async (url: string | undefined, options: Options) => {
      const output = { json: options.json === true, html: options.html };
      if (options.sender) {
        process.exitCode = await onPort(options.port, async () =>
          runSenderCheck(
            {
              host: options.host,
              port: options.port,
              patienceMs: options.patience * 1000,
              ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
              ...(options.brand === undefined ? {} : { brandId: options.brand }),
              ...(options.secretEnv === undefined ? {} : { secret: await secretFrom({ env: options.secretEnv }) }),
            },
            output,
            terminalIo(),
          ),
        );
        return;
      }
      const target = await findTarget(url, options);
      if (options.to < options.from) throw new InnboundError('operate.usage', '--to is before --from.');
      process.exitCode = await runApiCheck(
        {
          ...target,
          from: options.from,
          to: options.to,
          intervalMs: options.interval,
          cursorParameter: options.cursorParameter,
          form: options.post ? 'post' : 'get',
          ...(options.listPath === undefined ? {} : { listPath: options.listPath }),
          ...(options.paging === undefined ? {} : { paging: options.paging }),
          ...(options.root === undefined ? {} : { rootPath: options.root }),
          ...(options.property === undefined ? {} : { propertyId: options.property }),
        },
        output,
        terminalIo(),
      );
    });
}

async function findTarget(url: string | undefined, options: Options): Promise<{ baseUrl: string; auth: CheckAuth }> {
  if (options.integration !== undefined) return fromIntegration(options.integration, options);
  if (url === undefined || !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new InnboundError(
      'operate.usage',
      'Give the base URL of the API (http or https), --integration, or --sender.',
    );
  }
  if (options.auth === undefined) return { baseUrl: url, auth: { type: 'none' } };
  const checked = authSchema.safeParse(parsed(await readInputFile(options.auth, 'file'), options.auth));
  if (!checked.success) {
    const [first] = checked.error.issues;
    throw new InnboundError(
      'operate.usage',
      `${options.auth}: ${first?.path.join('.') ?? ''} ${first?.message ?? 'is not a valid auth'}.`,
    );
  }
  const folder = path.dirname(options.auth);
  const resolved = await resolveSecrets(checked.data, {
    env: process.env,
    readFile: (file) => readFile(path.resolve(folder, file), 'utf8').catch(() => undefined),
    secret: async () => undefined,
  });
  if (resolved.kind === 'missing') throw missing(resolved.missing);
  return { baseUrl: url, auth: usable(resolved.body) };
}

/** The message of a fault may quote a credential: report only the position. */
function parsed(text: string, file: string): unknown {
  const read = readYaml(text);
  if (read.kind === 'refused') throw new InnboundError('operate.usage', `${file}: ${read.message}.`);
  const [fault] = read.faults;
  if (fault === undefined) return read.yaml.toJS({ maxAliasCount: 100 });
  const { line, column } = positionAt(text, fault.offset);
  throw new InnboundError('operate.usage', `${file} is neither YAML nor JSON. See line ${line}, column ${column}.`);
}

function fromIntegration(
  name: string,
  options: Pick<CommonOptions, 'workspace'>,
): Promise<{ baseUrl: string; auth: CheckAuth }> {
  return withRuntime(options, 'partner check', async (runtime) => {
    const found = runtime.active().integrations.get(name);
    const pull = found?.body.pull;
    if (pull === undefined) {
      const { integrations } = runtime.active();
      const message = found ? `${name} does not pull.` : noIntegration(name, integrations.keys());
      throw new InnboundError('documents.unknown_name', message);
    }
    const { auth } = pull;
    if (auth.type === 'login') {
      const message = `partner check does not support auth type login, which ${name} uses. Log in by hand and give the token as bearer.`;
      throw new InnboundError('operate.usage', message);
    }
    const resolved = await runtime.resolve({ baseUrl: pull.base_url, auth });
    if (resolved.kind === 'missing') throw missing(resolved.missing);
    return { baseUrl: resolved.body.baseUrl, auth: usable(resolved.body.auth) };
  });
}

function missing(missing: readonly { readonly reference: string }[]): InnboundError {
  return new InnboundError(
    'documents.secret_missing',
    `Missing ${missing.length === 1 ? 'secret' : 'secrets'}: ${missing.map(({ reference }) => reference).join(', ')}.`,
  );
}

function usable(auth: AuthDocument): CheckAuth {
  const made = checkAuth(auth);
  if ('wrong' in made) throw new InnboundError('operate.usage', made.wrong);
  return made;
}

function dayFromNow(days: number): string {
  return Temporal.Now.plainDateISO().add({ days }).toString();
}

function date(text: string): string {
  try {
    return Temporal.PlainDate.from(text).toString();
  } catch {
    throw new InvalidArgumentError('Expected a date such as 2026-03-31.');
  }
}

function atLeastZero(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('Expected a whole number of at least 0.');
  return value;
}
