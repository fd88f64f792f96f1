import { text } from 'node:stream/consumers';
import { InnboundError } from '../../errors.ts';
import { secretRoutes } from '../api/routes/secrets.ts';
import { call, calling, listAll } from './call.ts';
import type { Command, CommonOptions } from './command.ts';
import { io, say } from './io.ts';
import { print } from './print.ts';

export function define(secret: Command): void {
  secret.notes(`
Examples:
  printf %s "$TOKEN" | innbound secret set lisbon-token
  innbound secret list`);
  secret
    .subcommand('set <name>', 'store a secret from standard input')
    .inRuntime(async (runtime, name: string, options: CommonOptions) => {
      if (io().stdin.isTTY) say('Type or paste the secret, then Enter and Ctrl-D:');
      const value = (await text(io().stdin)).replace(/\r?\n$/, '');
      if (value === '') throw new InnboundError('operate.usage', 'Standard input is empty.');
      const stored = await call(runtime, secretRoutes, 'secrets.put', { params: { name }, body: { value } });
      print(options, stored, { next: `Stored. Documents refer to it as \${secret:${name}}.` });
    });
  secret
    .subcommand('list', 'list the names of the stored secrets')
    .inRuntime(async (runtime, options: CommonOptions) => {
      const items = await listAll(runtime, secretRoutes, 'secrets.list', {}, 10_000);
      print(options, { items }, { none: 'No secrets.', columns: ['name', 'updated_at'] });
    });
  calling(
    secret.subcommand('delete <name>', 'delete a secret; documents that refer to it stop working'),
    secretRoutes,
    'secrets.delete',
    (name: string) => ({ params: { name } }),
  );
}
