import { addDays, daysIn } from '../window/windows.ts';
import type { Counters, Position } from './run-state.ts';

export interface ProgressFigures {
  /** 0 to 1, by days of the range; within a window by rows if the partner reports a total. */
  readonly fraction: number;
  readonly days: number;
  readonly daysDone: number;
  readonly pages: number;
  readonly records: number;
  readonly perSecond: number;
  readonly leftMs?: number;
}

/** How far a run is. The time left is estimated only once some part is done. */
export function progressFigures(position: Position, counters: Counters, elapsedMs: number): ProgressFigures {
  const { window, pass } = position;
  const days = daysIn(position);
  const daysDone = window === undefined ? days : daysIn({ from: position.from, to: addDays(window.from, -1) });
  const inWindow = window === undefined || !pass.total ? 0 : Math.min(1, pass.distinct / pass.total) * daysIn(window);
  const fraction = Math.min(1, (daysDone + inWindow) / days);
  return {
    fraction,
    days,
    daysDone,
    pages: counters.pages,
    records: counters.fetched,
    perSecond: elapsedMs > 0 ? (counters.fetched * 1000) / elapsedMs : 0,
    ...(fraction > 0 && { leftMs: (elapsedMs * (1 - fraction)) / fraction }),
  };
}
