import type { EntityType } from '../../terms.ts';
import type { Guest } from '../canonical/reservation.ts';
import { hasAddress } from '../persons/identifiers.ts';
import { dataOf, type MessageData, type StayOfBrand } from './message.ts';
import type { ClaimedPersons, Lane, PersonMention } from './ports.ts';

/** What the other records of a person mean for the version that is sent. */

export const nobodyElse: ClaimedPersons = {
  isOutdated: () => false,
  isShared: () => false,
  isOwner: () => false,
  isAgreed: () => false,
  mentions: () => [],
};

/**
 * Whether a yes changes nothing at the destination, or must not. Somebody whom it knows as agreed by another record is not subscribed once more:
 * they may have unsubscribed there since. And where brands share one contact, the yes to one does not overturn the no to another.
 */
export function isSettledElsewhere(
  { integration }: Lane,
  own: { readonly type: EntityType; readonly id: string },
  { email, phone }: Guest,
  mentions: readonly PersonMention[],
  isFirst: boolean,
): boolean {
  const address = email ?? phone;
  const others = mentions.filter(
    (one) => one.integration !== integration || one.type !== own.type || one.id !== own.id,
  );
  const no = others.filter(({ guest }) => guest?.marketing_consent === false);
  if (no.some((one) => one.integration !== integration && one.isDelivered)) return true;
  // Withdrawn since an earlier yes: this one subscribes again.
  if (!isFirst || no.length > 0 || address === undefined) return false;
  return others.some(
    ({ isDelivered, guest }) => isDelivered && guest?.marketing_consent === true && hasAddress(guest, address),
  );
}

/** The contacts of a guest whom a withdrawal must reach: consent belongs to a brand, and a record that says no has told it. */
export function knownAs(
  { integration, destination: { selection } }: Lane,
  earlier: readonly Guest[],
  mentions: readonly PersonMention[],
  isAgreed: (address: string) => boolean,
): readonly Guest[] {
  const others = mentions.flatMap((one) =>
    one.integration === integration && one.isDelivered && one.guest ? [one.guest] : [],
  );
  const has = ({ marketing_consent: agrees }: Guest) => (selection.consent === undefined ? agrees !== false : agrees);
  const isAnothers = ({ email, phone }: Guest) =>
    [email, phone].some((address) => address !== undefined && isAgreed(address));
  return [...earlier, ...others].filter((one) => has(one) && !isAnothers(one));
}

/**
 * Whether a destination has got a profile by the bookings of its guest: all that it has name the guest in the same words, and one of them is
 * up to date there. A first send then makes one request for a guest, not two.
 */
export function isKnownByBookings(
  { integration }: Lane,
  { id, ...profile }: MessageData,
  mentions: readonly PersonMention[],
): boolean {
  const has = mentions.filter((one) => one.isDelivered && one.id !== id);
  const isSaid = ({ guest }: PersonMention) => guest !== undefined && isDeepEqual(guest, profile);
  return has.every(isSaid) && has.some((one) => one.isCurrent && one.integration === integration);
}

const isDeepEqual = (a: object, b: object): boolean => inOrder(a) === inOrder(b);
const inOrder = (value: object): string => JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

/**
 * The stays of a person, cut as the destination would get them. Consent belongs to a brand: under `consent: marketing` the stays of another
 * brand count only where the person agreed there.
 */
export function staysFor(
  { integration, destination: { selection } }: Lane,
  mentions: readonly PersonMention[],
  own: MessageData | undefined,
): StayOfBrand[] {
  const isWanted = ({ integration: brand, guest }: PersonMention) =>
    brand === integration || selection.consent === undefined || guest?.marketing_consent === true;
  const isOwn = ({ integration: brand, stay }: PersonMention) => brand === integration && stay?.id === own?.id;
  // The version says when it was cancelled only if the partner does.
  const cancelled_at = own?.status === 'cancelled' ? mentions.find(isOwn)?.stay?.cancelled_at : undefined;
  const others = mentions.flatMap((mention) => {
    const { integration: brand, stay } = mention;
    return stay === undefined || isOwn(mention) || !isWanted(mention)
      ? []
      : [{ brand, data: dataOf('reservation', stay.id, stay) }];
  });
  return [...(own ? [{ brand: integration, data: { ...(cancelled_at && { cancelled_at }), ...own } }] : []), ...others]
    .filter(({ data }) => (selection.filter?.('reservation', data) ?? true) === true)
    .map(({ brand, data }) => ({ ...selection.fields('reservation', data), brand }));
}
