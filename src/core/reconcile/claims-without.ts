import type { ListName } from '../canonical/fields.ts';
import { withoutMentions } from '../canonical/mentions.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { statedGuest } from '../canonical/stated-guest.ts';
import { identityOf } from './account.ts';
import type { Account, Claim, Claims, Element, ElementList } from './claim.ts';
import {
  type Content,
  type ContentItem,
  extraPrefix,
  type Source,
  type Time,
  type Values,
  valuesOf,
} from './content.ts';
import { matchItems } from './match-items.ts';
import { isRecordClaim, readClaims, type StoredClaims, storedClaims } from './stored-claims.ts';

/**
 * The claims without guests who must not be kept: those whom `isErased` names, and those who are the same person as one of them in
 * `record`, under whatever address another source knows them. Their places stay. `extra` goes where the record's had to go, and so do
 * texts that name one of the guests in `named`.
 */
export function claimsWithout(
  stored: StoredClaims,
  record: Reservation,
  time: Time,
  isErased: (guest: Guest) => boolean,
  named: readonly Guest[],
  keepsExtra: boolean,
): StoredClaims | undefined {
  const identities = record.guests.map((guest) => identityOf({ values: valuesOf(guest, undefined) }));
  const clean = <Of extends ContentItem | Element>(guests: readonly Of[]): Of[] => {
    const places = matchItems('guests', identities, guests.map(identityOf));
    const isGone = ({ values, as }: ContentItem, index: number): boolean =>
      [statedGuest(values), as && statedGuest(as), record.guests[places[index] ?? -1]].some(
        (one) => one && isErased(one),
      );
    return guests.map((item, index) => (isGone(item, index) ? ({ values: {} } as Of) : item));
  };
  const texts = <Of extends { readonly values: Values }>(items: readonly Of[]): Of[] =>
    items.map((item) => ({ ...item, values: withoutMentions(item.values, named) }));
  const top = (values: Values) => {
    const left = withoutMentions(values, named);
    return keepsExtra ? left : withoutExtra(left);
  };
  const saysLeft = ({ values, lists: { guests, rooms, charges }, ...content }: Content): Content => ({
    ...content,
    values: top(values),
    lists: {
      ...(guests && { guests: clean(guests) }),
      ...(rooms && { rooms: texts(rooms) }),
      ...(charges && { charges: texts(charges) }),
    },
  });
  const accountLeft = ({ values, lists, ...account }: Account): Account => {
    const left: { [Name in ListName]?: ElementList } = {};
    if (lists.guests) left.guests = { ...lists.guests, items: clean(lists.guests.items) };
    for (const name of ['rooms', 'charges'] as const)
      if (lists[name]) left[name] = { ...lists[name], items: texts(lists[name].items) };
    return { ...account, values: top(values), lists: left };
  };
  const claims: { [Name in Source]?: readonly Claim[] } = {};
  for (const [source, log] of Object.entries(readClaims(stored, record, time) as Claims) as [
    Source,
    readonly Claim[],
  ][])
    claims[source] = log.map((claim) => ({
      ...claim,
      content: saysLeft(claim.content),
      ...(claim.base && { base: accountLeft(claim.base) }),
    }));
  const quarantine = stored.quarantine?.map((one) => ({ ...one, content: saysLeft(one.content) }));
  return storedClaims(claims, isRecordClaim(stored), quarantine);
}

const withoutExtra = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([field]) => !field.startsWith(extraPrefix)));
