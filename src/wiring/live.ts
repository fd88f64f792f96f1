import type { LiveEvent, LivePorts } from '../api/routes/live.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type News, readNews } from '../store/operate/live.ts';

const everyMs = 1_000;
const mostFollowers = 200;

/** One look at the store per second and node, however many consoles listen; none while nobody does. */
export function livePorts(runtime: Runtime): LivePorts {
  const followers = new Set<(event: LiveEvent) => void>();
  let timer: NodeJS.Timeout | undefined;
  /** What the look before saw: a row is told once, and again when it has changed. */
  let told = new Set<string>();

  const look = async (): Promise<void> => {
    const seen = new Map(eventsOf(await readNews(runtime.pool)).map((event) => [JSON.stringify(event), event]));
    const before = told;
    told = new Set(seen.keys());
    for (const [key, event] of seen) {
      if (!before.has(key)) for (const tell of followers) tell(event);
    }
  };
  const turn = (): void => {
    timer = setTimeout(() => {
      if (followers.size === 0) {
        timer = undefined;
        told = new Set();
        return;
      }
      look().then(turn, turn);
    }, everyMs);
    timer.unref();
  };
  return {
    follow: (tell) => {
      if (followers.size >= mostFollowers) return undefined;
      followers.add(tell);
      if (timer === undefined) turn();
      return () => followers.delete(tell);
    },
  };
}

function eventsOf(news: News): LiveEvent[] {
  const of = (event: LiveEvent['event'], rows: News['runs']): LiveEvent[] =>
    rows.map((data) => ({ event, integration: data.integration, data }));
  return [
    ...of('event', news.events),
    ...of('change', news.changes),
    ...of('run', news.runs),
    ...of('alert', news.alerts),
    ...of('activity', news.activity),
  ];
}
