/** The database server for the tests of the `mysql` destination. It is no npm package. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const places = ['/usr/sbin/mariadbd', '/usr/local/sbin/mariadbd', '/opt/homebrew/bin/mariadbd'];

export const mariadbServer = (): string | undefined => places.find((place) => existsSync(place));

/** Installs it if we are root with apt, without starting the system's own server. Otherwise the tests that need it are skipped and say so. */
export function prepareMariadb(): void {
  if (mariadbServer() !== undefined || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  console.log('installing MariaDB for the tests of the mysql destination, once (apt-get) ...');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  for (const step of [['install'], ['update'], ['install']]) {
    const packages = step[0] === 'install' ? ['-y', '--no-install-recommends', 'mariadb-server'] : [];
    if (mariadbServer() === undefined)
      spawnSync('apt-get', ['-qq', ...step, ...packages], { stdio: 'ignore', env, timeout: 300_000 });
  }
}
