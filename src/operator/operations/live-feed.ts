import type { Runtime } from '../../runtime/runtime.ts';
import { type News, readNews } from '../store/overview.ts';
import { brandsConcerned, limitedMessage } from './alert-view.ts';

/** A live event for the console. Data holds ids, counts and states, never guest data. */
interface LiveEvent {
  readonly event: 'activity' | 'run' | 'change' | 'alert' | 'event';
  readonly integration: string;
  readonly data: unknown;
  /** For an alert of no single brand: the brands that it concerns, and what callers who may see only some of them get. */
  readonly shared?: { readonly brands: readonly string[]; readonly data: unknown };
}

export interface LiveFeed {
  /** Reports every event until the returned function is called; undefined when there are too many listeners. */
  readonly follow: (report: (event: LiveEvent) => void) => (() => void) | undefined;
}

/** Feeds the consoles' live view. Reads the store once a second per node, whatever the number of followers; not at all without followers. */
export function openLiveFeed(runtime: Runtime): LiveFeed {
  const followers = new Set<(event: LiveEvent) => void>();
  let isScheduled = false;
  /** Rows of the last read. A row is sent once, and again when it has changed. */
  let sent = new Set<string>();

  const read = async (): Promise<void> => {
    const seen = new Map(
      eventsOf(runtime, await readNews(runtime.pool)).map((event) => [JSON.stringify(event), event]),
    );
    const before = sent;
    sent = new Set(seen.keys());
    for (const [key, event] of seen) {
      if (!before.has(key)) for (const send of followers) send(event);
    }
  };
  const schedule = (): void => {
    isScheduled = true;
    const next = () => {
      if (followers.size === 0) {
        isScheduled = false;
        sent = new Set();
        return;
      }
      read().then(schedule, schedule);
    };
    runtime.clock.schedule(1_000, next, { background: true });
  };
  return {
    follow: (send) => {
      if (followers.size >= 200) return undefined;
      followers.add(send);
      if (!isScheduled) schedule();
      return () => followers.delete(send);
    },
  };
}

function eventsOf(runtime: Runtime, news: News): LiveEvent[] {
  const of = (event: LiveEvent['event'], rows: News['runs']): LiveEvent[] =>
    rows.map((data) => ({ event, integration: data.integration, data }));
  return [
    ...of('event', news.events),
    ...of('change', news.changes),
    ...of('run', news.runs),
    ...news.alerts.map((alert) => alertEvent(runtime, alert)),
    ...of('activity', news.activity),
  ];
}

function alertEvent(runtime: Runtime, { brands, ...data }: News['alerts'][number]): LiveEvent {
  const { integration, kind, subject, message } = data;
  if (integration !== '') return { event: 'alert', integration, data };
  const limited = limitedMessage({ kind, subject, message, brands: brands?.length ?? null });
  const shared = { brands: brandsConcerned(runtime, { kind, subject, brands }), data: { ...data, message: limited } };
  return { event: 'alert', integration, data, shared };
}
