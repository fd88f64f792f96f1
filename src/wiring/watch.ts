import type { Ground } from '../ground.ts';
import { systemClock } from '../kit/clock.ts';
import { countActivity } from '../store/activity.ts';
import { startEvery } from '../watch/every.ts';

interface Loop {
  stop(): Promise<void>;
}

/** What every node does beside its work: count what happened. Each task is done by one node at a time, whichever comes first. */
export function startWatch(ground: Ground): Loop {
  const { pool, log } = ground;
  const every = (name: string, ms: number, work: () => Promise<unknown>): Loop =>
    startEvery(ms, {
      clock: systemClock,
      work,
      onError: (error) => log.warn({ task: name, error: (error as Error).message }, 'watch: failed'),
    });
  const loops = [every('activity', 2_000, () => countActivity(pool))];
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
}
