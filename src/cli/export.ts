import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { InnboundError } from '../errors.ts';
import { exportGuest } from '../operations/export-guest.ts';
import { writeAudit } from '../store/operate/audit.ts';
import { type CommonOptions, common, show, withRuntime } from './command.ts';

interface Options extends CommonOptions {
  readonly email?: string;
  readonly phone?: string;
  readonly guestId?: string;
  readonly integration?: string;
}

export function registerExport(program: Command): void {
  common(program.command('export'))
    .description('print everything held on a guest as JSON, for an access request')
    .option('--email <address>', 'the guest’s e-mail address')
    .option('--phone <number>', 'the guest’s phone number, in international format')
    .option('--guest-id <id>', 'the partner’s id of the guest; needs --integration')
    .option('-i, --integration <name>', 'only in this integration')
    .addHelpText(
      'after',
      `
Prints the guest's records with all versions, the parts of received payloads that name the guest, and the destinations that received
the records. Other guests of the same bookings are left out. The audit log records the request, without the address.

Example:
  innbound export --email guest@example.com > guest.json`,
    )
    .action((options: Options) =>
      withRuntime(options, 'export', async (runtime) => {
        const { email, phone, guestId, integration } = options;
        const found = await exportGuest(runtime, {
          ...(email !== undefined && { email }),
          ...(phone !== undefined && { phone }),
          ...(guestId !== undefined && { guest_id: guestId }),
          ...(integration !== undefined && { integration }),
        });
        if (found.kind === 'invalid') throw new InnboundError('operate.usage', found.message);
        const actor = `${userInfo().username} (command line)`;
        await writeAudit(runtime.pool, { actor, action: 'privacy.export', integration });
        show(JSON.stringify(found.export, null, options.json ? undefined : 2));
      }),
    );
}
