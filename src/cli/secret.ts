import { text } from 'node:stream/consumers';
import { InnboundError } from '../errors.ts';
import { putSecret } from '../operations/resume.ts';
import { deleteSecret, listSecrets } from '../store/documents/secrets.ts';
import { audited, type Command, type CommonOptions, withRuntime } from './command.ts';
import { answer, io, printJson, say, show, table } from './io.ts';

export function define(secret: Command): void {
  secret.notes(`
Examples:
  printf %s "$TOKEN" | innbound secret set lisbon-token
  innbound secret list`);
  secret
    .subcommand('set <name>', 'store a secret from standard input')
    .action(async (name: string, options: CommonOptions) => {
      if (!/^[A-Za-z0-9][\w.-]{0,99}$/.test(name)) {
        throw new InnboundError(
          'operate.usage',
          `${name} is not a valid name for a secret: use letters, digits, dots, dashes and underscores.`,
        );
      }
      refuseReserved(name);
      if (io().stdin.isTTY) say('Type or paste the secret, then Enter and Ctrl-D:');
      const value = (await text(io().stdin)).replace(/\r?\n$/, '');
      if (value === '') throw new InnboundError('operate.usage', 'Standard input is empty.');
      await withRuntime(options, 'secret', async (runtime) => {
        await putSecret(runtime, name, value);
        await audited(runtime, 'secrets.put', { target: { name } });
      });
      answer(options, { name }, `Stored. Documents refer to it as \${secret:${name}}.`);
    });
  secret
    .subcommand('list', 'list the names of the stored secrets')
    .inRuntime(async ({ pool }, options: CommonOptions) => {
      const secrets = await listSecrets(pool);
      if (options.json) for (const one of secrets) printJson(one);
      else show(table(secrets.map(({ name, updated_at }) => [name, updated_at.toISOString()])));
    });
  secret
    .subcommand('delete <name>', 'delete a secret; documents that refer to it stop working')
    .inRuntime(async (runtime, name: string, options: CommonOptions) => {
      refuseReserved(name);
      const deleted = await deleteSecret(runtime.pool, name);
      if (!deleted) throw new InnboundError('documents.secret_missing', `There is no secret ${name}.`);
      await audited(runtime, 'secrets.delete', { target: { name } });
      answer(options, { name, deleted }, `Deleted ${name}.`);
    });
}

/** The service keeps its own values under these names: the mark of the key, the keys of hashes, credentials typed into documents. */
function refuseReserved(name: string): void {
  if (!/^(innbound\.|typed_)/.test(name)) return;
  throw new InnboundError('operate.usage', `${name} begins with a prefix that is reserved for the service.`);
}
