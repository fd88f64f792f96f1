import { progressFigures } from '../intake/pull/run/progress.ts';
import type { SyncProgress } from '../intake/pull/run/sync-once.ts';

/** Shows progress: a bar on a terminal, a line every few seconds elsewhere. */
export interface ProgressView {
  show(progress: SyncProgress): void;
  done(): void;
}

export interface ProgressOutput {
  write(text: string): void;
  readonly isTerminal: boolean;
  readonly columns: number;
}

const plainEveryMs = 5_000;
const redrawEveryMs = 80;
const barWidth = 24;

export function progressView(output: ProgressOutput, now: () => number): ProgressView {
  const startedAt = now();
  // A terminal shows the bar at once; elsewhere the first line says what started.
  let drawnAt = output.isTerminal ? Number.NEGATIVE_INFINITY : startedAt;
  let drawn = false;
  let isBegun = false;
  const draw = (text: string) => {
    output.write(`\r\u001b[2K${text.slice(0, Math.max(20, output.columns - 1))}`);
    drawn = true;
  };
  return {
    show(progress) {
      if (!output.isTerminal && !isBegun && progress.kind === 'progress') {
        isBegun = true;
        output.write(`pulling ${progress.position.from} to ${progress.position.to}\n`);
      }
      const isNews = progress.kind === 'busy' || progress.waiting !== undefined;
      const due = now() - drawnAt >= (output.isTerminal ? redrawEveryMs : plainEveryMs);
      if (!due && !isNews) return;
      drawnAt = now();
      const text = describe(progress, drawnAt - startedAt, output.isTerminal);
      if (output.isTerminal) draw(text);
      else output.write(`${text}\n`);
    },
    done() {
      if (drawn) output.write('\r\u001b[2K');
    },
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
