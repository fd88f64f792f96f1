/** Forwards the accepted events of one brand to a developer's program: recorded events, then live events as they arrive. */

export interface ListedEvent {
  readonly seq: number;
  readonly event_id: string;
  readonly event: string;
  readonly received_at: string;
}

export interface ListenPorts {
  /** Newest first. */
  page(
    cursor: string | undefined,
  ): Promise<{ readonly items: readonly ListedEvent[]; readonly next_cursor: string | null }>;
  /** The payload as text; undefined once its retention is over. */
  payload(seq: number): Promise<string | undefined>;
  /** The status of the answer; undefined if there was none. */
  forward(payload: string, event: ListedEvent): Promise<number | undefined>;
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

interface ListenRequest {
  /** How many recorded events to forward first. */
  readonly last: number;
  /** Only the events with this id. */
  readonly eventId?: string;
  /** Ends after the recorded events. */
  readonly once: boolean;
}

export interface Forwarded extends ListedEvent {
  readonly status: number | 'no answer' | 'payload deleted';
}

/** The most pages of new events read per poll: if a brand sends faster, older events are skipped. */
const mostPages = 20;

/** Returns how many events were not answered with a 2xx. A failed one is reported and not retried: the developer replays it. */
export async function listen(
  ports: ListenPorts,
  { last, eventId, once }: ListenRequest,
  report: (forwarded: Forwarded) => void,
  signal: AbortSignal,
): Promise<number> {
  const seen = new Set<number>();
  let failed = 0;
  const forward = async (event: ListedEvent): Promise<void> => {
    const payload = await ports.payload(event.seq);
    const status = payload === undefined ? 'payload deleted' : ((await ports.forward(payload, event)) ?? 'no answer');
    if (typeof status !== 'number' || status < 200 || status > 299) failed += 1;
    report({ ...event, status });
  };
  const inOrder = (events: readonly ListedEvent[]) => events.toSorted((a, b) => a.seq - b.seq);

  const recorded: ListedEvent[] = [];
  for (let cursor: string | undefined; ; ) {
    const { items, next_cursor: next } = await ports.page(cursor);
    for (const { seq } of items) seen.add(seq);
    recorded.push(...items.filter((one) => eventId === undefined || one.event_id === eventId));
    if (next === null || recorded.length >= last) break;
    cursor = next;
  }
  for (const event of inOrder(recorded.slice(0, last))) await forward(event);

  while (!once && !signal.aborted) {
    const fresh: ListedEvent[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < mostPages; pages++) {
      const { items, next_cursor: next } = await ports.page(cursor);
      const unseen = items.filter(({ seq }) => !seen.has(seq));
      fresh.push(...unseen);
      // An event may be committed after a later one: continue until every event of a page is known.
      if (unseen.length === 0 || next === null) break;
      cursor = next;
    }
    for (const event of inOrder(fresh)) {
      seen.add(event.seq);
      if (eventId === undefined || event.event_id === eventId) await forward(event);
    }
    await ports.wait(1_000, signal);
  }
  return failed;
}
