import type { ErrorCode } from '../../errors.ts';
import type { ChangeEvent } from '../../terms.ts';
import type { Guest } from '../canonical/reservation.ts';
import { isTestGuest } from '../persons/test-data.ts';
import {
  ConsentHistory,
  guestsOf,
  onlyConsenting,
  onlyWithdrawals,
  withConsent,
  withKnownAddress,
  withoutOutdated,
} from './consent.ts';
import { isKnownByBookings, isSettledElsewhere, knownAs, nobodyElse, staysFor } from './mentions.ts';
import { type Compared, dataOf, keyInEpoch, type Message, type MessageData } from './message.ts';
import type { Claimed, Lane, Selection } from './ports.ts';

export type Selected =
  | {
      readonly kind: 'send';
      readonly message: Message;
      /** What the destination has afterwards, if not the record. */
      readonly leaves?: Leaves;
      readonly onlyWithdrawals?: boolean;
      /** Absent where versions and consent are not compared. */
      readonly compared?: Compared;
    }
  | { readonly kind: 'skip'; readonly code: string; readonly message: string }
  | { readonly kind: 'dead'; readonly code: ErrorCode; readonly message: string };

/** After `removed` and `withdrawn` the destination no longer has the record; `erased` does not change whether it has it. */
export type Leaves = 'removed' | 'withdrawn' | 'erased';

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
  const { deliveredDataTexts, deliveredVersion, droppedDataTexts = [] } = claimed;
  const { isOutdated, isAgreed, isShared, isOwner, mentions } = claimed.persons ?? nobodyElse;
  const wasSent = claimed.interrupted || claimed.triesUsed > 0 || droppedDataTexts.length > 0;
  const mayKnow = deliveredVersion > 0 || wasSent;
  const mayHave = (deliveredVersion > 0 && !claimed.isRemoved) || wasSent;
  // The guests of a confirmed erasure are forgotten. A destination with this version, or with none, gets it as an ordinary version.
  const hadOlder = deliveredVersion > 0 ? deliveredVersion < claimed.version : droppedDataTexts.length > 0;
  const isPast = change.erased === undefined && !hadOlder;
  const event = change.event === 'erased' && isPast ? eventOf(change.record()) : change.event;
  const history = new ConsentHistory(type, deliveredDataTexts, deliveredVersion, droppedDataTexts);
  const stored = dataOf(type, id, change.record());
  const data = type === 'guest' ? withKnownAddress(stored, history) : stored;
  const isTest = (guest: Guest) => selection.leavesOutTests === true && isTestGuest(guest);
  const isUnsaid = (guest: Guest) => isOutdated(guest) || (guest.marketing_consent === true && isTest(guest));
  const isTestRecord = guestsOf(type, data).length > 0 && guestsOf(type, data).every(isTest);
  const agreed = selection.consent === undefined || isTestRecord ? data : withoutOutdated(data, isUnsaid);
  const send = (part: MessageData): Selected & { kind: 'send' } => ({
    kind: 'send',
    message: {
      type,
      integration: lane.integration,
      brand_id: lane.brandId,
      event,
      ...(epoch > 1 && { epoch }),
      version: claimed.version,
      // After its removal, a resend of the same version is not a repetition.
      idempotency_key: `${keyInEpoch(change.idempotencyKey, epoch)}${claimed.isRemoved && claimed.version === deliveredVersion ? '-back' : ''}`,
      data: part,
    },
    ...(needsDelivered(selection) && {
      compared: {
        isShared,
        isOwner,
        knownAs: (guest, isMoving) =>
          knownAs(lane, isMoving ? [] : history.all(guest), mentions(guest), isAgreed).flatMap((one) =>
            guestsOf(type, selection.fields(type, type === 'guest' ? { id, ...one } : { id, guests: [one] })),
          ),
        isKnown: () => type === 'guest' && !mayKnow && isKnownByBookings(lane, data, mentions(data)),
        consentChange: (guest) => {
          const change = isOutdated(guest) ? undefined : history.change(guest);
          const isFirst = history.lastStated(guest) === undefined;
          return change !== 'withdrawn' && isSettledElsewhere(lane, claimed, guest, mentions(guest), isFirst)
            ? undefined
            : change;
        },
        // Cut like the message: comparing must neither see nor reveal what the destination did not get.
        earlier: () =>
          history.versions.map((version) =>
            selection.fields(type, selection.consent === undefined ? version : onlyConsenting(type, version)),
          ),
        stays: (guest) => staysFor(lane, mentions(guest), type === 'reservation' ? data : undefined),
      },
    }),
  });
  /** A record that the destination has must leave it: nothing of the version is sent but that. */
  const leave = (code: string, message: string, withdrawn: MessageData = { id }): Selected => {
    if (!mayHave) return skip(code, message);
    const last = send(withdrawn);
    const key = change.event === 'removed' ? last.message.idempotency_key : `${last.message.idempotency_key}-removed`;
    return {
      ...last,
      leaves: 'removed',
      message: { ...last.message, event: 'removed', removed: true, idempotency_key: key },
    };
  };
  if (change.event === 'removed') return leave('removed', 'A rule drops the record.');
  if (lane.isLeaving || claimed.isLeaving)
    return leave('brand_left', 'The brand no longer delivers to the destination.');
  if (!selection.receives.includes(type)) return leave('not_received', `The destination does not receive a ${type}.`);
  if (event === 'erased') {
    if (selection.consent === undefined) return { ...send(selection.fields(type, data)), leaves: 'erased' };
    if (mayKnow) return { ...send(selection.fields(type, onlyConsenting(type, agreed))), leaves: 'erased' };
    return skip('no_consent', 'The destination never had this record.');
  }
  const consent =
    selection.consent === undefined ? ({ kind: 'all', data } as const) : withConsent(type, agreed, history, isAgreed);
  if (consent.kind === 'withdrawn') {
    return { ...send(stillWithdrawn(consent.data, selection.fields(type, consent.data))), leaves: 'withdrawn' };
  }
  if (consent.kind === 'none') {
    const reason = 'No guest of the record has given marketing consent.';
    // Of a person whose consent is unknown nothing is said, not even that.
    return type === 'guest' ? skip('no_consent', reason) : leave('no_consent', reason);
  }
  const matches = !isTestRecord && (selection.filter?.(type, data) ?? true);
  if (typeof matches === 'object') return { kind: 'dead', code: 'deliver.filter_failed', message: matches.message };
  if (!matches) {
    // A withdrawal is sent whatever the filter says: the destination holds the guest.
    const withdrawn = needsDelivered(selection) ? onlyWithdrawals(type, agreed, history, isAgreed) : undefined;
    const code = isTestRecord ? 'test_data' : 'filtered';
    const reason = isTestRecord ? isTestData : 'The filter of the destination does not match.';
    if (withdrawn === undefined) return leave(code, reason);
    if (selection.comparesConsent) {
      const told = stillWithdrawn(withdrawn, selection.fields(type, withdrawn));
      const last = leave(code, reason, told);
      return { ...(last.kind === 'send' ? last : send(told)), onlyWithdrawals: true };
    }
    // A destination that keeps whole records would lose the guests who still agree, so it gets the record.
  }
  const chosen = selection.fields(type, consent.data);
  return send(selection.consent === undefined ? chosen : stillWithdrawn(consent.data, chosen));
}

const isTestData =
  'All guests are obvious test data: by their name, address or number. Set test_data: true to send them to this destination.';

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
