import { useRouter } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';

interface Left {
  readonly href: string;
  readonly scrollY: number;
}

/** The content of a page is read from the service: its link may appear a moment later. */
const waitMs = 3_000;

/**
 * A new page starts at its top, with the focus on its content, which screen readers then announce. Going back returns the focus to the
 * link that was followed, and the page to where it was scrolled.
 */
export function useFocusReturn(main: RefObject<HTMLElement | null>, pathname: string): void {
  const { history } = useRouter();
  const left = useRef(new Map<string, Left>());
  const key = useRef(keyOf(history.location));
  const isBack = useRef(false);
  const first = useRef(true);
  useEffect(() => {
    // Before the page changes: the link that was followed still has the focus.
    const remember = () => {
      const link = document.activeElement?.closest('a')?.getAttribute('href');
      if (link) left.current.set(key.current, { href: link, scrollY });
    };
    addEventListener('click', remember, true);
    addEventListener('keydown', remember, true);
    const stop = history.subscribe(({ location, action }) => {
      isBack.current = action.type !== 'PUSH' && action.type !== 'REPLACE';
      key.current = keyOf(location);
    });
    return () => {
      removeEventListener('click', remember, true);
      removeEventListener('keydown', remember, true);
      stop();
    };
  }, [history]);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    const place = isBack.current && pathname !== '' ? left.current.get(key.current) : undefined;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
    if (place === undefined) return;
    const restore = (): boolean => {
      const link = main.current?.querySelector<HTMLElement>(
        `a[href=${CSS.escape(place.href).replace(/^/, '"').replace(/$/, '"')}]`,
      );
      if (!link) return false;
      link.focus({ preventScroll: true });
      scrollTo(0, place.scrollY);
      return true;
    };
    if (restore()) return;
    const watch = new MutationObserver(() => restore() && watch.disconnect());
    if (main.current) watch.observe(main.current, { childList: true, subtree: true });
    const timer = setTimeout(() => watch.disconnect(), waitMs);
    return () => {
      clearTimeout(timer);
      watch.disconnect();
    };
  }, [main, pathname]);
}

const keyOf = ({ state }: { readonly state: object }): string =>
  String((state as { __TSR_key?: string; key?: string }).__TSR_key ?? (state as { key?: string }).key ?? '');
