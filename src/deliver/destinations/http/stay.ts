import type { Room } from '../../../canonical/reservation.ts';
import type { EpochMs } from '../../../terms.ts';
import type { Message } from '../../message.ts';

/** The values of a stay that CRMs ask for and that the record holds only indirectly; `{stay.…}` in templates. */
export interface Stay {
  /** The integration and the id: ids repeat between integrations, even within one brand_id, and no integration's name has a colon. */
  readonly key: string;
  /** The number that the guest knows, or the id. */
  readonly name: string;
  readonly nights?: number;
  /** As the partner says it, else the day on which it was seen; then absent in later versions. */
  readonly cancelled_at?: string;
  readonly rooms: number;
  readonly adults?: number;
  readonly children?: number;
  readonly room_type?: string;
  readonly board?: string;
  readonly rate_code?: string;
}

export function stayOf({ type, integration, data }: Message, cancelledAt: EpochMs | undefined): Stay | undefined {
  if (type !== 'reservation') return undefined;
  const { id, confirmation_number: number, check_in: from, check_out: to, rooms = [] } = data;
  const seen = cancelledAt === undefined ? undefined : new Date(cancelledAt).toISOString();
  const cancelled = data.cancelled_at ?? seen;
  return {
    key: `${integration}:${id}`,
    name: number ?? id,
    ...(from !== undefined && to !== undefined && { nights: (Date.parse(to) - Date.parse(from)) / 86_400_000 }),
    ...(cancelled !== undefined && { cancelled_at: cancelled.slice(0, 10) }),
    rooms: rooms.length,
    ...sums(rooms),
    ...texts(rooms),
  };
}

function sums(rooms: readonly Room[]): Pick<Stay, 'adults' | 'children'> {
  const sum = (field: 'adults' | 'children') => {
    const known = rooms.flatMap((room) => room[field] ?? []);
    return known.length === 0 ? undefined : known.reduce((a, b) => a + b);
  };
  const [adults, children] = [sum('adults'), sum('children')];
  return { ...(adults !== undefined && { adults }), ...(children !== undefined && { children }) };
}

/** Each value once, in the order of the rooms. */
function texts(rooms: readonly Room[]): Pick<Stay, 'room_type' | 'board' | 'rate_code'> {
  const all = (['room_type', 'board', 'rate_code'] as const).map(
    (field) => [field, [...new Set(rooms.flatMap((room) => room[field] ?? []))].join(', ')] as const,
  );
  return Object.fromEntries(all.filter(([, text]) => text !== ''));
}
