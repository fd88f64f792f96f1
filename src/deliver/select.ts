import { decodeRecord } from '../canonical/encode.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { ErrorCode } from '../errors.ts';
import type { EntityType } from '../terms.ts';
import { onlyConsenting, withConsent } from './consent.ts';
import type { Message, MessageData } from './message.ts';
import type { Claimed, Lane } from './ports.ts';

/** What of all changes a destination is given. */
export interface Selection {
  readonly receives: readonly EntityType[];
  readonly filter?: (type: EntityType, data: MessageData) => FilterAnswer;
  readonly consent?: 'marketing';
  readonly fields: (type: EntityType, data: MessageData) => MessageData;
}

type FilterAnswer =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no' }
  /** Without values of the record. */
  | { readonly kind: 'failed'; readonly message: string };

export type Selected =
  | { readonly kind: 'send'; readonly message: Message }
  | { readonly kind: 'skip'; readonly code: string; readonly message: string }
  | { readonly kind: 'dead'; readonly code: ErrorCode; readonly message: string };

/** Decides what this destination is told about a claimed version. */
export function select(lane: Lane, claimed: Claimed): Selected {
  const { selection } = lane.destination;
  const { change, type, id } = claimed;
  if (change === undefined) return skip('version_gone', 'The version is no longer kept.');
  if (!selection.receives.includes(type)) return skip('not_received', `The destination does not receive a ${type}.`);
  const data = dataOf(type, id, change.record());
  const send = (told: MessageData): Selected => ({
    kind: 'send',
    message: {
      type,
      integration: lane.integration,
      brand_id: lane.brandId,
      event: change.event,
      version: claimed.version,
      idempotency_key: change.idempotencyKey,
      data: told,
    },
  });
  const mayKnow = claimed.deliveredVersion > 0 || claimed.interrupted || claimed.triesUsed > 0;
  if (change.event === 'erased') {
    if (selection.consent === undefined) return send(selection.fields(type, data));
    if (mayKnow) return send(selection.fields(type, onlyConsenting(type, data)));
    return skip('no_consent', 'The destination never had this record.');
  }
  const consent =
    selection.consent === undefined
      ? ({ kind: 'all', data } as const)
      : withConsent(type, data, decodeGiven(type, id, claimed.deliveredDataText));
  // A withdrawal is told whatever the filter says: the destination holds the guest.
  if (consent.kind === 'withdrawn') return send(stillWithdrawn(consent.data, selection.fields(type, consent.data)));
  if (consent.kind === 'none') return skip('no_consent', 'No guest of the record has given marketing consent.');
  const answer = selection.filter?.(type, data) ?? { kind: 'yes' };
  if (answer.kind === 'failed') return { kind: 'dead', code: 'deliver.filter_failed', message: answer.message };
  if (answer.kind === 'no') return skip('filtered', 'The filter of the destination does not match.');
  const chosen = selection.fields(type, consent.data);
  return send(selection.consent === undefined ? chosen : stillWithdrawn(consent.data, chosen));
}

/** Whatever fields are left out, a guest who withdrew is marked as one. */
function stillWithdrawn(whole: MessageData, chosen: MessageData): MessageData {
  if (whole.guests === undefined) {
    return whole.marketing_consent === false ? { ...chosen, marketing_consent: false } : chosen;
  }
  if (chosen.guests === undefined || whole.guests.every((guest) => guest.marketing_consent !== false)) return chosen;
  const guests = chosen.guests.map((guest, i) =>
    whole.guests?.[i]?.marketing_consent === false ? { ...guest, marketing_consent: false } : guest,
  );
  return { ...chosen, guests };
}

const skip = (code: string, message: string): Selected => ({ kind: 'skip', code, message });

function dataOf(type: EntityType, id: string, record: Reservation | Guest): MessageData {
  return (type === 'guest' ? { id, ...record } : { ...record, id }) as MessageData;
}

function decodeGiven(type: EntityType, id: string, text: string | undefined): MessageData | undefined {
  return text === undefined ? undefined : dataOf(type, id, decodeRecord(type, text));
}
