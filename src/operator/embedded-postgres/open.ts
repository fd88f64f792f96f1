import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { InnboundError } from '../../errors.ts';
import { dataFolder, programs } from './data.ts';
import { applicationName, type Holder, join, leave, type Purpose } from './membership.ts';
import { findPlace, socketFolder } from './place.ts';
import { ensureRole } from './role.ts';
import { type Connection, connect, connectionOf, isAccepting, type Server, stop, sweep } from './server.ts';

export interface PrivateOptions {
  /** One service at a time; any number of commands beside it or without it. */
  readonly purpose: Purpose;
  /** Shown to a second service that is refused, such as `serve on port 4180`. */
  readonly describe: string;
  /** Overrides how root runs the server; by default the machine's abilities decide. */
  readonly asRoot?: 'namespace' | 'nobody';
}

/** The server is restarted while it is in use; these events report that. */
export type ServerEvent =
  /** The server has stopped and is being restarted at the same address. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'back'; readonly afterMs: number }
  /** A restart failed; attempts continue. Reported once per outage. */
  | { readonly kind: 'failed'; readonly error: Error }
  /** Another service took the workspace during the outage: this one must stop. */
  | { readonly kind: 'held'; readonly error: InnboundError };

export interface PrivatePostgres {
  readonly connection: Connection;
  readonly dataDir: string;
  readonly log: string;
  /** Leaves the server, and stops it if no other process uses it. End your pools first. */
  release(): Promise<void>;
  onLost(listener: (event: ServerEvent) => void): void;
}

/**
 * The workspace's private PostgreSQL: created on first use, adopted if it is running, started if not, stopped by the last process that
 * leaves. A second service on the workspace is refused with store.workspace_held.
 */
export async function openPrivatePostgres(workspaceDir: string, options: PrivateOptions): Promise<PrivatePostgres> {
  const place = await findPlace(workspaceDir, options.asRoot);
  const binaries = await programs(place);
  const server: Server = { place, binaries, data: await dataFolder(place, binaries) };
  const stay = new Stay(server, options);
  await stay.begin();
  return {
    connection: connectionOf(await socketFolder(place)),
    dataDir: server.data,
    log: place.log,
    release: () => stay.end(),
    onLost: (listener) => stay.listeners.push(listener),
  };
}

/** A process that joins while the last one stops the server starts again. This many times in a row means a real problem. */
const cutOffsAtMost = 10;

/**
 * One process's use of the server, kept by one session.
 *
 *   begin -> joined -(session lost)-> returning -> joined
 *               |                         |
 *               +---------- end ----------+-> left
 */
class Stay {
  readonly listeners: ((event: ServerEvent) => void)[] = [];
  readonly #server: Server;
  readonly #options: PrivateOptions;
  readonly #name: string;
  #session: pg.Client | undefined;
  #returning: Promise<void> = Promise.resolve();
  readonly #leaving = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(server: Server, options: PrivateOptions) {
    this.#server = server;
    this.#options = options;
    this.#name = applicationName(options.purpose);
  }

  async begin(): Promise<void> {
    for (let cutOffs = 0; ; cutOffs++) {
      const session = await connect(this.#server, this.#name, () => !this.#leaving.signal.aborted);
      try {
        await ensureRole(session);
        const joined = await join(session, this.#options.purpose, this.#options.describe);
        if (joined.kind === 'held') {
          await this.#leave(session);
          throw held(joined.holder);
        }
        // The lock may be free because the last process is stopping the server, which will end our session too.
        if (!(await isAccepting(this.#server))) throw new Error('the server is stopping');
        this.#keep(session);
        return;
      } catch (error) {
        await session.end().catch(() => {});
        if (error instanceof InnboundError) throw error;
        const message = 'The private PostgreSQL was stopped repeatedly while this process was joining it.';
        if (cutOffs === cutOffsAtMost) throw new InnboundError('store.unreachable', message, {}, error);
      }
    }
  }

  end(): Promise<void> {
    this.#leaving.abort();
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    await this.#returning;
    const session = this.#session;
    this.#session = undefined;
    await (session === undefined ? sweep(this.#server) : this.#leave(session));
  }

  async #leave(session: pg.Client): Promise<void> {
    holdingProcess(session, true);
    try {
      if (await leave(session)) await stop(this.#server);
    } catch {
      // The server is gone already, and our locks with it.
    } finally {
      await session.end().catch(() => {});
    }
  }

  #keep(session: pg.Client): void {
    this.#session = session;
    // A command that forgets to release can still exit; its locks end with it.
    holdingProcess(session, false);
    session.once('end', () => {
      if (this.#session !== session) return;
      this.#session = undefined;
      this.#returning = this.#return();
    });
  }

  async #return(): Promise<void> {
    const lostAt = performance.now();
    this.#report({ kind: 'lost' });
    for (let failures = 0; !this.#leaving.signal.aborted; failures++) {
      try {
        await this.begin();
        this.#report({ kind: 'back', afterMs: Math.round(performance.now() - lostAt) });
        return;
      } catch (error) {
        if (this.#leaving.signal.aborted) return;
        if (error instanceof InnboundError && error.code === 'store.workspace_held') {
          this.#report({ kind: 'held', error });
          return;
        }
        if (failures === 0) this.#report({ kind: 'failed', error: error as Error });
        const pauseMs = Math.min(5_000, 100 * 2 ** failures);
        await delay(pauseMs, undefined, { signal: this.#leaving.signal, ref: false }).catch(() => {});
      }
    }
  }

  #report(event: ServerEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

function held(holder: Holder): InnboundError {
  const { pid, host, since, describe } = holder;
  return new InnboundError(
    'store.workspace_held',
    `Another service runs on this workspace: ${describe}, process ${pid} on ${host}, since ${since}.`,
    { ...holder },
  );
}

/** Decides whether the open session keeps the process alive. pg has both methods, but not in its types. */
function holdingProcess(session: pg.Client, holding: boolean): void {
  const socket = session as unknown as { ref(): void; unref(): void };
  if (holding) socket.ref();
  else socket.unref();
}
