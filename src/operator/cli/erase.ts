import { deliverPorts } from '../../composition/deliver.ts';
import { drainOnce } from '../../core/deliver/deliveries.ts';
import { privacyRoutes } from '../api/routes/privacy.ts';
import { type ErasureReceipt, noteConfirmations } from '../store/erasure/erasures.ts';
import { liveNodes } from '../store/nodes.ts';
import { call } from './call.ts';
import type { Command, CommonOptions } from './command.ts';
import { type GuestOptions, guestOptions, readGuest } from './input.ts';
import { say } from './io.ts';
import { print } from './print.ts';

interface Options extends CommonOptions, GuestOptions {
  readonly proof?: boolean;
  readonly dryRun?: boolean;
}

export function define(command: Command): void {
  guestOptions(command)
    .option('--dry-run', 'erase nothing: list what would be removed')
    .option('--proof', 'erase nothing: show the receipts of earlier erasures with the same keys')
    .notes(`
Removes the guest from records, their versions, raw payloads, events, dead letters and queued deliveries; reservations stay,
without the guest. Destinations are notified. A keyed hash is kept, so that the next poll does not bring the guest back. The
receipt lists what was removed where and contains no guest data.

Example:
  innbound erase --email guest@example.com
  innbound erase --email guest@example.com --dry-run
  printf %s "$ADDRESS" | innbound erase --email -
  innbound erase --email guest@example.com --proof`)
    .inRuntime(async (runtime, options: Options) => {
      const body = await readGuest(options);
      if (options.dryRun) return print(options, await call(runtime, privacyRoutes, 'privacy.preview', { body }));
      if (options.proof) {
        const { items } = await call<{ items: ErasureReceipt[] }>(runtime, privacyRoutes, 'privacy.find', { body });
        if (options.json) return print(options, { items });
        if (items.length === 0) say('There is no erasure with these keys.');
        for (const receipt of items) showReceipt(options, receipt);
        return;
      }
      const { erasure_id } = await call<ErasureReceipt>(runtime, privacyRoutes, 'privacy.erase', { body });
      // Without a running service, notify the destinations here.
      if ((await liveNodes(runtime.pool)).length === 0) await drainOnce(await deliverPorts(runtime));
      await noteConfirmations(runtime.pool);
      showReceipt(options, await call(runtime, privacyRoutes, 'privacy.get', { params: { erasure_id } }));
    });
}

function showReceipt(options: Options, receipt: ErasureReceipt): void {
  print(options, receipt);
  if (receipt.state === 'stopped' || receipt.state === 'interrupted') {
    say('Some data of the guest may still be stored: erase the guest again.');
  }
  for (const { destination, integration, dropped, not_notified, given_up } of receipt.notified) {
    if (dropped + not_notified + given_up === 0) continue;
    say(`${destination} may still hold the guest of ${integration}: erase the guest there by hand.`);
  }
}
