import type { ListName } from '../canonical/fields.ts';
import { withoutMentions } from '../canonical/mentions.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { statedGuest } from '../canonical/stated-guest.ts';
import { matchItems } from './match-items.ts';
import { extraPrefix, type SaidItem, type Says, type Source, type Values, valuesOf } from './says.ts';
import type { SoleView, StoredViews } from './stored-views.ts';
import { identityOf, type View, type ViewItem, type ViewList } from './view.ts';

/**
 * The views without guests who must not be kept: those whom `isErased` names, and those who are the same person as one of them in
 * `record`, under whatever address another source knows them. Their places stay. `extra` goes where the record's had to go, and so do
 * texts that name one of the guests in `named`.
 */
export function viewsWithout(
  stored: StoredViews,
  record: Reservation,
  isErased: (guest: Guest) => boolean,
  named: readonly Guest[],
  keepsExtra: boolean,
): StoredViews {
  const identities = record.guests.map((guest) => identityOf({ values: valuesOf(guest, undefined) }));
  const { aside, consent: _, ...views } = stored;
  const left: { [Name in Source]?: View | SoleView } = {};
  for (const [source, view] of Object.entries(views) as [Source, View | SoleView][]) {
    if (!('values' in view)) {
      // The record shows which guests are left; fields that were stated to be empty for the others no longer matter.
      const none = view.none?.filter((path) => !path.startsWith('guests.'));
      left[source] = none === undefined ? view : { ...view, none };
      continue;
    }
    const { guests } = view.lists;
    const places = matchItems('guests', identities, guests?.items.map(identityOf) ?? []);
    const isGone = ({ values, as }: ViewItem, index: number): boolean => {
      const same = record.guests[places[index] ?? -1];
      return [statedGuest(values), as && statedGuest(as), same].some((one) => one !== undefined && isErased(one));
    };
    const items = guests?.items.map((item, index) => (isGone(item, index) ? { values: {} } : item));
    const lists: { [Name in ListName]?: ViewList } = {};
    for (const name of ['rooms', 'charges'] as const) {
      const list = view.lists[name];
      const texts = list?.items.map((item) => ({ ...item, values: withoutMentions(item.values, named) }));
      if (list !== undefined && texts !== undefined) lists[name] = { ...list, items: texts };
    }
    if (guests !== undefined && items !== undefined) lists.guests = { ...guests, items };
    const values = withoutMentions(view.values, named);
    left[source] = { ...view, values: keepsExtra ? values : withoutExtra(values), lists };
  }
  return aside === undefined
    ? left
    : { ...left, aside: aside.map((one) => ({ ...one, says: saysWithout(one.says, isErased, named) })) };
}

/** What was set aside, without the guests and without texts that name them. */
function saysWithout(says: Says, isErased: (guest: Guest) => boolean, named: readonly Guest[]): Says {
  const isGone = ({ values, as }: SaidItem) =>
    [statedGuest(values), as && statedGuest(as)].some((one) => one && isErased(one));
  const { guests, rooms, charges } = says.lists;
  const texts = (items: readonly SaidItem[]) =>
    items.map((item) => ({ ...item, values: withoutMentions(item.values, named) }));
  return {
    ...says,
    values: withoutExtra(withoutMentions(says.values, named)),
    lists: {
      ...(guests && { guests: guests.map((item) => (isGone(item) ? { values: {} } : item)) }),
      ...(rooms && { rooms: texts(rooms) }),
      ...(charges && { charges: texts(charges) }),
    },
  };
}

const withoutExtra = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([field]) => !field.startsWith(extraPrefix)));
