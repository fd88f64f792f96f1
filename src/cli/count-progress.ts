import { systemClock } from '../kit/clock.ts';
import { errorOutput, type ProgressOutput, progressLine } from './progress-line.ts';
import { count } from './sync-progress.ts';

/** Shows how many of a known number are done. */
export function countProgress(output: ProgressOutput, now: () => number) {
  const line = progressLine(output, now);
  return {
    show(done: number, total: number, what: string): void {
      const share = total === 0 ? '' : ` (${Math.floor((Math.min(done, total) / total) * 100)} %)`;
      line.show(() => `${done.toLocaleString('en')} of ${count(total, 'record')} ${what}${share}`);
    },
    end: line.end,
  };
}

export const rowProgress = () => countProgress(errorOutput(), systemClock.uptimeMs);
