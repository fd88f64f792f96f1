import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useRef, useState } from 'react';
import type { OperationId } from './client.ts';
import { type Reach, useReach } from './reach.ts';

/** A change as the feed reports it: ids only. */
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
 * The operations to read again after each kind of message. Lists of reservations are left out: each reading of guest data is
 * audited, and an open page must not fill the audit by itself.
 */
const outdated: Readonly<Record<string, readonly OperationId[]>> = {
  activity: ['overview.get', 'integrations.list', 'integrations.get', 'dead_letters.list', 'holds.list'],
  run: ['runs.list', 'runs.get', 'integrations.list', 'integrations.get'],
  change: ['destinations.list', 'deliveries.list'],
  event: ['events.list', 'endpoint.get'],
  alert: ['alerts.list', 'incidents.list', 'incidents.get', 'overview.get'],
};
/** However much happens, a list is read again at most this often. */
const gentlyMs = 1_500;
/** How long to wait after the service refused to open a feed. */
const refusedMs = 10_000;
const mostNews = 12;

export interface Feed {
  /** Open, and the service answers. */
  readonly on: boolean;
  readonly reach: Reach;
  readonly news: readonly News[];
}

/**
 * Server-sent events from the service. They only mark answers as outdated. Everything shown is read from the API, so a
 * missed message delays an update but never shows anything wrong.
 */
export function useLiveFeed(): Feed {
  const queries = useQueryClient();
  const reach = useReach();
  const [feed, setFeed] = useState<Omit<Feed, 'reach'>>({ on: false, news: [] });
  const pending = useRef(new Set<string>());
  useEffect(() => {
    const fresh: News[] = [];
    const old = pending.current;
    let source: EventSource | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const disconnect = () => {
      clearTimeout(retry);
      source?.close();
    };
    const connect = () => {
      disconnect();
      const opened = new EventSource('/api/v1/live');
      source = opened;
      opened.onopen = () => setFeed((before) => ({ ...before, on: true }));
      opened.onerror = () => {
        setFeed((before) => ({ ...before, on: false }));
        // The browser reconnects after a cut, but not after an error answer, such as too many listeners.
        if (opened.readyState === EventSource.CLOSED) retry = setTimeout(connect, refusedMs);
      };
      for (const [name, operations] of Object.entries(outdated)) {
        opened.addEventListener(name, (event: MessageEvent<string>) => {
          for (const operation of operations) old.add(JSON.stringify([operation]));
          if (name !== 'change') return;
          const change: News = JSON.parse(event.data);
          const { integration, id } = change;
          old.add(JSON.stringify([`${change.type}s.timeline`, { integration, id }]));
          fresh.push(change);
        });
      }
    };
    connect();
    // A page in the browser's back-forward cache would still count as a listener.
    addEventListener('pagehide', disconnect);
    addEventListener('pageshow', reopen);
    function reopen(event: PageTransitionEvent) {
      if (event.persisted) connect();
    }
    const timer = setInterval(() => {
      flush(queries, old);
      if (fresh.length === 0) return;
      const added = fresh.splice(0).reverse();
      setFeed(({ on, news }) => ({ on, news: [...added, ...news].slice(0, mostNews) }));
    }, gentlyMs);
    return () => {
      disconnect();
      clearInterval(timer);
      removeEventListener('pagehide', disconnect);
      removeEventListener('pageshow', reopen);
    };
  }, [queries]);
  return { ...feed, on: feed.on && reach.state === 'here', reach };
}

function flush(queries: QueryClient, pending: Set<string>): void {
  if (document.visibilityState === 'hidden') return;
  for (const key of pending) void queries.invalidateQueries({ queryKey: JSON.parse(key) });
  pending.clear();
}

export const LiveContext = createContext<Feed>({ on: false, news: [], reach: { state: 'here', tryNow: () => {} } });
export const useNews = (): readonly News[] => useContext(LiveContext).news;

/** The polling interval: a quarter of the rate while the live feed is connected. */
export function useEvery(seconds: number): number {
  return (useContext(LiveContext).on ? seconds * 4 : seconds) * 1_000;
}
