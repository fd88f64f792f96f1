import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DirectLeases } from '../deliver/direct-leases.ts';
import { openSecret, workspaceKeyring } from '../documents/keyring.ts';
import type { LoadedDocuments } from '../documents/kinds.ts';
import { loadWorkspace } from '../documents/load.ts';
import type { Mistake } from '../documents/mistake.ts';
import { type Resolved, resolveSecrets, type SecretSources } from '../documents/resolve-secrets.ts';
import { findHolder } from '../embedded-postgres/membership.ts';
import { openPrivatePostgres, type PrivatePostgres } from '../embedded-postgres/open.ts';
import { InnboundError } from '../errors.ts';
import { type Keyring, open, seal } from '../kit/crypto.ts';
import { type Http, openHttp } from '../kit/http.ts';
import { type Log, openLog } from '../kit/log.ts';
import { version } from '../kit/version.ts';
import { Wake } from '../kit/wake.ts';
import { suppression } from '../privacy/suppress.ts';
import { migrate } from '../store/db/migrate.ts';
import { openPool, type Pool } from '../store/db/pool.ts';
import { openSignals, type Signals, sendSignals } from '../store/db/signals.ts';
import { currentDocuments } from '../store/documents/documents.ts';
import { firstSecret, getSecret } from '../store/documents/secrets.ts';
import { type Active, activate, compileCheck } from './active.ts';
import { takeUpWorkspace } from './in-force.ts';
import { openPartnerApis, type PartnerApis } from './partner-apis.ts';

/** What every process stands on, a service as well as a command: the store, the documents in force, the key to the secrets. */
export interface Runtime {
  readonly workspaceDir: string;
  readonly node: string;
  /** The one service of a private server, which lets in no other. */
  readonly alone: boolean;
  readonly pool: Pool;
  readonly log: Log;
  readonly wake: Wake;
  /** Takes changes to the deliveries of this node, or tells the nodes that some wait. */
  readonly directLeases: DirectLeases;
  readonly keyring: Keyring;
  /** For partners and destinations: public addresses only, unless the settings allow others. */
  readonly http: Http;
  readonly allowPrivate: boolean;
  /** A part of a document with its references to secrets replaced, or what is missing. */
  readonly resolve: <Body>(body: Body) => Promise<Resolved<Body>>;
  readonly active: () => Active;
  readonly partnerApis: () => Promise<PartnerApis>;
  /** Reads the documents in force anew; true when they changed. */
  readonly refresh: () => Promise<boolean>;
  /** Resolves when this process may no longer work here, such as when another service took the workspace while the server was away. */
  readonly lost: Promise<InnboundError>;
  /** Says why. */
  readonly giveUp: (reason: InnboundError) => void;
  readonly close: () => Promise<void>;
}

export interface RuntimeOptions {
  readonly workspaceDir: string;
  readonly purpose: 'service' | 'command';
  /** What others are told of this process, such as `serve on port 4180`. */
  readonly describe: string;
  readonly log?: Log;
  /** Apply the workspace's documents first. Commands do so by themselves where no service runs on the workspace. */
  readonly apply?: 'always' | 'when_alone' | 'never';
}

export const shippedConnectorsDir = fileURLToPath(new URL('../../connectors/', import.meta.url));

/** The workspace as it is on disk, checked whole. */
export async function readDocuments(
  workspaceDir: string,
): Promise<{ kind: 'ok'; documents: LoadedDocuments } | { kind: 'invalid'; mistakes: readonly Mistake[] }> {
  return loadWorkspace(workspaceDir, { shippedConnectorsDir, checks: [compileCheck] });
}

/** As above, or an error that lists every mistake. */
export async function readSoundDocuments(workspaceDir: string): Promise<LoadedDocuments> {
  const loaded = await readDocuments(workspaceDir);
  if (loaded.kind === 'ok') return loaded.documents;
  const places = loaded.mistakes.map(
    ({ file, line, column, path: at, message }) => `  ${file}:${line}:${column} ${at}: ${message}`,
  );
  throw new InnboundError(
    'documents.invalid',
    `${places.length === 1 ? 'One mistake' : `${places.length} mistakes`} in ${workspaceDir}:\n${places.join('\n')}`,
    { mistakes: loaded.mistakes },
  );
}

export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const workspaceDir = path.resolve(options.workspaceDir);
  const log = options.log ?? openLog('silent');
  const wake = new Wake();
  const url = process.env.DATABASE_URL;
  // A workspace with mistakes is refused before anything is started for it.
  if (options.apply === 'always') await readSoundDocuments(workspaceDir);
  const server: PrivatePostgres | undefined = url
    ? undefined
    : await openPrivatePostgres(workspaceDir, { purpose: options.purpose, describe: options.describe });
  const pool = openPool({
    connection: server ? server.connection : { connectionString: url },
    applicationName: `innbound ${options.purpose} ${process.pid}`,
    maxConnections: options.purpose === 'service' ? 24 : 6,
    onError: (error) => log.warn({ error: error.message }, 'a database connection was lost; it is replaced'),
  });
  const lost = Promise.withResolvers<InnboundError>();
  server?.onLost((event) => {
    if (event.kind === 'lost') log.warn({}, 'store: the private PostgreSQL went away; it is brought back');
    else if (event.kind === 'back') log.warn({ after_ms: event.afterMs }, 'store: the private PostgreSQL is back');
    else if (event.kind === 'failed')
      log.error({ error: event.error.message }, 'store: the private PostgreSQL cannot be brought back so far');
    else lost.resolve(event.error);
  });
  let signals: Signals | undefined;
  let http: Http | undefined;
  const close = async (): Promise<void> => {
    await signals?.close();
    await http?.close();
    await pool.end();
    await server?.release();
  };
  try {
    const keyring = await workspaceKeyring(workspaceDir, process.env);
    await migrate(pool);
    await checkKey(pool, keyring);
    if (await shouldApply(options, pool, server)) {
      const loaded = await readSoundDocuments(workspaceDir);
      const behind = await takeUpWorkspace({ pool, keyring, workspaceDir }, loaded, options.describe);
      if (behind.length > 0) {
        log.warn(
          { files: behind },
          'documents: these files are older than what is in force; `apply` would put them back',
        );
      }
    }
    let active = activate(await currentDocuments(pool), undefined, suppression(keyring));
    const alone = server !== undefined && options.purpose === 'service';
    signals = options.purpose === 'service' ? await openSignals(pool, wake, { alone }) : sendSignals(pool, wake);
    const { network } = active.settings;
    const allowPrivate = network.allow_private || process.env.INNBOUND_ALLOW_PRIVATE_NETWORK === '1';
    http = openHttp({
      allowPrivate,
      userAgent: `innbound/${version}`,
      ...(network.proxy !== undefined && { proxy: network.proxy, proxyResolves: network.proxy_resolves }),
      ...(network.ca !== undefined && { ca: await readFile(path.resolve(workspaceDir, network.ca), 'utf8') }),
    });
    const sources: SecretSources = {
      env: process.env,
      readFile: (file) => readFile(path.resolve(workspaceDir, file), 'utf8').catch(() => undefined),
      secret: async (name) => {
        const sealed = await getSecret(pool, name);
        return sealed && openSecret(keyring, name, sealed);
      },
    };
    const resolve: Runtime['resolve'] = (body) => resolveSecrets(body, sources);
    return {
      workspaceDir,
      keyring,
      http,
      allowPrivate,
      resolve,
      partnerApis: openPartnerApis(() => active, resolve),
      node: `${hostname()}:${process.pid}`,
      alone,
      pool,
      log,
      wake,
      directLeases: new DirectLeases(() => wake.signal('outbox')),
      lost: lost.promise,
      giveUp: lost.resolve,
      active: () => active,
      refresh: async () => {
        const before = active;
        active = activate(await currentDocuments(pool), before);
        return active !== before;
      },
      close,
    };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/** The first process leaves a mark sealed with its key; one that cannot open it would take every stored secret for damaged. */
async function checkKey(pool: Pool, keyring: Keyring): Promise<void> {
  const name = 'innbound.key';
  const mark = await firstSecret(pool, name, seal(keyring, 'mark', name));
  if (open(keyring, mark, name).kind !== 'ok') {
    throw new InnboundError('store.other_key', 'This workspace’s key does not open what is sealed in the database.');
  }
}

/** Beside a running service, what it has in force is the truth; alone, the files are, as they would be for `serve`. */
async function shouldApply(options: RuntimeOptions, pool: Pool, server: PrivatePostgres | undefined): Promise<boolean> {
  if (options.apply === 'always') return true;
  if (options.apply === 'never') return false;
  if (server && (await findHolder(pool)) === undefined) return true;
  // A service that is just starting applies in a moment; its first word on the documents is waited for.
  for (let waits = 0; server && waits < 100; waits++) {
    if ((await currentDocuments(pool)).length > 0 || (await findHolder(pool)) === undefined) break;
    await delay(100);
  }
  return (await currentDocuments(pool)).length === 0;
}
