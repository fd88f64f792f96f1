import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useRef, useState } from 'react';

/** Which lists a piece of news makes old. */
const touched: Readonly<Record<string, readonly string[]>> = {
  rates: ['overview', 'integrations'],
  activity: ['overview', 'integrations'],
  runs: ['runs', 'run', 'integrations'],
  run: ['runs', 'run', 'integrations'],
  changes: ['records', 'timeline', 'deliveries'],
  change: ['records', 'timeline', 'deliveries'],
  events: ['events', 'endpoint'],
  dead_letters: ['dead-letters'],
  alerts: ['alerts', 'overview'],
  alert: ['alerts', 'overview'],
};
/** However much happens, a list is read again at most this often. */
const gentlyMs = 1_500;

/**
 * News from the service by server-sent events. It only says what is old; what is shown is always read from the API, so that a
 * missed message costs a moment and never shows something wrong.
 */
export function useLiveFeed(): boolean {
  const queries = useQueryClient();
  const [on, setOn] = useState(false);
  const pending = useRef(new Set<string>());
  useEffect(() => {
    const source = new EventSource('/api/v1/live');
    source.onopen = () => setOn(true);
    source.onerror = () => setOn(false);
    const note = (name: string) => {
      for (const key of touched[name] ?? []) pending.current.add(key);
    };
    for (const name of Object.keys(touched)) source.addEventListener(name, () => note(name));
    const timer = setInterval(() => flush(queries, pending.current), gentlyMs);
    return () => {
      source.close();
      clearInterval(timer);
    };
  }, [queries]);
  return on;
}

function flush(queries: QueryClient, pending: Set<string>): void {
  if (document.visibilityState === 'hidden') return;
  for (const key of pending) void queries.invalidateQueries({ queryKey: [key] });
  pending.clear();
}

export const LiveContext = createContext(false);

/** How often to ask anyway: seldom while news comes in, as a clock where it does not. */
export function useEvery(seconds: number): number {
  return (useContext(LiveContext) ? seconds * 4 : seconds) * 1_000;
}
