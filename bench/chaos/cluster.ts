import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { chown, cp, mkdir, open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { type Account, chooseAccount, invocation, programEnv } from '../../src/operator/embedded-postgres/account.ts';
import { type Binaries, findBinaries, publicCopy } from '../../src/operator/embedded-postgres/binaries.ts';
import { createCluster, databaseName, superuser } from '../../src/operator/embedded-postgres/cluster.ts';
import { freePort } from '../../test/support/free-port.ts';

interface Server {
  readonly port: number;
  readonly data: string;
  process?: ChildProcess;
  /** Started again when it ends. */
  isKept: boolean;
}

/**
 * PostgreSQL as a primary and a synchronous standby, on loopback ports: a commit is answered when both have it. The standby is a
 * copy of the stopped primary, since the package has no pg_basebackup.
 */
export class Cluster {
  readonly primary: Server;
  readonly standby: Server;
  readonly #binaries: Binaries;
  readonly #account: Account;
  readonly #folder: string;
  readonly #isOwnDisk: boolean;
  #current: Server;

  private constructor(
    binaries: Binaries,
    account: Account,
    folder: string,
    ports: [number, number],
    isOwnDisk: boolean,
  ) {
    this.#binaries = binaries;
    this.#account = account;
    this.#folder = folder;
    this.#isOwnDisk = isOwnDisk;
    const [primary, standby] = ports;
    this.primary = { port: primary, data: path.join(folder, 'primary'), isKept: true };
    this.standby = { port: standby, data: path.join(folder, 'standby'), isKept: true };
    this.#current = this.primary;
  }

  static async open(parent: string): Promise<Cluster> {
    const account = await chooseAccount();
    const folder = path.join(parent, 'cluster');
    await mkdir(folder);
    const isOwnDisk = mounted(folder);
    if (account.kind === 'user') await chown(folder, account.uid, account.gid);
    const found = await findBinaries(path.join(parent, 'lib'));
    const binaries = account.kind === 'user' ? await publicCopy(found, parent) : found;
    const cluster = new Cluster(binaries, account, folder, [await freePort(), await freePort()], isOwnDisk);
    try {
      await cluster.#create();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  /** Filling the disk needs a separate one. */
  get canFillDisk(): boolean {
    return this.#isOwnDisk;
  }

  get hasStandby(): boolean {
    return this.#current === this.primary;
  }

  /** Straight to the server that accepts writes. */
  get connection(): pg.PoolConfig {
    return { host: '127.0.0.1', port: this.#current.port, user: superuser, database: databaseName, ssl: false };
  }

  /** Immediate stop, without a checkpoint. It is started again and recovers. */
  async crash(): Promise<void> {
    const { process: running } = this.#current;
    if (running?.pid === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, 'exit');
    running.kill('SIGQUIT');
    await gone;
  }

  /** The primary is gone for good, and the standby takes over. */
  async failOver(): Promise<void> {
    this.primary.isKept = false;
    await this.crash();
    this.#current = this.standby;
    const client = new pg.Client(this.connection);
    await client.connect();
    await client.query(`alter system set synchronous_standby_names = ''`);
    await client.query('select pg_promote(true, 30)');
    await client.query('select pg_reload_conf()');
    await client.end();
  }

  /** Fills the disk for a time. */
  async fillDisk(ms: number): Promise<void> {
    const ballast = path.join(this.#folder, 'ballast');
    const file = await open(ballast, 'w');
    const block = Buffer.alloc(1_048_576);
    try {
      for (;;) await file.write(block);
    } catch {
      // Full.
    }
    await new Promise((resolve) => setTimeout(resolve, ms));
    await file.close();
    await rm(ballast);
  }

  async close(): Promise<void> {
    for (const server of [this.primary, this.standby]) {
      server.isKept = false;
      if (server.process?.exitCode !== null || server.process.signalCode !== null) continue;
      const gone = once(server.process, 'exit');
      server.process.kill('SIGQUIT');
      await gone;
    }
    if (this.#isOwnDisk) execFileSync('umount', [this.#folder]);
  }

  async #create(): Promise<void> {
    const { primary, standby } = this;
    await createCluster(this.#binaries, this.#account, primary.data, { durable: false });
    await writeFile(path.join(primary.data, 'pg_hba.conf'), hostBasedAccess);
    await cp(primary.data, standby.data, { recursive: true, preserveTimestamps: true });
    await writeFile(path.join(standby.data, 'standby.signal'), '');
    if (this.#account.kind === 'user')
      execFileSync('chown', ['-R', `${this.#account.uid}:${this.#account.gid}`, this.#folder]);
    this.#start(primary);
    await accepts(primary);
    this.#start(standby);
    await accepts(standby);
    const client = new pg.Client(this.connection);
    await client.connect();
    await client.query(`alter system set synchronous_standby_names = '*'`);
    await client.query('select pg_reload_conf()');
    await client.end();
  }

  #start(server: Server): void {
    const { port } = server;
    const upstream = `host=127.0.0.1 port=${this.primary.port} user=${superuser} application_name=standby`;
    const settings: [string, string][] = [
      ['listen_addresses', '127.0.0.1'],
      ['port', String(port)],
      ['unix_socket_directories', ''],
      // The kernel keeps what a killed server wrote, so a crash of the server alone loses nothing without fsync.
      ['fsync', 'off'],
      ['shared_buffers', '32MB'],
      ['max_connections', '120'],
      ['wal_keep_size', '64MB'],
      ['max_wal_size', '64MB'],
      ['primary_conninfo', upstream],
      ['hot_standby', 'on'],
    ];
    const args = ['-D', server.data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const call = invocation(this.#account, this.#binaries.postgres, args);
    const log = openSync(`${server.data}.log`, 'a');
    const child = spawn(call.file, call.args, {
      ...call.options,
      env: programEnv(this.#binaries.loaderEnv),
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    server.process = child;
    child.once('exit', () => {
      if (server.isKept) setTimeout(() => server.isKept && this.#start(server), 300);
    });
  }
}

const hostBasedAccess = 'host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n';

/** Only root may mount; without it the disk is not filled. */
function mounted(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'none', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function accepts({ port, data }: Server): Promise<void> {
  for (let i = 0; i < 300; i++) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: superuser, database: databaseName });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.end();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error(`PostgreSQL did not start: ${readFileSync(`${data}.log`, 'utf8').slice(-2_000)}`);
}
