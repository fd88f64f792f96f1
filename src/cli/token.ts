import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../documents/duration.ts';
import { InnboundError } from '../errors.ts';
import { publicUrl } from '../operations/endpoints.ts';
import { createSignIn, createToken } from '../operations/tokens.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { writeAudit } from '../store/operate/audit.ts';
import { listTokens, revokeToken, type TokenRole } from '../store/operate/tokens.ts';
import { type CommonOptions, common, printJson, say, show, table, withRuntime } from './command.ts';

interface Options extends CommonOptions {
  readonly role: TokenRole;
  readonly name?: string;
  readonly integration?: readonly string[];
  readonly expires?: number;
}

export function registerToken(program: Command): void {
  const token = program
    .command('token')
    .description('who may call the API and open the console: make, list and revoke tokens, make sign-in links')
    .addHelpText(
      'after',
      `
viewer looks; operator also acts (runs, replays, acknowledges); admin also decides who may, applies documents, erases guests.

Examples:
  innbound token create --role operator --name "night desk" --integration lisbon-grand
  innbound token sign-in --role admin`,
    );
  granting(token.command('create'))
    .description('a token for a program; it is shown this once')
    .option('--expires <time>', 'when it ends, such as 90d; left out, it does not', lifeMs)
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
          `\n${role}, ${integrations?.join(', ') ?? 'all integrations'}. It is shown only now: only its hash is kept.`,
        );
      }),
    );
  granting(token.command('sign-in'))
    .description('a link that opens the console once, within a day')
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
    .description('tokens and sessions that count now')
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
            one.expires_at?.toISOString() ?? 'no end',
          ]);
          show(table([['token', 'kind', 'role', 'name', 'integrations', 'ends'], ...rows]));
        }
      }),
    );
  common(token.command('revoke <token_id>'))
    .description('end a token, and the sessions made from it, at once')
    .action((id: string, options: CommonOptions) =>
      withRuntime(options, 'token revoke', async (runtime) => {
        if (!(await revokeToken(runtime.pool, id))) {
          throw new InnboundError('operate.not_found', `No valid token has the id ${id}.`);
        }
        await noted(runtime, userInfo().username, 'tokens.revoke', id);
        if (options.json) printJson({ token_id: id, revoked: true });
        else show(`Revoked ${id}.`);
      }),
    );
}

function granting(command: Command): Command {
  return common(command)
    .addOption(
      new Option('-r, --role <role>', 'what it may do').choices(['viewer', 'operator', 'admin']).default('viewer'),
    )
    .option('-n, --name <name>', 'who or what it is for; the audit says so')
    .option('-i, --integration <name...>', 'only for these integrations');
}

function grantOf(runtime: Runtime, options: Options): { integrations: string[] | null; by: string; name: string } {
  const known = runtime.active().integrations;
  const unknown = options.integration?.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new InnboundError('documents.unknown_name', `No integration is named ${unknown}.`);
  }
  const by = userInfo().username;
  return { integrations: options.integration ? [...options.integration] : null, by, name: options.name ?? by };
}

async function noted(runtime: Runtime, by: string, action: string, target: string): Promise<void> {
  await writeAudit(runtime.pool, { actor: `${by} (command line)`, action, target: { token: target } });
}

function lifeMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms <= 0) throw new InvalidArgumentError('a time such as 90d or 12h');
  return ms;
}
