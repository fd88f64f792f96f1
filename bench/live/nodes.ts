import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const ownProgram = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts');

export interface NodeOptions {
  readonly workspace: string;
  readonly databaseUrl: string;
  /** `src/main.ts` of the version to run; this tree's by default. */
  readonly program?: string;
  readonly role?: 'all' | 'web' | 'worker';
  /** Seconds in which a stopping web node still accepts events. */
  readonly grace?: number;
  /** Whether it is started again when it ends; it is by default. */
  readonly restarts?: boolean;
}

/** One `innbound serve`. */
export class NodeProcess {
  readonly role: 'all' | 'web' | 'worker';
  readonly #options: NodeOptions;
  readonly #pids = new Set<number>();
  #child: ChildProcess | undefined;
  #url: string | undefined;
  #isWanted = true;
  #text = '';
  #endedAtMs: number | undefined;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.role = options.role ?? 'all';
    this.#start();
  }

  /** Undefined until it is ready. */
  get url(): string | undefined {
    return this.#url;
  }

  /** The nodes of a table name themselves by host and process. */
  get pids(): ReadonlySet<number> {
    return this.#pids;
  }

  get isRunning(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** When it last ended. */
  get endedAtMs(): number | undefined {
    return this.#endedAtMs;
  }

  /** The last part of its standard error. */
  get said(): string {
    return this.#text;
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  async freeze(ms: number): Promise<void> {
    const child = this.#child;
    child?.kill('SIGSTOP');
    await delay(ms);
    child?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === undefined || !this.isRunning) return;
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const killed = setTimeout(() => child.kill('SIGKILL'), 30_000);
    await once(child, 'exit');
    clearTimeout(killed);
  }

  #start(): void {
    const { workspace, databaseUrl, program = ownProgram, grace, restarts = true } = this.#options;
    const args = ['--disable-warning=ExperimentalWarning', program, 'serve', '--workspace', workspace, '--port', '0'];
    args.push('--role', this.role, ...(grace === undefined ? [] : ['--grace', String(grace)]));
    const child = spawn(process.execPath, args, { env: nodeEnv(databaseUrl), stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    if (child.pid !== undefined) this.#pids.add(child.pid);
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#text = (this.#text + chunk.toString()).slice(-10_000);
      this.#url ??= /innbound is ready on (http:\/\/\S+)/.exec(this.#text)?.[1];
    });
    child.once('exit', () => {
      this.#url = undefined;
      this.#endedAtMs = Date.now();
      if (!restarts) return;
      this.#text = '';
      if (this.#isWanted) setTimeout(() => this.#isWanted && this.#start(), 500);
    });
  }
}

export function nodeEnv(databaseUrl: string): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return {
    ...env,
    DATABASE_URL: databaseUrl,
    INNBOUND_ALLOW_PRIVATE_NETWORK: '1',
    INNBOUND_LOG_LEVEL: 'fatal',
  };
}

export async function ready(nodes: readonly NodeProcess[]): Promise<void> {
  for (let i = 0; i < 1_200 && nodes.some(({ url }) => url === undefined); i++) {
    const ended = nodes.find(({ url, isRunning, said }) => url === undefined && !isRunning && said !== '');
    if (ended) throw new Error(`a node did not start: ${ended.said.slice(-2_000)}`);
    await delay(100);
  }
  if (nodes.some(({ url }) => url === undefined)) throw new Error('a node did not start');
}
