import type { ListName } from '../../canonical/fields.ts';
import type { Message } from '../incoming.ts';
import { listNames, type Statement, type Values } from '../statement.ts';
import type { Hold } from './judge.ts';
import { partsOf } from './signs.ts';

/** Why a message, or some of its fields, must not change the stored record. */
export interface HeldBack {
  readonly holds: readonly Hold[];
  /** Canonical paths such as guests.email whose loss is ignored; empty if the whole message is held. */
  readonly paths: readonly string[];
}

/** A lost value holds back its field only; a value that jumped holds back the row. */
export function heldBack(holds: readonly Hold[]): HeldBack {
  const parts = holds.map(({ sign }) => partsOf(sign));
  const isPartial = parts.every(({ kind }) => kind === 'cleared');
  return { holds, paths: isPartial ? parts.flatMap(({ path }) => path ?? []) : [] };
}

/** The message without its silence about these paths: what the source said before stays in force, as for a value that cannot be read. */
export function withoutLosses(message: Message, paths: readonly string[]): Message {
  const statement = message.says();
  const unread = new Set(message.unread);
  const lists = { ...statement.lists };
  let values = statement.values;
  for (const path of paths) {
    const [list, field] = path.split(/\.(.*)/s);
    if (!isListName(list)) {
      unread.add(path);
      values = unlessNull(values, path);
    } else if (field === undefined) {
      unread.add(list);
      if (lists[list]?.length === 0) delete lists[list];
    } else {
      lists[list] = lists[list]?.map((item, i) => {
        unread.add(`${list}.${i}.${field}`);
        return { ...item, values: unlessNull(item.values, field) };
      });
    }
  }
  const says: Statement = { ...statement, values, lists, unread };
  // Neither the only source nor verbatim: the message must be merged, not taken as the whole record.
  return { ...message, unread, isOnlySource: false, isVerbatim: false, says: () => says };
}

const isListName = (name: string | undefined): name is ListName => listNames.some((one) => one === name);

function unlessNull(values: Values, field: string): Values {
  if (values[field] !== null) return values;
  const { [field]: _, ...others } = values;
  return others;
}

/** For the timeline and the alert: "lost guests.email in 40 of 40 rows". */
export function describeHold({ sign, affected, of }: Pick<Hold, 'sign' | 'affected' | 'of'>): string {
  const { kind, path, value } = partsOf(sign);
  const rows = `in ${affected} of ${of} rows`;
  if (kind === 'cleared') return `the partner’s answers lost ${path} ${rows}`;
  if (kind === 'factor') return `${path} changed by the factor ${value} ${rows}`;
  if (kind === 'shift') return `${path} moved by ${value} days ${rows}`;
  if (kind === 'status') return `the status became ${value} ${rows}`;
  if (kind === 'changed') return `${path} changed ${rows}`;
  if (kind === 'masked') return `${path} was masked ${rows}`;
  if (kind === 'gone') return `the partner no longer lists ${affected} of ${of} bookings`;
  return `a business rule now drops ${affected} of ${of} rows`;
}
