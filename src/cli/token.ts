import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../documents/duration.ts';
import { noIntegration } from '../errors/no-integration.ts';
import { InnboundError } from '../errors.ts';
import { publicUrl } from '../operations/endpoints.ts';
import { createSignIn, createToken } from '../operations/tokens.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { writeAudit } from '../store/operate/audit.ts';
import type { TokenRole } from '../store/operate/tokens.ts';
import { listTokens, revokeToken } from '../store/operate/tokens.ts';
import { type CommonOptions, common, printJson, say, show, table, withRuntime } from './command.ts';
import { shortText } from './short-text.ts';

interface Options extends CommonOptions {
  readonly role: TokenRole;
  readonly name?: string;
  readonly integration?: readonly string[];
  readonly expires?: number;
}

export function define(token: Command): void {
  token.addHelpText(
    'after',
    `
feed reads the feed of changes and nothing else; viewer reads, with guest data masked; operator also acts (runs, replays, acknowledges); admin also manages access, applies documents, erases guests.

Examples:
  innbound token create --role operator --name "night desk" --integration lisbon-grand
  innbound token create --role feed --name "data team" --integration lisbon-grand
  innbound token sign-in --role admin`,
  );
  granting(token.command('create'), ['feed', 'viewer', 'operator', 'admin'])
    .description('create a token for a program; it is shown only once')
    .option('--expires <time>', 'when it expires, such as 90d; by default it does not', lifeMs)
    .action((options: Options) =>
      withRuntime(options, 'token create', async (runtime) => {
        const { integrations, by, name } = grantOf(runtime, options);
        const life = options.expires === undefined ? {} : { lifeMs: options.expires };
        const made = await createToken(runtime, { name, role: options.role, integrations, by, ...life });
        await noted(runtime, by, 'tokens.create', made.row.token_id);
        const { token_id, role, expires_at } = made.row;
        if (options.json) return printJson({ token: made.token, token_id, name, role, integrations, expires_at });
        show(made.token);
        say(
          `\n${role}, ${integrations?.join(', ') ?? 'all integrations'}. The token is shown only now: only its hash is stored.`,
        );
      }),
    );
  granting(token.command('sign-in'), ['viewer', 'operator', 'admin'])
    .description('create a link that opens the console once, within a day')
    .action((options: Options) =>
      withRuntime(options, 'token sign-in', async (runtime) => {
        const { integrations, by, name } = grantOf(runtime, options);
        const link = await createSignIn(runtime, { name, role: options.role, integrations, by });
        await noted(runtime, by, 'tokens.sign_in_link', name);
        const url = `${await publicUrl(runtime)}${link.path}`;
        if (options.json) printJson({ url, expires_at: link.expires_at });
        else show(url);
      }),
    );
  common(token.command('list'))
    .description('list active tokens and sessions')
    .action((options: CommonOptions) =>
      withRuntime(options, 'token list', async ({ pool }) => {
        const tokens = await listTokens(pool);
        if (options.json) for (const one of tokens) printJson(one);
        else {
          const rows = tokens.map((one) => [
            one.token_id,
            one.kind,
            one.role,
            one.name,
            one.integrations?.join(',') ?? 'all',
            one.expires_at?.toISOString() ?? 'never',
          ]);
          show(table([['token', 'kind', 'role', 'name', 'integrations', 'expires'], ...rows]));
        }
      }),
    );
  common(token.command('revoke <token_id>'))
    .description('revoke a token and the sessions created from it, at once')
    .action((id: string, options: CommonOptions) =>
      withRuntime(options, 'token revoke', async (runtime) => {
        if (!(await revokeToken(runtime.pool, id))) {
          throw new InnboundError('operate.not_found', `There is no active token ${id}.`);
        }
        await noted(runtime, userInfo().username, 'tokens.revoke', id);
        if (options.json) printJson({ token_id: id, revoked: true });
        else show(`Revoked ${id}.`);
      }),
    );
}

function granting(command: Command, roles: readonly TokenRole[]): Command {
  return common(command)
    .addOption(new Option('-r, --role <role>', 'its role').choices(roles).default('viewer'))
    .option('-n, --name <name>', 'who or what it is for; written into the audit log', shortText(100))
    .option('-i, --integration <name...>', 'only for these integrations');
}

function grantOf(runtime: Runtime, options: Options): { integrations: string[] | null; by: string; name: string } {
  const known = runtime.active().integrations;
  const unknown = options.integration?.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new InnboundError('documents.unknown_name', noIntegration(unknown, known.keys()));
  }
  const by = userInfo().username;
  return { integrations: options.integration ? [...options.integration] : null, by, name: options.name ?? by };
}

async function noted(runtime: Runtime, by: string, action: string, target: string): Promise<void> {
  await writeAudit(runtime.pool, { actor: `${by} (command line)`, action, target: { token: target } });
}

/** As in the API. */
const mostLifeMs = 3650 * 86_400_000;

function lifeMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms <= 0 || ms > mostLifeMs)
    throw new InvalidArgumentError('Expected a duration such as 90d or 12h, at most 3650d.');
  return ms;
}
