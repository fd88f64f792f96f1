import type { LiveEvent, LivePorts } from '../api/routes/live.ts';
import type { Ground } from '../ground.ts';
import { type News, readNews } from '../store/live.ts';

const everyMs = 1_000;
const mostFollowers = 200;

/** One look at the store per second and node, however many consoles listen; none while nobody does. */
export function livePorts(ground: Ground): LivePorts {
  const followers = new Set<(event: LiveEvent) => void>();
  let timer: NodeJS.Timeout | undefined;
  let since: Date | undefined;
  /** A bucket is told once: what was told is remembered for as long as it may be seen again. */
  let told = new Set<string>();

  const look = async (): Promise<void> => {
    const news = await readNews(ground.pool, since);
    const first = since === undefined;
    since = news.until;
    const seen = new Set(news.activity.map(({ integration, at }) => `${integration} ${at}`));
    const activity = news.activity.filter(({ integration, at }) => !told.has(`${integration} ${at}`));
    told = seen;
    for (const event of first ? eventsOf({ ...news, activity: [] }) : eventsOf({ ...news, activity })) {
      for (const tell of followers) tell(event);
    }
  };
  const turn = (): void => {
    timer = setTimeout(() => {
      if (followers.size === 0) {
        timer = undefined;
        since = undefined;
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
