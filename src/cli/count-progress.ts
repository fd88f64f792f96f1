import { systemClock } from '../kit/clock.ts';
import { count, type ProgressOutput } from './sync-progress.ts';

/** Shows how many of a known number are done: one line that is redrawn on a terminal, a line every few seconds elsewhere. */
export interface CountProgress {
  show(done: number, total: number, what: string): void;
  end(): void;
}

const plainEveryMs = 5_000;
const redrawEveryMs = 80;

export function countProgress(output: ProgressOutput, now: () => number): CountProgress {
  let drawnAt = output.isTerminal ? Number.NEGATIVE_INFINITY : now();
  let isDrawn = false;
  return {
    show(done, total, what) {
      if (now() - drawnAt < (output.isTerminal ? redrawEveryMs : plainEveryMs)) return;
      drawnAt = now();
      const share = total === 0 ? '' : ` (${Math.floor((Math.min(done, total) / total) * 100)} %)`;
      const text = `${done.toLocaleString('en')} of ${count(total, 'record')} ${what}${share}`;
      output.write(output.isTerminal ? `\r\u001b[2K${text.slice(0, Math.max(20, output.columns - 1))}` : `${text}\n`);
      isDrawn = output.isTerminal;
    },
    end() {
      if (isDrawn) output.write('\r\u001b[2K');
      isDrawn = false;
    },
  };
}

/** On standard error. */
export function rowProgress(): CountProgress {
  const { stderr } = process;
  const output = {
    write: (text: string) => void stderr.write(text),
    isTerminal: stderr.isTTY === true,
    columns: stderr.columns ?? 80,
  };
  return countProgress(output, systemClock.uptimeMs);
}
