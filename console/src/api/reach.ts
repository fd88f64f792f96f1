import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { call, Problem } from './client.ts';

/** Whether the service answers: a feed that is open says nothing while nothing happens. */
export interface Reach {
  readonly state: 'here' | 'slow' | 'away';
  /** What is wrong, in words. */
  readonly reason?: string;
  /** When it is asked again, while it is away. */
  readonly nextAt?: number;
  readonly tryNow: () => void;
}

const everyMs = 3_000;
const slowMs = 1_500;
const awayMs = 10_000;
const longestPauseMs = 15_000;

/** Asks the service every few seconds, at growing intervals while it is away. When it is back, everything on the page is read again. */
export function useReach(): Reach {
  const queries = useQueryClient();
  const [reach, setReach] = useState<Omit<Reach, 'tryNow'>>({ state: 'here' });
  const tryNow = useRef(() => {});
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    let failures = 0;
    const check = async () => {
      clearTimeout(timer);
      const late = setTimeout(
        () => setReach((before) => (before.state === 'here' ? { state: 'slow' } : before)),
        slowMs,
      );
      const startedAt = Date.now();
      const problem = await call('session.get', {}, AbortSignal.timeout(awayMs)).then(
        () => undefined,
        (error: Error) => error,
      );
      clearTimeout(late);
      if (isOver) return;
      const isAway = problem && !(problem instanceof Problem && problem.status >= 400 && problem.status < 500);
      const pauseMs = isAway ? Math.min(longestPauseMs, 2_000 * 2 ** failures) : everyMs;
      if (isAway) {
        failures += 1;
        const reason = problem instanceof Problem ? problem.message : `It has not answered for ${awayMs / 1_000} s.`;
        setReach({ state: 'away', reason, nextAt: Date.now() + pauseMs });
      } else {
        if (failures > 0) void queries.invalidateQueries();
        failures = 0;
        setReach({ state: Date.now() - startedAt > slowMs ? 'slow' : 'here' });
      }
      timer = setTimeout(() => void check(), pauseMs);
    };
    tryNow.current = () => void check();
    void check();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [queries]);
  return { ...reach, tryNow: () => tryNow.current() };
}
