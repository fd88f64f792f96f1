import { io } from './io.ts';

export interface ProgressOutput {
  write(text: string): void;
  readonly isTerminal: boolean;
  readonly columns: number;
}

const plainEveryMs = 5_000;
const redrawEveryMs = 80;

/** One line that is redrawn on a terminal, at once and until it ends; a line every few seconds elsewhere. News is shown at any time. */
export function progressLine({ write, isTerminal, columns }: ProgressOutput, now: () => number) {
  let drawnAt = isTerminal ? Number.NEGATIVE_INFINITY : now();
  let isDrawn = false;
  return {
    show(text: () => string, isNews = false): void {
      if (!isNews && now() - drawnAt < (isTerminal ? redrawEveryMs : plainEveryMs)) return;
      drawnAt = now();
      write(isTerminal ? `\r\u001b[2K${text().slice(0, Math.max(20, columns - 1))}` : `${text()}\n`);
      isDrawn = isTerminal;
    },
    end(): void {
      if (isDrawn) write('\r\u001b[2K');
      isDrawn = false;
    },
  };
}

export function errorOutput(): ProgressOutput {
  const { stderr } = io();
  return {
    write: (text) => void stderr.write(text),
    isTerminal: stderr.isTTY === true,
    columns: stderr.columns ?? 80,
  };
}
