import { privacyRoutes } from '../api/routes/privacy.ts';
import { call } from './call.ts';
import type { Command, CommonOptions } from './command.ts';
import { type GuestOptions, guestOptions, readGuest } from './input.ts';
import { show } from './io.ts';

export function define(command: Command): void {
  guestOptions(command)
    .notes(`
Prints the guest's records with all versions, the parts of received payloads that name the guest, and the destinations that received
the records. Other guests of the same bookings are left out. The audit log records the request, without the address.

Example:
  innbound export --email guest@example.com > guest.json`)
    .inRuntime(async (runtime, options: CommonOptions & GuestOptions) => {
      const copy = await call(runtime, privacyRoutes, 'privacy.export', { body: await readGuest(options) });
      show(JSON.stringify(copy, null, options.json ? undefined : 2));
    });
}
