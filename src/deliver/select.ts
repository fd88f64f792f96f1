import type { Guest } from '../canonical/reservation.ts';
import type { ErrorCode } from '../errors.ts';
import type { ChangeEvent, EntityType } from '../terms.ts';
import {
  ConsentHistory,
  onlyConsenting,
  onlyWithdrawals,
  withConsent,
  withKnownAddress,
  withoutOutdated,
} from './consent.ts';
import { type ConsentChange, dataOf, keyInEpoch, type Message, type MessageData } from './message.ts';
import type { Claimed, Lane } from './ports.ts';

/** Which part of which changes a destination gets. */
export interface Selection {
  readonly receives: readonly EntityType[];
  readonly filter?: (type: EntityType, data: MessageData) => FilterAnswer;
  readonly consent?: 'marketing';
  /** The destination needs to know what changed in a guest's consent, with or without `consent: marketing`. */
  readonly comparesConsent?: boolean;
  readonly fields: (type: EntityType, data: MessageData) => MessageData;
}

type FilterAnswer =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no' }
  /** The message holds no values of the record. */
  | { readonly kind: 'failed'; readonly message: string };

export type Selected =
  | {
      readonly kind: 'send';
      readonly message: Message;
      readonly onlyWithdrawals?: boolean;
      /** Absent where consent is not compared. */
      readonly consentChange?: (guest: Guest) => ConsentChange | undefined;
      readonly isShared?: (address: string) => boolean;
      readonly earlier?: () => readonly MessageData[];
    }
  | { readonly kind: 'skip'; readonly code: string; readonly message: string }
  | { readonly kind: 'dead'; readonly code: ErrorCode; readonly message: string };

/**
 * True if a claim must also read the versions delivered before, and the profiles: order holds per record, and a reservation that says yes
 * may be older than a no that the profile has from elsewhere.
 */
export const needsDelivered = ({ consent, comparesConsent }: Selection): boolean =>
  consent !== undefined || comparesConsent === true;

/** Decides what this destination gets of a claimed version. */
export function select(lane: Lane, claimed: Claimed, epoch = 1): Selected {
  const { selection } = lane.destination;
  const { change, type, id } = claimed;
  if (change === undefined) return skip('version_gone', 'The version is no longer stored.');
  if (!selection.receives.includes(type)) return skip('not_received', `The destination does not receive a ${type}.`);
  const { deliveredDataTexts, deliveredVersion, droppedDataTexts = [] } = claimed;
  const { isOutdated = () => false, isAgreed = () => false, isShared = () => false } = claimed.persons ?? {};
  const wasSent = claimed.interrupted || claimed.triesUsed > 0 || droppedDataTexts.length > 0;
  const mayKnow = deliveredVersion > 0 || wasSent;
  // The guests of a confirmed erasure are forgotten. A destination with this version, or with none, gets it as an ordinary version.
  const hadOlder = deliveredVersion > 0 ? deliveredVersion < claimed.version : droppedDataTexts.length > 0;
  const isPast = change.erased === undefined && !hadOlder;
  const event = change.event === 'erased' && isPast ? eventOf(change.record()) : change.event;
  const history = new ConsentHistory(type, deliveredDataTexts, deliveredVersion, droppedDataTexts);
  const stored = dataOf(type, id, change.record());
  const data = type === 'guest' ? withKnownAddress(stored, history) : stored;
  const agreed = selection.consent === undefined ? data : withoutOutdated(data, isOutdated);
  const send = (part: MessageData): Selected & { kind: 'send' } => ({
    kind: 'send',
    message: {
      type,
      integration: lane.integration,
      brand_id: lane.brandId,
      event,
      ...(epoch > 1 && { epoch }),
      version: claimed.version,
      idempotency_key: keyInEpoch(change.idempotencyKey, epoch),
      data: part,
    },
    ...(needsDelivered(selection) && {
      isShared,
      consentChange: (guest: Guest) => (isOutdated(guest) ? undefined : history.change(guest)),
      // Cut like the message: comparing must neither see nor reveal what the destination did not get.
      earlier: () =>
        history.versions.map((version) =>
          selection.fields(type, selection.consent === undefined ? version : onlyConsenting(type, version)),
        ),
    }),
  });
  if (event === 'erased') {
    if (selection.consent === undefined) return send(selection.fields(type, data));
    if (mayKnow) return send(selection.fields(type, onlyConsenting(type, agreed)));
    return skip('no_consent', 'The destination never had this record.');
  }
  const consent =
    selection.consent === undefined ? ({ kind: 'all', data } as const) : withConsent(type, agreed, history, isAgreed);
  if (consent.kind === 'withdrawn') return send(stillWithdrawn(consent.data, selection.fields(type, consent.data)));
  if (consent.kind === 'none') return skip('no_consent', 'No guest of the record has given marketing consent.');
  const answer = selection.filter?.(type, data) ?? { kind: 'yes' };
  if (answer.kind === 'failed') return { kind: 'dead', code: 'deliver.filter_failed', message: answer.message };
  if (answer.kind === 'no') {
    // A withdrawal is sent whatever the filter says: the destination holds the guest.
    const withdrawn = needsDelivered(selection) ? onlyWithdrawals(type, agreed, history, isAgreed) : undefined;
    if (withdrawn === undefined) return skip('filtered', 'The filter of the destination does not match.');
    if (selection.comparesConsent) {
      return { ...send(stillWithdrawn(withdrawn, selection.fields(type, withdrawn))), onlyWithdrawals: true };
    }
    // A destination that keeps whole records would lose the guests who still agree, so it gets the record.
  }
  const chosen = selection.fields(type, consent.data);
  return send(selection.consent === undefined ? chosen : stillWithdrawn(consent.data, chosen));
}

const eventOf = (record: object): ChangeEvent =>
  'status' in record && record.status === 'cancelled' ? 'cancelled' : 'updated';

/** Whatever fields are dropped, a guest who withdrew stays marked. */
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
