import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parse, type YAMLParseError } from 'yaml';
import { type Auth, authSchema } from '../documents/auth.ts';
import { resolveSecrets } from '../documents/resolve-secrets.ts';
import { InnboundError } from '../errors.ts';
import { type CheckAuth, fromDocument, runApiCheck, runSenderCheck } from '../partner/check/index.ts';
import { type CommonOptions, withRuntime } from './command.ts';
import { readGiven } from './given-file.ts';
import { onPort, terminalIo } from './partner-io.ts';
import { secretFrom } from './partner-secret.ts';
import { portNumber } from './serve.ts';

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
    .description('hold a partner’s API, or with --sender a partner’s sender, against every rule, one by one')
    .option('--integration <name>', 'take address and credentials from this integration of the workspace')
    .option('-w, --workspace <dir>', 'the workspace folder', process.env.INNBOUND_WORKSPACE ?? '.')
    .option(
      '--auth <file>',
      'credentials as YAML or JSON, written as auth in an integration, references to variables too',
    )
    .option('--from <date>', 'start of the range to look at', date, dayFromNow(-3))
    .option('--to <date>', 'end of the range', date, dayFromNow(3))
    .addOption(
      new Option('--paging <paging>', 'found by itself where it is left out').choices([
        'offset',
        'page',
        'cursor',
        'link',
      ]),
    )
    .option('--cursor-parameter <name>', 'the query parameter that takes next_cursor', 'cursor')
    .option('--root <key>', 'the key of the envelope that holds the list; reservations, or the only array')
    .option('--post', 'ask for the list by POST with a body')
    .option('--list-path <path>', 'where the list is, behind the base URL')
    .option('--property <id>', 'property_id for the form by POST')
    .option('--interval <ms>', 'between two requests', milliseconds, 400)
    .option('--sender', 'check a sender: listens, and says what to send')
    .option('--host <address>', 'with --sender: the address to listen on', '127.0.0.1')
    .option('-p, --port <n>', 'with --sender: the port to listen on; 0: one that is free', portNumber, 0)
    .option('--public-url <url>', 'with --sender: how the partner reaches this machine, such as a tunnel')
    .option('--brand <id>', 'with --sender: the brand_id that events must carry')
    .option('--secret-env <name>', 'with --sender: the variable with the secret; a new one where it is left out')
    .option('--patience <seconds>', 'with --sender: the longest wait', milliseconds, 600)
    .option('--json', 'print the report as one JSON object')
    .option('--html <file>', 'write the report as a page to send to the partner')
    .addHelpText(
      'after',
      `
Makes some twenty requests, one at a time, and no change at the partner. The report shows no guest and no secret: values by
their form only. Exits with 1 where a rule does not hold.

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
      if (options.to < options.from) throw new InnboundError('operate.usage', '--to lies before --from.');
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
      'Name the base URL of the API (http or https), an --integration, or --sender.',
    );
  }
  if (options.auth === undefined) return { baseUrl: url, auth: { type: 'none' } };
  const checked = authSchema.safeParse(parsed(await readGiven(options.auth, 'file'), options.auth));
  if (!checked.success) {
    const [first] = checked.error.issues;
    throw new InnboundError(
      'operate.usage',
      `${options.auth}: ${first?.path.join('.') ?? ''} ${first?.message ?? 'is no auth'}.`,
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

/** YAML's own message quotes the line, which may hold a credential: only its place is told. */
function parsed(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const { linePos } = error as YAMLParseError;
    const place = linePos === undefined ? '' : ` See line ${linePos[0].line}, column ${linePos[0].col}.`;
    throw new InnboundError('operate.usage', `${file} is neither YAML nor JSON.${place}`);
  }
}

function fromIntegration(
  name: string,
  options: Pick<CommonOptions, 'workspace'>,
): Promise<{ baseUrl: string; auth: CheckAuth }> {
  return withRuntime(options, 'partner check', async (runtime) => {
    const found = runtime.active().integrations.get(name);
    const pull = found?.body.pull;
    if (pull === undefined) {
      const names = [...runtime.active().integrations.keys()].join(', ') || 'none';
      throw new InnboundError(
        'documents.unknown_name',
        `No integration that pulls is named ${name}; there are ${names}.`,
      );
    }
    const resolved = await runtime.resolve({ baseUrl: pull.base_url, auth: pull.auth });
    if (resolved.kind === 'missing') throw missing(resolved.missing);
    return { baseUrl: resolved.body.baseUrl, auth: usable(resolved.body.auth) };
  });
}

function missing(missing: readonly { readonly reference: string }[]): InnboundError {
  return new InnboundError(
    'documents.secret_missing',
    `Not to be had: ${missing.map(({ reference }) => reference).join(', ')}.`,
  );
}

function usable(auth: Auth): CheckAuth {
  const made = fromDocument(auth);
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
    throw new InvalidArgumentError('a date is written as 2026-03-31');
  }
}

function milliseconds(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError('a whole number from 0 on');
  return value;
}
