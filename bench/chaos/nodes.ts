import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const main = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts');

/** One `innbound serve`, started again when it is killed. */
export class NodeProcess {
  readonly #workspace: string;
  readonly #databaseUrl: string;
  #child: ChildProcess | undefined;
  #url: string | undefined;
  #isWanted = true;

  constructor(workspace: string, databaseUrl: string) {
    this.#workspace = workspace;
    this.#databaseUrl = databaseUrl;
    this.#start();
  }

  /** Undefined until it is ready. */
  get url(): string | undefined {
    return this.#url;
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  async freeze(ms: number): Promise<void> {
    const child = this.#child;
    child?.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ms));
    child?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const killed = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await once(child, 'exit');
    clearTimeout(killed);
  }

  #start(): void {
    const args = [
      '--disable-warning=ExperimentalWarning',
      main,
      'serve',
      '--workspace',
      this.#workspace,
      '--port',
      '0',
    ];
    const env = {
      ...process.env,
      DATABASE_URL: this.#databaseUrl,
      INNBOUND_ALLOW_PRIVATE_NETWORK: '1',
      INNBOUND_LOG_LEVEL: 'fatal',
    };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    let text = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-10_000);
      this.#url ??= /innbound is ready on (http:\/\/\S+)/.exec(text)?.[1];
    });
    child.once('exit', () => {
      this.#url = undefined;
      if (this.#isWanted) setTimeout(() => this.#isWanted && this.#start(), 500);
    });
  }
}
