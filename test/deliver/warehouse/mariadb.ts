import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createConnection } from 'mysql2/promise';
import { pathOf, skipWithout } from '../../../scripts/prepare-servers.ts';
import { freePort } from '../../support/free-port.ts';

export const noMariadb: string | false = skipWithout('mariadb-server');

/** A real MariaDB on loopback, with one login that has the rights of the guide. */
export async function startMariadb() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-mariadb-'));
  const data = path.join(folder, 'data');
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const made = spawnSync('mariadb-install-db', [
    '--no-defaults',
    ...user,
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ]);
  if (made.status !== 0) throw new Error(`mariadb-install-db: ${made.stderr}${made.stdout}`);
  const port = await freePort();
  let child: ChildProcess | undefined;
  const admin = () =>
    createConnection({ host: '127.0.0.1', port, user: 'root', multipleStatements: true, charset: 'utf8mb4' });
  const start = async () => {
    const server = spawn(
      pathOf('mariadb-server'),
      [
        '--no-defaults',
        ...user,
        `--datadir=${data}`,
        `--socket=${folder}/s`,
        `--port=${port}`,
        '--bind-address=127.0.0.1',
        `--pid-file=${folder}/pid`,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    child = server;
    let said = '';
    server.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    for (;;) {
      if (server.exitCode !== null) throw new Error(`MariaDB ended:\n${said}`);
      const client = await admin().catch(() => undefined);
      if (client !== undefined) return client.end();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  await start();
  const query = async (sql: string): Promise<Record<string, unknown>[]> => {
    const client = await admin();
    try {
      return (await client.query(sql))[0] as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  return {
    url: (database: string, login = 'innbound', password = 'p%40ss') =>
      `mysql://${login}:${password}@127.0.0.1:${port}/${database}`,
    query,
    /** A database with its own login. */
    async database(name: string) {
      await query(
        `create database ${name}; create user if not exists 'innbound'@'%' identified by 'p@ss';
         grant select, insert, update, create, alter, drop, index, create view, show view on ${name}.* to 'innbound'@'%'`,
      );
    },
    /** Of the server, until now (Linux). */
    async processorMs() {
      const [, after = ''] = (await readFile(`/proc/${child?.pid}/stat`, 'utf8')).split(') ');
      const ticks = after.split(' ').slice(11, 13);
      return 10 * ticks.reduce((sum, one) => sum + Number(one), 0);
    },
    start,
    kill,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
