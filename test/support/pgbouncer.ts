import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { chooseAccount, invocation } from '../../src/operator/embedded-postgres/account.ts';
import type { TestDatabase } from './database.ts';
import { freePort } from './free-port.ts';

const places = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'];

/** The installed pgbouncer. It is not an npm package, so a machine may lack it; tests then skip and say how to get it. */
const pgbouncer = places.find((file) => existsSync(file));
export const noPgbouncer =
  pgbouncer === undefined && 'pgbouncer is not installed (apt-get install pgbouncer); this test needs the real one';

/** A real pgbouncer on the loopback in front of a test database. */
export async function startPgbouncer(
  database: TestDatabase,
  poolMode: 'session' | 'transaction',
  poolSize = 40,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const { host, user, database: name } = database.connection;
  const account = await chooseAccount();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bouncer-'));
  if (account.kind === 'user') await chown(folder, account.uid, account.gid);
  const port = await freePort();
  const file = path.join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
${name} = host=${host} port=5432 dbname=${name} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
default_pool_size = ${poolSize}
max_client_conn = 200
`,
    { mode: 0o644 },
  );
  const call = invocation(account, pgbouncer ?? '', ['-q', file]);
  const child = spawn(call.file, call.args, { ...call.options, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const url = `postgres://${user}@127.0.0.1:${port}/${name}`;
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${said}`);
    const client = new pg.Client(url);
    client.on('error', () => {});
    if (
      await client.connect().then(
        () => true,
        () => false,
      )
    ) {
      await client.end();
      return { url, stop };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
