import { consentSince } from './consent-run.ts';
import { difference } from './difference.ts';
import type { Message } from './incoming.ts';
import { type Merged, merge, type Views } from './merge.ts';
import { isNewer, listNames, type Moment } from './statement.ts';
import { accept, type View } from './view.ts';

export interface MergedMessage extends Merged {
  /** What each source states, including the message. */
  readonly views: Views;
  /** A newer statement overrules a field of the message. */
  readonly isOverruled: boolean;
}

/** Merges one message into the views of its reservation. */
export function mergeMessage(known: Views, message: Message, moment: Moment): MergedMessage {
  const { source, manner } = message;
  const statement = message.says();
  const views: Views = { ...known, [source]: accept(known[source], statement, moment, manner) };
  const merged = merge(views);
  const isSame = (others: Views) => difference(merge(others).draft, merged.draft).length === 0;
  const isNewest = Object.values(known).every((view) => view === undefined || !isNewer(view.moment, moment));
  const isOverruled = !isNewest && !isSame({ ...known, [source]: accept(known[source], statement, endOfTime, manner) });
  return { ...merged, views, isOverruled };
}

const endOfTime: Moment = [Number.MAX_SAFE_INTEGER, 0];

/** The same statements with a later time. A consent that is only repeated stays as old as it was. */
export function statedAt(view: View, moment: Moment): View {
  const lists = Object.fromEntries(
    listNames.flatMap((name) => {
      const list = view.lists[name];
      if (list?.at === undefined) return list === undefined ? [] : [[name, list]];
      const { at } = list;
      const items = list.items.map((item) => {
        const isConsent = (item.values.marketing_consent ?? null) !== null;
        return isConsent ? { ...item, run: { ...item.run, since: consentSince(item, at) } } : item;
      });
      return [[name, { at: moment, items }]];
    }),
  );
  return { ...view, moment, lists };
}
