import { pullPorts } from '../../composition/pull.ts';
import { syncOnce } from '../../core/intake/pull/run/sync-once.ts';
import { InnboundError } from '../../errors.ts';
import type { IntegrationName } from '../../terms.ts';
import { addBrands } from '../operations/add-brands.ts';
import { writeMissingFiles } from '../operations/backup.ts';
import { type MovePreview, moveBrand, previewMove } from '../operations/move-brand.ts';
import { exportBrand, importBrand, previewExport } from '../operations/transfer-brand.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { type PassphraseOptions, passphraseOption, readInputFile, readPassphrase } from './input.ts';
import { print } from './print.ts';
import { rowProgress } from './progress.ts';
import { deliverHere } from './sync.ts';

interface MoveOptions extends CommonOptions {
  readonly to: string;
  readonly yes?: boolean;
  readonly acceptUnmatched?: boolean;
}

export function define(group: Command): void {
  defineTransfer(group);
  group
    .subcommand('add <group>', 'add brands of a CSV file to a file that lists many brands')
    .requiredOption('--from <file>', 'a CSV file; its first line has the keys, such as integration,brand_id,timezone')
    .notes(`
Checks the whole workspace with the new brands and writes nothing if there is a mistake. Run innbound apply afterwards.

Example:
  innbound brand add mews --from new-brands.csv`)
    .action(async (name: string, { from, workspace, json }: CommonOptions & { readonly from: string }) => {
      const text = await readInputFile(from, 'list of brands');
      const added = await addBrands(workspace, name, { file: from, text });
      print({ json }, added, { next: '`innbound apply` puts them in force.' });
    });
  group
    .subcommand(
      'move <integration>',
      'continue a brand with another system: its bookings and guests stay the same at every destination',
    )
    .requiredOption('--to <integration>', 'the integration of the new system, which delivers nowhere yet')
    .option('--yes', 'move; without it, only show which bookings match')
    .option('--accept-unmatched', 'move although fewer than half of the bookings to come are in the new system')
    .notes(`
Connect the new system first, as an integration of its own without deliver, and run its syncs. Bookings are then matched by their numbers,
else by person and dates. After the move the brand has its name, its destinations and its bookings, and the new system's feed.

Example:
  innbound brand move lisbon-grand --to lisbon-mews
  innbound brand move lisbon-grand --to lisbon-mews --yes`)
    .inRuntime(async (runtime, from: string, options: MoveOptions) => {
      const { to } = options;
      if (!options.yes) {
        const preview = await previewMove(runtime, from, to);
        const whole = previewJson(preview);
        const { matched, only_in_old: before, only_in_new: now } = whole;
        const most = { matched: matched.length, only_in_old: before.slice(0, 50), only_in_new: now.slice(0, 50) };
        return print(options, options.json ? whole : { ...whole, ...most }, { next: 'Add --yes to move.' });
      }
      const { acceptUnmatched = false } = options;
      const { preview, range } = await moveBrand(runtime, from, to, { by: commandLineUser(), acceptUnmatched });
      await audited(runtime, 'brand.move', { integration: from, target: { to, matched: preview.matched.length } });
      const integration = from as IntegrationName;
      const ports = pullPorts(runtime);
      const run =
        range && (await syncOnce(ports, { integration, kind: 'backfill', requestedBy: commandLineUser(), ...range }));
      if (run) await deliverHere(runtime, integration);
      print(options, {
        ...previewJson(preview),
        moved: true,
        ...(run && { run_id: run.runId, status: run.state }),
      });
    });
}

const previewJson = ({ matched, onlyBefore, onlyNow, open, openMatched, consentRegained, obstacles }: MovePreview) => ({
  matched: matched.map(({ before, now, by }) => ({ id: before.id, new_id: now.id, by })),
  only_in_old: onlyBefore.map(({ id }) => id),
  only_in_new: onlyNow.map(({ id }) => id),
  open,
  open_matched: openMatched,
  consent_regained: consentRegained,
  obstacles,
});

interface Options extends CommonOptions, PassphraseOptions {
  readonly apply?: boolean;
  readonly secretHere: readonly string[];
}

/** `brand export` and `brand import`. */
function defineTransfer(group: Command): void {
  group
    .subcommand(
      'export <integration> <file>',
      'write a brand into a file for another installation; from then on it no longer runs here',
    )
    .option(...passphraseOption)
    .option('--apply', 'export; without it, only show what would be exported')
    .notes(`
The file holds the brand's documents, records, history, positions at destinations, and its secrets, sealed with the passphrase. Destinations
notice nothing: ids, versions and idempotency keys stay the same, and what waits is delivered by the other installation.

Example:
  innbound brand export lisbon-grand lisbon.innbound
  innbound brand export lisbon-grand lisbon.innbound --apply --passphrase-file /run/secrets/passphrase`)
    .inRuntime(async (runtime, name: string, file: string, options: Options) => {
      if (!options.apply) {
        const preview = await previewExport(runtime, name);
        return print(options, preview, { next: 'Add --apply to export. The brand then no longer runs here.' });
      }
      const passphrase = await readPassphrase(options);
      if (passphrase === undefined) throw new InnboundError('store.passphrase', 'The file holds secrets.');
      const progress = rowProgress();
      const onTable = (table: string, done: number, total: number) => progress.show(done, total, `read, ${table}`);
      const exported = await exportBrand(runtime, name, file, { by: commandLineUser(), passphrase, onTable });
      progress.end();
      await audited(runtime, 'brand.export', { integration: name, target: { records: exported.records } });
      print(options, { ...exported, file }, { next: 'It no longer runs here; import it in the other installation.' });
    });
  group
    .subcommand('import <file>', 'add a brand that another installation exported; stop every node first')
    .option(...passphraseOption)
    .option(
      '--secret-here <names...>',
      'secrets of this installation that the brand may use, where its file has another value',
      [],
    )
    .option('--apply', 'import; without it, only show what would be imported')
    .notes(`
The documents in the file are checked as an edit through the API is: they cannot refer to environment variables or files, or write into a
folder outside the workspace. The preview shows every address that the brand will speak to.

Example:
  innbound brand import lisbon.innbound --passphrase-file /run/secrets/passphrase
  innbound brand import lisbon.innbound --apply --passphrase-file /run/secrets/passphrase`)
    .inRuntime(async (runtime, file: string, options: Options) => {
      const passphrase = await readPassphrase(options);
      const { apply = false, secretHere: secretsHere } = options;
      const { brand, refused: _, ...imported } = await importBrand(runtime, file, { passphrase, apply, secretsHere });
      const files = apply ? await writeMissingFiles(runtime) : [];
      if (apply) await audited(runtime, 'brand.import', { integration: brand, target: { records: imported.records } });
      const next = apply ? 'Start the nodes.' : 'Add --apply to import.';
      print(options, { integration: brand, ...imported, files, imported: apply }, { next });
    });
}
