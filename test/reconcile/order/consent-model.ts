/** The rule of consent, as the specification states it: for the model of what a brand should know. */

export interface SaidConsent {
  /** Who says it: a feed of the partner, the guest or a platform. A guest's own events come by the same feed as those about bookings. */
  readonly by: 'pull' | 'single' | 'push' | 'guest' | 'crm';
  readonly booking?: string;
  readonly at: number;
  readonly value: boolean;
}

interface Stream {
  readonly by: SaidConsent['by'];
  readonly value: boolean;
  readonly since: number;
  readonly until: number;
  readonly firstNo: number;
  readonly lastNo: number;
}

/**
 * Whether the person agrees; undefined if nobody ever said. Only a change of what one feed says in one booking is a statement, so a yes counts
 * from its first time. After a no only a later yes of the guest counts, or one of a feed that had said no before.
 */
export function decided(said: readonly SaidConsent[]): boolean | undefined {
  const streams = new Map<string, Stream>();
  for (const { by, booking, at, value } of said.toSorted((a, b) => a.at - b.at)) {
    const was = streams.get(`${by} ${booking}`);
    const since = was?.value === value ? was.since : at;
    const firstNo = Math.min(was?.firstNo ?? Infinity, value ? Infinity : at);
    streams.set(`${by} ${booking}`, { by, value, since, until: at, firstNo, lastNo: value ? (was?.lastNo ?? -1) : at });
  }
  const all = [...streams.values()];
  if (all.length === 0) return undefined;
  const lastNo = Math.max(...all.map((one) => one.lastNo));
  const feedOf = (by: string) => (by === 'guest' ? 'push' : by);
  const saidNoBefore = (yes: Stream) =>
    all.some(({ by, firstNo }) => feedOf(by) === feedOf(yes.by) && firstNo < yes.since);
  return all.some(
    (one) => one.value && (lastNo < 0 || (one.since > lastNo && (one.by === 'guest' || saidNoBefore(one)))),
  );
}
