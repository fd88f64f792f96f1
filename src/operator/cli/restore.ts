import path from 'node:path';
import { restore, writeMissingFiles } from '../operations/backup.ts';
import { repeatErasures } from '../operations/repeat-erasures.ts';
import { audited, type Command, type CommonOptions, commandLineUser, withRuntime } from './command.ts';
import { type PassphraseOptions, passphraseOption, readPassphrase } from './input.ts';
import { io, say } from './io.ts';
import { print } from './print.ts';
import { rowProgress } from './progress.ts';

interface Options extends CommonOptions, PassphraseOptions {
  readonly replace?: boolean;
  readonly erasures: readonly string[];
}

export function define(command: Command): void {
  command
    .common()
    .option(...passphraseOption)
    .option('--replace', 'replace what the database holds now')
    .option('--erasures <files...>', 'copies of other nodes’ .innbound/erasures.ndjson, if the database is lost', [])
    .notes(`
Stop every node first. Everything is replaced in one transaction. The epoch then rises above all earlier ones, so that destinations accept
the restored versions, and guests who were erased after the backup are erased again: the replaced database and the list beside the key
name them. Send the current state afterwards, and start the nodes:

  innbound restore monday.innbound --replace --passphrase-file /run/secrets/passphrase
  innbound resend warehouse`)
    .action(async (file: string, options: Options) => {
      const passphrase = await readPassphrase(options);
      const progress = rowProgress();
      let hashes: readonly string[] = [];
      const settings = {
        workspaceDir: path.resolve(options.workspace),
        env: io().env,
        passphrase,
        replace: options.replace ?? false,
        erasureLists: options.erasures,
        onTable: (table: string) => say(`restoring ${table}`),
      };
      await withRuntime(
        options,
        'restore',
        async (runtime) => {
          const by = `${commandLineUser()}, restore`;
          const erased = await repeatErasures(runtime, hashes, by, (read) => progress.show(read, 0, 'compared'));
          progress.end();
          const files = await writeMissingFiles(runtime);
          const epoch = runtime.restoreCheck.epoch();
          await audited(runtime, 'store.restored', { target: { epoch, erased } });
          const next = 'Run `innbound resend DESTINATION` for each destination, then start the nodes.';
          print(options, { epoch, erased, files }, { next });
        },
        {
          apply: 'never',
          before: async (pool) => {
            hashes = await restore(pool, file, settings);
          },
        },
      );
    });
}
