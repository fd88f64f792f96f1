import { stat } from 'node:fs/promises';
import { listSecrets } from '../../core/store/documents/secrets.ts';
import { InnboundError } from '../../errors.ts';
import { backup } from '../operations/backup.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { type PassphraseOptions, passphraseOption, readPassphrase } from './input.ts';
import { say } from './io.ts';
import { print } from './print.ts';
import { rowProgress } from './progress.ts';

interface Options extends CommonOptions, PassphraseOptions {
  readonly withoutKey?: boolean;
}

export function define(command: Command): void {
  command
    .common()
    .option(...passphraseOption)
    .option('--without-key', 'leave the key out: keep it elsewhere, because the backup is useless without it')
    .notes(`
Writes all tables as of one moment, while nodes run. The key of the installation is encrypted with the passphrase; guest data is not, so keep
the file where the database could be kept. A restore refuses a file that was changed. Files that documents refer to, and environment
variables, are not in it.

Example:
  innbound backup monday.innbound --passphrase-file /run/secrets/passphrase
  innbound restore monday.innbound --passphrase-file /run/secrets/passphrase`)
    .inRuntime(
      async (runtime, file: string, options: Options) => {
        const passphrase = options.withoutKey ? undefined : await readPassphrase(options);
        if (passphrase === undefined && !options.withoutKey) {
          throw new InnboundError('store.passphrase', 'The backup holds the key, and needs a passphrase to seal it.');
        }
        if (passphrase === undefined) {
          const names = (await listSecrets(runtime.pool)).map(({ name }) => name);
          say(
            `The key ${runtime.keyring[0].id} is not in the backup. Without it the backup cannot be restored: webhook secrets, partners’ tokens, ` +
              `the recognition of erased guests and these secrets are lost: ${names.join(', ')}.`,
          );
        }
        const progress = rowProgress();
        await backup(runtime, file, passphrase, (table, done, total) => progress.show(done, total, `saved, ${table}`));
        progress.end();
        const bytes = (await stat(file)).size;
        await audited(runtime, 'store.backup', { target: { bytes } });
        print(options, { file, bytes, key: passphrase !== undefined });
      },
      { apply: 'never' },
    );
}
