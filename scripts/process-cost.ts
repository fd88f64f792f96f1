/** Imported first by each process of the suite: at its end it writes what the process and the programs that it waited for have cost. */
import { appendFileSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const ticksPerSecond = 100;

process.once('exit', () => {
  if (os.platform() !== 'linux') return;
  // After the name in parentheses: state, …, utime, stime, cutime, cstime (man proc_pid_stat).
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const processor = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
  const name = path.basename(process.argv[1] ?? '').replace(/^\d+-|\.test\.mjs$/g, '');
  appendFileSync(path.join(os.tmpdir(), 'costs'), `${name} ${performance.now() / 1000} ${processor}\n`);
});
