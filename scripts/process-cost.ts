/** Imported first by each process of the suite: at its end it writes what the process and all that it started have cost. */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const ticksPerSecond = 100;

interface Cost {
  readonly parent: number;
  /** Its own, and that of the programs that it waited for. */
  readonly seconds: number;
}

function costOf(pid: string): Cost | undefined {
  try {
    // After the name in parentheses: state, parent, …, utime, stime, cutime, cstime (man proc_pid_stat).
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return {
      parent: Number(fields[1]),
      seconds: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond,
    };
  } catch {
    return undefined; // it ended just now
  }
}

/** With what still runs, such as the database server, which ends after us. */
function costOfTree(): number {
  const byParent = new Map<number, [pid: number, seconds: number][]>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const cost = costOf(pid);
    if (cost) byParent.set(cost.parent, [...(byParent.get(cost.parent) ?? []), [Number(pid), cost.seconds]]);
  }
  const below = (pid: number): number =>
    (byParent.get(pid) ?? []).reduce((sum, [child, seconds]) => sum + seconds + below(child), 0);
  return (costOf('self')?.seconds ?? 0) + below(process.pid);
}

process.once('exit', () => {
  if (os.platform() !== 'linux') return;
  const name = path
    .basename(process.argv[1] ?? '')
    .replace(/^\d+-|\.test\.mjs$/g, '')
    .replaceAll('+', '/');
  appendFileSync(
    path.join(os.tmpdir(), 'costs'),
    `${name} ${(performance.now() / 1000).toFixed(1)} ${costOfTree().toFixed(1)}\n`,
  );
});
