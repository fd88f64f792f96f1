import { progressFigures, type SyncProgress } from '../../core/intake/pull/run/sync-once.ts';
import { systemClock } from '../../kit/clock.ts';
import { io } from './io.ts';

interface ProgressOutput {
  write(text: string): void;
  readonly isTerminal: boolean;
  readonly columns: number;
}

const plainEveryMs = 5_000;
const redrawEveryMs = 80;

/** One line that is redrawn on a terminal, at once and until it ends; a line every few seconds elsewhere. News is shown at any time. */
function progressLine({ write, isTerminal, columns }: ProgressOutput, now: () => number) {
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

const barWidth = 24;

/** Shows progress: a bar on a terminal; elsewhere the first line says what started. */
export function progressView(output: ProgressOutput, now: () => number) {
  const startedAt = now();
  const line = progressLine(output, now);
  let isBegun = output.isTerminal;
  return {
    show(progress: SyncProgress): void {
      if (!isBegun && progress.kind === 'progress') {
        isBegun = true;
        output.write(`pulling ${progress.position.from} to ${progress.position.to}\n`);
      }
      const isNews = progress.kind === 'busy' || progress.waiting !== undefined;
      line.show(() => describe(progress, now() - startedAt, output.isTerminal), isNews);
    },
    done: line.end,
  };
}

function describe(progress: SyncProgress, elapsedMs: number, withBar: boolean): string {
  if (progress.kind === 'busy') return `waiting for run ${progress.runId} of the same sync`;
  const { position, counters, waiting } = progress;
  const figures = progressFigures(position, counters, elapsedMs);
  const filled = Math.round(figures.fraction * barWidth);
  const percent = `${Math.floor(figures.fraction * 100)} %`;
  const parts = [
    withBar ? `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${percent.padStart(5)}` : percent,
    `${position.window ? `${position.window.from} to ${position.window.to}` : 'grouping rows'}`,
    `${count(figures.pages, 'page')}, ${count(figures.records, 'record')}, ${Math.round(figures.perSecond)}/s`,
  ];
  if (waiting) parts.push(`waiting ${Math.ceil(waiting.ms / 1000)} s (${reasons[waiting.reason]})`);
  else if (figures.leftMs !== undefined && figures.fraction < 1) parts.push(`${duration(figures.leftMs)} left`);
  return parts.join('  ');
}

const reasons = {
  retry_after: 'the partner limits requests',
  breaker: 'the partner’s API failed repeatedly',
  rate: 'our rate limit',
  backoff: 'before the next try',
} as const;

export function count(amount: number, what: string): string {
  return `${amount.toLocaleString('en')} ${what}${amount === 1 ? '' : 's'}`;
}

export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
