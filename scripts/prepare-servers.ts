/** Brokers, a reader for Kafka and a database server, for the tests of destinations. They are no npm packages. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const programs = {
  'nats-server': '/usr/sbin/nats-server',
  'rabbitmq-server': '/usr/lib/rabbitmq/bin/rabbitmq-server',
  kcat: '/usr/bin/kcat',
  'mariadb-server': '/usr/sbin/mariadbd',
} as const;

type Program = keyof typeof programs;

/** For `test`: the reason to skip the tests of a server, or false. */
export const skipWithout = (program: Program): string | false =>
  existsSync(programs[program]) ? false : `${programs[program]} is not here: apt-get install ${program}`;

export const pathOf = (program: Program): string => programs[program];

/** Installs them if we are root with apt, without starting the system's own servers. Otherwise their tests are skipped and say so. */
export function prepareServers(): void {
  const missing = () => Object.keys(programs).filter((program) => skipWithout(program as Program));
  if (missing().length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  console.log(`installing ${missing().join(', ')} for the tests of destinations, once (apt-get) ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  for (const step of ['install', 'update', 'install']) {
    const packages = step === 'install' ? ['-y', '--no-install-recommends', ...missing()] : [];
    if (missing().length > 0)
      spawnSync('apt-get', ['-qq', step, ...packages], { stdio: 'ignore', env, timeout: 300_000 });
  }
}
