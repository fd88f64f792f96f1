import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useRef, useState } from 'react';

/** A change as the feed tells it: ids only. */
export interface News {
  integration: string;
  type: 'reservation' | 'guest';
  id: string;
  version: number;
  event: string;
  cause: string;
  at: string;
}

/**
 * Which lists a piece of news makes old. Lists of bookings are not among them: reading guest data is audited, and an open page
 * is no reason to read it again every second.
 */
const touched: Readonly<Record<string, readonly string[]>> = {
  activity: ['overview', 'integrations', 'dead-letters'],
  run: ['runs', 'run', 'integrations'],
  change: ['deliveries'],
  event: ['events', 'endpoint'],
  alert: ['alerts', 'overview'],
};
/** However much happens, a list is read again at most this often. */
const gentlyMs = 1_500;
const mostNews = 12;

export interface Feed {
  readonly on: boolean;
  readonly news: readonly News[];
}

/**
 * News from the service by server-sent events. It only says what is old; what is shown is always read from the API, so that a
 * missed message costs a moment and never shows something wrong.
 */
export function useLiveFeed(): Feed {
  const queries = useQueryClient();
  const [feed, setFeed] = useState<Feed>({ on: false, news: [] });
  const pending = useRef(new Set<string>());
  useEffect(() => {
    const source = new EventSource('/api/v1/live');
    const fresh: News[] = [];
    const old = pending.current;
    source.onopen = () => setFeed((before) => ({ ...before, on: true }));
    source.onerror = () => setFeed((before) => ({ ...before, on: false }));
    for (const [name, keys] of Object.entries(touched)) {
      source.addEventListener(name, (event: MessageEvent<string>) => {
        for (const key of keys) old.add(JSON.stringify([key]));
        if (name !== 'change') return;
        const change = JSON.parse(event.data) as News;
        old.add(JSON.stringify(['timeline', change.integration, `${change.type}s`, change.id]));
        fresh.push(change);
      });
    }
    const timer = setInterval(() => {
      flush(queries, old);
      if (fresh.length === 0) return;
      const added = fresh.splice(0).reverse();
      setFeed(({ on, news }) => ({ on, news: [...added, ...news].slice(0, mostNews) }));
    }, gentlyMs);
    return () => {
      source.close();
      clearInterval(timer);
    };
  }, [queries]);
  return feed;
}

function flush(queries: QueryClient, pending: Set<string>): void {
  if (document.visibilityState === 'hidden') return;
  for (const key of pending) void queries.invalidateQueries({ queryKey: JSON.parse(key) as string[] });
  pending.clear();
}

export const LiveContext = createContext<Feed>({ on: false, news: [] });
export const useNews = (): readonly News[] => useContext(LiveContext).news;

/** How often to ask anyway: seldom while news comes in, as a clock where it does not. */
export function useEvery(seconds: number): number {
  return (useContext(LiveContext).on ? seconds * 4 : seconds) * 1_000;
}
