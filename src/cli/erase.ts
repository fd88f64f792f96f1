import { deliverPorts } from '../composition/deliver.ts';
import { drainOnce } from '../deliver/deliveries.ts';
import { InnboundError } from '../errors.ts';
import {
  type ErasureReceipt,
  eraseGuest,
  findReceipts,
  previewErasure,
  readReceipt,
} from '../operations/erase-guest.ts';
import type { EraseRequest } from '../operations/guest-request.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Notified, noteConfirmations } from '../store/erasure/erasures.ts';
import { liveNodes } from '../store/operate/nodes.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { type GuestOptions, readGuest } from './input.ts';
import { printJson, say, show, table } from './io.ts';

interface Options extends CommonOptions, GuestOptions {
  readonly proof?: boolean;
  readonly dryRun?: boolean;
}

export function define(command: Command): void {
  command
    .common()
    .option(
      '--email <address>',
      'the guest’s e-mail address; - reads it from standard input, so that ps does not show it',
    )
    .option('--phone <number>', 'the guest’s phone number, in international format; - reads it from standard input')
    .option('--guest-id <id>', 'the partner’s id of the guest; needs --integration')
    .option('-i, --integration <name>', 'only in this integration')
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
      const { integration } = options;
      const whom = await readGuest(options);
      if (options.proof) return prove(runtime, whom, options.json ?? false);
      if (options.dryRun) return preview(runtime, whom, options.json ?? false);
      const erased = await eraseGuest(runtime, whom, commandLineUser());
      if (erased.kind === 'invalid') throw new InnboundError('operate.usage', erased.message);
      const { receipt } = erased;
      await audited(runtime, 'privacy.erase', { integration, target: { erasure_id: receipt.erasure_id } });
      // Without a running service, notify the destinations here.
      if ((await liveNodes(runtime.pool)).length === 0) await drainOnce(await deliverPorts(runtime));
      await noteConfirmations(runtime.pool);
      const now = (await readReceipt(runtime, receipt.erasure_id)) ?? receipt;
      if (options.json) return printJson(now);
      show(`${receiptText(now)}\n`);
      show(table(Object.entries(receipt.removed).map(([where, count]) => [where.replaceAll('_', ' '), String(count)])));
      for (const one of now.notified) say(notificationText(one));
    });
}

async function preview(runtime: Runtime, whom: EraseRequest, json: boolean): Promise<void> {
  const effect = await previewErasure(runtime, whom);
  if (effect.kind === 'invalid') throw new InnboundError('operate.usage', effect.message);
  const { removed, records, notified } = effect.preview;
  if (json) return printJson(effect.preview);
  show('An erasure would remove:\n');
  show(table(Object.entries(removed).map(([where, count]) => [where.replaceAll('_', ' '), String(count)])));
  for (const { integration, type, id } of records) show(`  ${type} ${id} of ${integration}`);
  for (const { destination, records, not_notified, integration } of notified) {
    if (records > 0) show(`${destination} would be notified of ${records} of ${integration}.`);
    if (not_notified > 0)
      show(
        `${destination} has ${not_notified} of ${integration} and would not be notified: it no longer receives them.`,
      );
  }
}

async function prove(runtime: Runtime, whom: EraseRequest, json: boolean): Promise<void> {
  const proof = await findReceipts(runtime, whom);
  if (proof.kind === 'invalid') throw new InnboundError('operate.usage', proof.message);
  if (json) return proof.receipts.forEach(printJson);
  if (proof.receipts.length === 0) return show('There is no erasure with these keys.\n');
  for (const receipt of proof.receipts) {
    show(receiptText(receipt));
    for (const one of receipt.notified) show(`  ${notificationText(one)}`);
    show('');
  }
}

type ReceiptFacts = Pick<
  ErasureReceipt,
  'erasure_id' | 'state' | 'requested_at' | 'requested_by' | 'completed_at' | 'stopped_by' | 'removed' | 'notified'
>;

/** What a receipt proves, in a sentence. Only an erasure that searched everything is called complete. */
export function receiptText(receipt: ReceiptFacts): string {
  const asked = `requested ${receipt.requested_at.toISOString()} by ${receipt.requested_by}, receipt ${receipt.erasure_id}`;
  return `${outcomeOf(receipt)} (${asked})`;
}

function outcomeOf({ state, completed_at: completedAt, stopped_by: by, removed, notified }: ReceiptFacts): string {
  const rest = 'Some data of the guest may still be stored: erase the guest again.';
  if (state === 'stopped') return `Not completed: stopped by ${by}. ${rest}`;
  if (state === 'interrupted') return `Not completed: the process ended. ${rest}`;
  if (completedAt === null) return 'The erasure is still running.';
  const isNothing = notified.length === 0 && Object.values(removed).every((count) => count === 0);
  const what = isNothing ? 'Nothing was stored about this guest.' : `Erased ${completedAt.toISOString()}.`;
  return state === 'notifying' ? `${what} Not all destinations have confirmed it.` : what;
}

export function notificationText(one: Notified): string {
  const {
    destination,
    records,
    confirmed,
    dropped,
    not_notified,
    given_up: givenUp,
    passed_over: passed,
    confirmed_at: confirmedAt,
  } = one;
  const counted = (count: number) => `${count} ${count === 1 ? 'record' : 'records'} of ${one.integration}`;
  const of = counted(records);
  const not = passed > 0 ? `, ${passed} of which it does not receive` : '';
  if (dropped > 0) {
    return `${destination} may still hold the guest: an operator dropped the notification for ${dropped} of ${of}. Erase the guest there by hand.`;
  }
  if (givenUp > 0) {
    return `${destination} may still hold the guest: it did not confirm ${givenUp} of ${of} in time. Erase the guest there by hand.`;
  }
  if (not_notified > 0) {
    return `${destination} may still hold the guest: it received ${counted(not_notified)} and is no longer delivered to. Erase the guest there by hand.`;
  }
  return confirmedAt === null
    ? `${destination} is being notified of ${of}: ${confirmed} confirmed so far${not}.`
    : `${destination} confirmed ${of}${not}, the last ${confirmedAt}.`;
}
