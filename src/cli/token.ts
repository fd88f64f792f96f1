import { userInfo } from 'node:os';
import { Option } from 'commander';
import { parseDuration } from '../documents/units.ts';
import { noIntegration } from '../errors/no-integration.ts';
import { InnboundError } from '../errors.ts';
import { publicUrl } from '../operations/endpoints.ts';
import { createSignIn, createToken } from '../operations/tokens.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { TokenRole } from '../store/operate/tokens.ts';
import { listTokens, revokeToken } from '../store/operate/tokens.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { between, shortText } from './input.ts';
import { answer, printJson, say, show, showList } from './io.ts';

interface Options extends CommonOptions {
  readonly role: TokenRole;
  readonly name?: string;
  readonly integration?: readonly string[];
  readonly expires?: number;
}

export function define(token: Command): void {
  token.notes(`
feed reads the feed of changes and nothing else; viewer reads, with guest data masked; operator also acts (runs, replays, acknowledges); admin also manages access, applies documents, erases guests.

Examples:
  innbound token create --role operator --name "night desk" --integration lisbon-grand
  innbound token create --role feed --name "data team" --integration lisbon-grand
  innbound token sign-in --role admin`);
  granting(token.command('create'), ['feed', 'viewer', 'operator', 'admin'])
    .description('create a token for a program; it is shown only once')
    .option('--expires <time>', 'when it expires, such as 90d; by default it does not', life)
    .inRuntime(async (runtime, options: Options) => {
      const { integrations, by, name } = grantOf(runtime, options);
      const made = await createToken(runtime, {
        name,
        role: options.role,
        integrations,
        by,
        lifeMs: options.expires,
      });
      await audited(runtime, 'tokens.create', { target: { token: made.row.token_id } });
      const { token_id, role, expires_at } = made.row;
      if (options.json) return printJson({ token: made.token, token_id, name, role, integrations, expires_at });
      show(made.token);
      say(
        `\n${role}, ${integrations?.join(', ') ?? 'all integrations'}. The token is shown only now: only its hash is stored.`,
      );
    });
  granting(token.command('sign-in'), ['viewer', 'operator', 'admin'])
    .description('create a link that opens the console once, within a day')
    .inRuntime(async (runtime, options: Options) => {
      const { integrations, by, name } = grantOf(runtime, options);
      const link = await createSignIn(runtime, { name, role: options.role, integrations, by });
      await audited(runtime, 'tokens.sign_in_link', { target: { token: name } });
      const url = `${await publicUrl(runtime)}${link.path}`;
      answer(options, { url, expires_at: link.expires_at }, url);
    });
  token.subcommand('list', 'list active tokens and sessions').inRuntime(async ({ pool }, options: CommonOptions) => {
    showList(options, await listTokens(pool), {
      none: 'No active tokens.',
      head: ['token', 'kind', 'role', 'name', 'integrations', 'expires'],
      line: (one) => [
        one.token_id,
        one.kind,
        one.role,
        one.name,
        one.integrations?.join(',') ?? 'all',
        one.expires_at?.toISOString() ?? 'never',
      ],
    });
  });
  token
    .subcommand('revoke <token_id>', 'revoke a token and the sessions created from it, at once')
    .inRuntime(async (runtime, id: string, options: CommonOptions) => {
      if (!(await revokeToken(runtime.pool, id))) {
        throw new InnboundError('operate.not_found', `There is no active token ${id}.`);
      }
      await audited(runtime, 'tokens.revoke', { target: { token: id } });
      answer(options, { token_id: id, revoked: true }, `Revoked ${id}.`);
    });
}

function granting(command: Command, roles: readonly TokenRole[]): Command {
  return command
    .common()
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
  const { integration, name = userInfo().username } = options;
  return { integrations: integration ? [...integration] : null, by: commandLineUser(), name };
}

/** As in the API. */
const life = between(parseDuration, 1, 3650 * 86_400_000, 'a duration such as 90d or 12h, at most 3650d');
