import { declareEpoch } from '../../core/store/db/epoch.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { print } from './print.ts';

export function define(command: Command): void {
  command
    .common()
    .notes(`
Every delivery carries an epoch that outranks its version. This command raises the epoch above all earlier ones, also if the same backup
was restored before. A service notices most restores by itself and raises it too; the command is for workspaces that were restored with
the database or are on a read-only disk, or to be sure. Send the current state afterwards:

  innbound restored
  innbound resend warehouse`)
    .inRuntime(async (runtime, options: CommonOptions) => {
      await declareEpoch(runtime.pool);
      await runtime.restoreCheck.check();
      const epoch = runtime.restoreCheck.epoch();
      await audited(runtime, 'store.restored', { target: { epoch } });
      // A running service reads the epoch together with its documents.
      runtime.wake.signal('documents');
      print(options, { epoch }, { next: 'Run `innbound resend DESTINATION` for each destination.' });
    });
}
