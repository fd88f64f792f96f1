import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call, Problem } from '../api/client.ts';
import { forgetTabDrafts } from '../parts/draft.ts';
import { useSay } from '../parts/toast.tsx';

/** What somebody can do about the own session, from the menu and from the palette. */
export function useOwnActions() {
  const say = useSay();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('dark');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const leave = async (how: 'session.end' | 'session.end_everywhere') => {
    try {
      await call(how);
    } catch (error) {
      const isOver = error instanceof Problem && error.status === 401;
      if (!isOver) return say(`You are still signed in. ${(error as Error).message}`, 'bad');
    }
    queries.clear();
    forgetTabDrafts();
    await navigate({ to: '/sign-in' });
  };
  const switchTheme = () => setColorScheme(scheme === 'dark' ? 'light' : 'dark');
  return { scheme, switchTheme, leave };
}

/** Opens a dialog of the frame. */
export const ask = (dialog: 'palette' | 'keys'): boolean =>
  dispatchEvent(new CustomEvent('innbound:ask', { detail: dialog }));
