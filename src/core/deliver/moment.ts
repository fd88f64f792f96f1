import type { EpochMs } from '../../terms.ts';
import type { Message, MessageData } from './message.ts';

/**
 * What happened to a stay, for destinations that react to it: once per transition, under an id that stays the same across retries,
 * kills and replays. It is found by comparing a version with the one that the destination has. The first version that a destination
 * gets is a booking only if it is the first one ever and the booking is recent: a backfill or a resend of older stays has no moments.
 */
export interface StayMoment {
  readonly kind: MomentKind;
  /** The kind in words, such as "Checked in". */
  readonly title: string;
  readonly id: string;
}

type MomentKind = keyof typeof titles;

const titles = {
  booked: 'Booked',
  changed: 'Changed',
  cancelled: 'Cancelled',
  checked_in: 'Checked in',
  checked_out: 'Checked out',
  no_show: 'No-show',
} as const;

/** A booking that is first seen later than this after it was made is not a moment of today. */
const freshMs = 3 * 86_400_000;

export function momentOf(
  message: Message,
  before: MessageData | undefined,
  changedAt: EpochMs,
): StayMoment | undefined {
  const kind = kindOf(message, before, changedAt);
  if (kind === undefined) return undefined;
  const { integration, data, version, epoch } = message;
  // After a restore version numbers repeat.
  const number = epoch === undefined ? version : `${epoch}.${version}`;
  return { kind, title: titles[kind], id: `${integration}:${data.id}:${kind}:${number}` };
}

function kindOf(
  { type, event, version, data }: Message,
  before: MessageData | undefined,
  changedAt: EpochMs,
): MomentKind | undefined {
  if (type !== 'reservation' || event === 'erased' || event === 'removed') return undefined;
  if (before === undefined) {
    const isFresh = data.booking_date === undefined || changedAt - Date.parse(data.booking_date) <= freshMs;
    return version === 1 && data.status === 'confirmed' && isFresh ? 'booked' : undefined;
  }
  const { status } = data;
  if (status === before.status) return stayOf(data) === stayOf(before) ? undefined : 'changed';
  if (status === 'confirmed') return 'changed';
  return status !== undefined && Object.hasOwn(titles, status) ? (status as MomentKind) : undefined;
}

/** What a guest would call the stay: its days, its rooms and its price. */
const stayOf = ({ check_in, check_out, rooms = [], total_amount, currency }: MessageData): string =>
  JSON.stringify([
    check_in,
    check_out,
    total_amount,
    currency,
    rooms.map(({ room_type, board }) => [room_type, board]),
  ]);
