import type { Runtime } from '../../../src/runtime/runtime.ts';
import { readTotals } from '../../../src/store/operate/totals.ts';

/** A progress line: redrawn on a terminal, printed from time to time if the output is a file. */
export function showProgress(runtime: Runtime): { stop(): void } {
  const { isTTY } = process.stderr;
  let lastLine = '';
  const draw = async (): Promise<void> => {
    const totals = await readTotals(runtime.pool).catch(() => undefined);
    if (!totals) return;
    const { reservations, events, delivered, waiting, dead } = totals;
    const line = `${reservations} reservations, ${events} events, ${delivered} changes delivered, ${waiting} waiting, ${dead} dead letters`;
    if (line === lastLine) return;
    lastLine = line;
    process.stderr.write(isTTY ? `\r\u001b[2K  ${line}` : `  ${line}\n`);
  };
  void draw();
  const timer = setInterval(draw, isTTY ? 1_000 : 10_000);
  return { stop: () => clearInterval(timer) };
}
