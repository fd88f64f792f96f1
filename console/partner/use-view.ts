import { useCallback, useEffect, useRef, useState } from 'react';
import { type Closed, call, LinkClosed, openLink } from './link.ts';
import type { View } from './types.ts';

export type Page =
  | { readonly kind: 'opening'; readonly isOffline: boolean }
  | { readonly kind: 'closed'; readonly why: Closed; readonly language: string | undefined }
  | { readonly kind: 'open'; readonly view: View; readonly isOffline: boolean };

/** It stays in the language in which it was read. */
const closed = (before: Page, why: Closed): Page => ({
  kind: 'closed',
  why,
  language: before.kind === 'open' ? before.view.language : undefined,
});

/** A verdict appears within a second of its request. */
const everyMs = 1_000;
const againMs = 3_000;
/** A page that nobody touches rests, with nothing secret on it. */
const restAfterMs = 30 * 60_000;

/** Opens the link and follows it, while somebody looks. */
export function useView() {
  const [page, setPage] = useState<Page>({ kind: 'opening', isOffline: false });
  const [isResting, setResting] = useState(false);
  const touchedAt = useRef(Date.now());
  const load = useCallback(async () => {
    try {
      const view = await call<View>('GET', '');
      setPage({ kind: 'open', view, isOffline: false });
    } catch (error) {
      setPage((before) => {
        if (error instanceof LinkClosed) return closed(before, error.why);
        return before.kind === 'closed' ? before : { ...before, isOffline: true };
      });
    }
  }, []);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = async () => {
      try {
        await openLink();
        await load();
      } catch (error) {
        if (error instanceof LinkClosed) return setPage((before) => closed(before, error.why));
        setPage({ kind: 'opening', isOffline: true });
        timer = setTimeout(() => void open(), againMs);
      }
    };
    void open();
    const touch = () => {
      touchedAt.current = Date.now();
    };
    for (const event of ['pointerdown', 'keydown']) addEventListener(event, touch);
    return () => {
      clearTimeout(timer);
      for (const event of ['pointerdown', 'keydown']) removeEventListener(event, touch);
    };
  }, [load]);
  const isFollowed = page.kind !== 'closed' && !isResting;
  useEffect(() => {
    if (!isFollowed) return undefined;
    const timer = setInterval(() => {
      if (Date.now() - touchedAt.current > restAfterMs) setResting(true);
      else if (!document.hidden) void load();
    }, everyMs);
    return () => clearInterval(timer);
  }, [isFollowed, load]);
  const resume = () => {
    touchedAt.current = Date.now();
    setResting(false);
    void load();
  };
  return { page, isResting, resume, refresh: () => void load() };
}
