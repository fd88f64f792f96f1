import { userInfo } from 'node:os';
import { Option } from 'commander';
import { parseDuration } from '../../core/documents/units.ts';
import { tokenRoutes } from '../api/routes/access.ts';
import { calling, listAll } from './call.ts';
import type { Command, CommonOptions } from './command.ts';
import { between } from './input.ts';
import { print } from './print.ts';

interface Options extends CommonOptions {
  readonly role: string;
  readonly name?: string;
  readonly integration?: string[];
  readonly expires?: number;
}

export function define(token: Command): void {
  token.notes(`
feed reads the feed of changes and nothing else; viewer reads, with guest data masked; operator also acts (runs, replays, acknowledges); admin also manages access, applies documents, erases guests.

Examples:
  innbound token create --role operator --name "night desk" --integration lisbon-grand
  innbound token create --role feed --name "data team" --integration lisbon-grand
  innbound token sign-in --role admin`);
  calling(
    granting(token.subcommand('create', 'create a token for a program; it is shown only once'), [
      'feed',
      'viewer',
      'operator',
      'admin',
    ]).option('--expires <time>', 'when it expires, such as 90d; by default it does not', days),
    tokenRoutes,
    'tokens.create',
    (options: Options) => ({ body: { ...grantOf(options), days: options.expires } }),
    { next: '\nThe token is shown only now: only its hash is stored.' },
  );
  calling(
    granting(token.subcommand('sign-in', 'create a link that opens the console once, within a day'), [
      'viewer',
      'operator',
      'admin',
    ]),
    tokenRoutes,
    'tokens.sign_in_link',
    (options: Options) => ({ body: grantOf(options) }),
  );
  token.subcommand('list', 'list active tokens and sessions').inRuntime(async (runtime, options: CommonOptions) => {
    const items = await listAll(runtime, tokenRoutes, 'tokens.list', {}, 10_000);
    const columns = ['token_id', 'kind', 'role', 'name', 'integrations', 'expires_at'];
    print(options, { items }, { none: 'No active tokens.', columns });
  });
  calling(
    token.subcommand('revoke <token_id>', 'revoke a token and the sessions created from it, at once'),
    tokenRoutes,
    'tokens.revoke',
    (token_id: string) => ({ params: { token_id } }),
  );
}

const granting = (command: Command, roles: readonly string[]): Command =>
  command
    .addOption(new Option('-r, --role <role>', 'its role').choices(roles).default('viewer'))
    .option('-n, --name <name>', 'who or what it is for; written into the audit log')
    .option('-i, --integration <name...>', 'only for these integrations');

const grantOf = ({ role, name = userInfo().username, integration = [] }: Options) => ({
  role,
  name,
  integrations: integration.length === 0 ? null : integration,
});

const dayMs = 86_400_000;
const days = (text: string): number =>
  between(parseDuration, dayMs, 3650 * dayMs, 'a number of days such as 90d, at most 3650d')(text) / dayMs;
