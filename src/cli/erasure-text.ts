import type { ErasureReceipt } from '../operations/erase-guest.ts';
import type { Notified } from '../store/erasure/erasures.ts';

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
