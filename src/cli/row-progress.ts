import { systemClock } from '../kit/clock.ts';
import { type CountProgress, countProgress } from './count-progress.ts';

/** Progress on standard error. */
export function rowProgress(): CountProgress {
  const { stderr } = process;
  const output = {
    write: (text: string) => void stderr.write(text),
    isTerminal: stderr.isTTY === true,
    columns: stderr.columns ?? 80,
  };
  return countProgress(output, systemClock.uptimeMs);
}
