import { InnboundError } from '../errors.ts';
import { exportGuest } from '../operations/export-guest.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { type GuestOptions, readGuest } from './input.ts';
import { show } from './io.ts';

export function define(command: Command): void {
  command
    .common()
    .option('--email <address>', 'the guest’s e-mail address; - reads it from standard input')
    .option('--phone <number>', 'the guest’s phone number, in international format; - reads it from standard input')
    .option('--guest-id <id>', 'the partner’s id of the guest; needs --integration')
    .option('-i, --integration <name>', 'only in this integration')
    .notes(`
Prints the guest's records with all versions, the parts of received payloads that name the guest, and the destinations that received
the records. Other guests of the same bookings are left out. The audit log records the request, without the address.

Example:
  innbound export --email guest@example.com > guest.json`)
    .inRuntime(async (runtime, options: CommonOptions & GuestOptions) => {
      const copy = await exportGuest(runtime, await readGuest(options));
      if (copy.kind === 'invalid') throw new InnboundError('operate.usage', copy.message);
      await audited(runtime, 'privacy.export', { integration: options.integration });
      show(JSON.stringify(copy.export, null, options.json ? undefined : 2));
    });
}
