import type { Command } from 'commander';
import { InnboundError } from '../errors.ts';
import { writeMissingFiles } from '../operations/backup.ts';
import { exportBrand, importBrand, previewExport } from '../operations/transfer-brand.ts';
import { audited, type CommonOptions, commandLineUser, common, printJson, show, withRuntime } from './command.ts';
import { rowProgress } from './count-progress.ts';
import { type PassphraseOptions, passphraseOption, readPassphrase } from './passphrase.ts';

interface Options extends CommonOptions, PassphraseOptions {
  readonly apply?: boolean;
}

/** `brand export` and `brand import`. */
export function defineTransfer(group: Command): void {
  common(group.command('export <integration> <file>'))
    .description('write a brand into a file for another installation; from then on it no longer runs here')
    .option(...passphraseOption)
    .option('--apply', 'export; without it, only show what would be exported')
    .addHelpText(
      'after',
      `
The file holds the brand's documents, records, history, positions at destinations, and its secrets, sealed with the passphrase. Destinations
notice nothing: ids, versions and idempotency keys stay the same, and what waits is delivered by the other installation.

Example:
  innbound brand export lisbon-grand lisbon.innbound
  innbound brand export lisbon-grand lisbon.innbound --apply --passphrase-file /run/secrets/passphrase`,
    )
    .action((name: string, file: string, options: Options) =>
      withRuntime(options, `brand export ${name}`, async (runtime) => {
        if (!options.apply) {
          const preview = await previewExport(runtime, name);
          if (options.json) return printJson(preview);
          const { records, waiting, connector, destinations, secrets } = preview;
          show(`${records} records of ${name}, ${waiting} waiting for a destination.`);
          show(`With it: the connector ${connector}; destinations: ${destinations.join(', ') || 'none'}.`);
          show(`Secrets: ${secrets.join(', ') || 'none'}.`);
          return show('Add --apply to export. The brand then no longer runs here.');
        }
        const passphrase = await readPassphrase(options);
        if (passphrase === undefined) throw new InnboundError('store.passphrase', 'The file holds secrets.');
        const progress = rowProgress();
        const onTable = (table: string, done: number, total: number) => progress.show(done, total, `read, ${table}`);
        const exported = await exportBrand(runtime, name, file, { by: commandLineUser(), passphrase, onTable });
        progress.end();
        await audited(runtime, 'brand.export', { integration: name, target: { records: exported.records } });
        if (options.json) printJson({ ...exported, file });
        else show(`${file} holds ${name}. It no longer runs here; import it in the other installation.`);
      }),
    );
  common(group.command('import <file>'))
    .description('add a brand that another installation exported; stop every node first')
    .option(...passphraseOption)
    .option('--apply', 'import; without it, only show what would be imported')
    .action((file: string, options: Options) =>
      withRuntime(options, 'brand import', async (runtime) => {
        const passphrase = await readPassphrase(options);
        const { apply = false } = options;
        const { brand, refused: _, ...imported } = await importBrand(runtime, file, { passphrase, apply });
        const files = apply ? await writeMissingFiles(runtime) : [];
        if (apply)
          await audited(runtime, 'brand.import', { integration: brand, target: { records: imported.records } });
        if (options.json) return printJson({ integration: brand, ...imported, files, imported: apply });
        show(`${brand}: ${imported.records} records, ${imported.waiting} waiting for a destination.`);
        if (imported.secretsKept.length > 0)
          show(`Secrets that keep their value here: ${imported.secretsKept.join(', ')}.`);
        show(apply ? `Imported. Wrote ${files.join(', ') || 'no files'}. Start the nodes.` : 'Add --apply to import.');
      }),
    );
}
