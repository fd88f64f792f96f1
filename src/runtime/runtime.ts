import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { casesText } from '../api/routes/documents.ts';
import { DirectLeases } from '../deliver/direct-leases.ts';
import type { CheckResult } from '../documents/check.ts';
import { openSecret } from '../documents/keyring.ts';
import type { LoadedDocuments } from '../documents/kinds.ts';
import { loadWorkspace } from '../documents/load.ts';
import type { Mistake } from '../documents/mistake.ts';
import { type Resolved, resolveSecrets, type SecretSources } from '../documents/resolve-secrets.ts';
import { secretFiles } from '../documents/secret-files.ts';
import { findHolder } from '../embedded-postgres/membership.ts';
import { openPrivatePostgres, type PrivatePostgres } from '../embedded-postgres/open.ts';
import { errors, InnboundError } from '../errors.ts';
import type { Clock, Timers } from '../kit/clock.ts';
import { systemClock } from '../kit/clock.ts';
import type { Keyring } from '../kit/crypto.ts';
import { Heartbeats } from '../kit/heartbeats.ts';
import { type Http, openHttp } from '../kit/http.ts';
import { type Log, openLog } from '../kit/log.ts';
import { type Offload, openOffload } from '../kit/offload.ts';
import { Serial } from '../kit/serial.ts';
import { openSpool, type Spool } from '../kit/spool.ts';
import { openTracer, type Tracer } from '../kit/trace.ts';
import { version } from '../kit/version.ts';
import { Wake } from '../kit/wake.ts';
import { casesBrokenBy } from '../operations/mapping-cases.ts';
import { suppression } from '../privacy/suppress.ts';
import { type DatabaseClock, openDatabaseClock } from '../store/db/database-clock.ts';
import { migrate } from '../store/db/migrate.ts';
import { openPool, type Pool } from '../store/db/pool.ts';
import { refuseTransactionPooling } from '../store/db/pooling.ts';
import { openSignals, type Signals, sendSignals } from '../store/db/signals.ts';
import { hasDocuments } from '../store/documents/documents.ts';
import { getSecret } from '../store/documents/secrets.ts';
import { resealRenewals } from '../store/runs/partner-tokens.ts';
import type { Active } from './active.ts';
import { openActiveDocuments } from './active-documents.ts';
import { compileCheck } from './compile-check.ts';
import { sealStored, type TakenUp, takeUpWorkspace } from './in-force.ts';
import { type Keys, openKeys } from './keys.ts';
import { openPartnerApis, type PartnerApis } from './partner-apis.ts';
import { openRestoreCheck, type RestoreCheck } from './restore-check.ts';

/** What every process needs, service or command: the store, the documents in force, the key to the secrets. */
export interface Runtime {
  readonly workspaceDir: string;
  readonly node: string;
  /** True for the service of a private server, which allows only one. */
  readonly alone: boolean;
  readonly pool: Pool;
  /** For every time that is compared with another node's or the database's. */
  readonly clock: DatabaseClock;
  readonly log: Log;
  /** Undefined for commands, and for a service without tracing. */
  readonly tracer: Tracer | undefined;
  readonly wake: Wake;
  /** Passes changes directly to the deliveries of this node, or signals all nodes that changes are queued. */
  readonly directLeases: DirectLeases;
  readonly keys: Keys;
  /** Of `keys`: seals and opens stored secrets. */
  readonly keyring: Keyring;
  /** For partners and destinations: public addresses only, unless the settings allow private ones. */
  readonly http: Http;
  readonly allowPrivate: boolean;
  /** Further certificate authorities, in PEM. */
  readonly ca: string | undefined;
  /** Replaces the references to secrets in a part of a document, or reports the missing ones. */
  readonly resolve: <Body>(body: Body) => Promise<Resolved<Body>>;
  /** Which loops of this process make progress. */
  readonly heartbeats: Heartbeats;
  /** Processes texts that people send in a separate thread; see operations/off-thread.ts. */
  readonly offload: Offload;
  /** Takes up a rotated key; see `Keys.refresh`. */
  readonly refreshKeys: (readSource: boolean) => Promise<void>;
  /** Keeps renewed tokens of partners on disk until they are committed. */
  readonly spool: Spool;
  readonly active: () => Active;
  /** Edits of documents on this node. */
  readonly edits: Serial;
  readonly partnerApis: () => Promise<PartnerApis>;
  /** Reloads the documents in force. True if they changed. */
  readonly refresh: () => Promise<boolean>;
  /** Resolves when this process must stop, for example because another service took over the workspace while the server was down. */
  readonly lost: Promise<InnboundError>;
  /** Makes this process stop, with the reason. */
  readonly giveUp: (reason: InnboundError) => void;
  readonly restoreCheck: RestoreCheck;
  readonly close: () => Promise<void>;
}

export interface RuntimeOptions {
  readonly workspaceDir: string;
  readonly purpose: 'service' | 'command';
  /** How other processes see this one, such as `serve on port 4180`. */
  readonly describe: string;
  readonly log?: Log;
  /** Whether to apply the workspace's documents first. Commands do so if no service is running on the workspace. */
  readonly apply?: 'always' | 'when_alone' | 'never';
  /** Environment variables, by default those of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /** The wall clock of this machine, which may be wrong. */
  readonly nodeClock?: Clock & Timers;
  /** A private server that another process keeps running. */
  readonly connection?: PrivatePostgres['connection'];
}

export const shippedConnectorsDir = fileURLToPath(new URL('../../connectors/', import.meta.url));

/** Loads and checks all documents of the workspace's folder. */
export async function readDocuments(workspaceDir: string): Promise<CheckResult> {
  return loadWorkspace(workspaceDir, { shippedConnectorsDir, checks: [compileCheck] });
}

/** As above, but throws an error that lists every mistake. */
export async function readSoundDocuments(workspaceDir: string): Promise<LoadedDocuments> {
  const loaded = await readDocuments(workspaceDir);
  if (loaded.kind === 'ok') return loaded.documents;
  throw invalidDocuments(loaded.mistakes, workspaceDir);
}

export function invalidDocuments(mistakes: readonly Mistake[], workspaceDir: string): InnboundError {
  const places = mistakes.map(
    ({ file, line, column, path: at, message }) => `  ${file}:${line}:${column} ${at}: ${message}`,
  );
  return new InnboundError(
    'documents.invalid',
    `${places.length === 1 ? 'One mistake' : `${places.length} mistakes`} in ${workspaceDir}:\n${places.join('\n')}`,
    { mistakes },
  );
}

const textWorker = {
  script: new URL('../operations/text-worker.ts', import.meta.url),
  deadlineMs: 10_000,
  queue: 32,
  memoryMb: 512,
};

export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { env = process.env } = options;
  const workspaceDir = path.resolve(options.workspaceDir);
  const log = options.log ?? openLog('silent');
  const wake = new Wake();
  const url = env.DATABASE_URL;
  // Refuses a workspace with mistakes before anything is started for it.
  if (options.apply === 'always') await readSoundDocuments(workspaceDir);
  const server: PrivatePostgres | undefined =
    url || options.connection
      ? undefined
      : await openPrivatePostgres(workspaceDir, { purpose: options.purpose, describe: options.describe });
  const pool = openPool({
    connection: server?.connection ?? options.connection ?? { connectionString: url },
    applicationName: `innbound ${options.purpose} ${process.pid}`,
    maxConnections: options.purpose === 'service' ? 24 : 6,
    // Commands such as an export may have long statements, and a person watches them.
    ...(options.purpose === 'command' && { statementMs: 600_000 }),
    onError: (error) => log.warn({ error: error.message }, 'store: lost a database connection, opening a new one'),
  });
  const offload = openOffload(textWorker);
  const lost = Promise.withResolvers<InnboundError>();
  server?.onLost((event) => {
    if (event.kind === 'lost') log.warn({}, 'store: the private PostgreSQL stopped, restarting it');
    else if (event.kind === 'back')
      log.warn({ after_ms: event.afterMs }, 'store: the private PostgreSQL is running again');
    else if (event.kind === 'failed')
      log.error({ error: event.error.message }, 'store: restarting the private PostgreSQL failed, trying again');
    else lost.resolve(event.error);
  });
  let signals: Signals | undefined;
  let http: Http | undefined;
  let clock: DatabaseClock | undefined;
  let tracer: Tracer | undefined;
  const close = async (): Promise<void> => {
    clock?.stop();
    await signals?.close();
    await tracer?.close();
    await http?.close();
    await offload.close();
    await pool.end();
    await server?.release();
  };
  try {
    if (server === undefined) await refuseTransactionPooling(pool);
    await migrate(pool);
    const keys = await openKeys(pool, workspaceDir, env);
    const { ring: keyring, hashKeys } = keys;
    if (options.purpose === 'service') await sealStored({ pool, keyring, keys, workspaceDir });
    clock = await openDatabaseClock(pool, options.nodeClock, (error) =>
      log.warn({ error: (error as Error).message }, 'store: cannot compare the clock with the database now'),
    );
    const restoreCheck = await openRestoreCheck(pool, workspaceDir, log);
    if (await shouldApply(options, pool, server)) {
      const loaded = await readSoundDocuments(workspaceDir);
      const taken = await takeUpWorkspace({ pool, keyring, keys, workspaceDir }, loaded, options.describe, (changed) =>
        casesBrokenBy({ pool, offload }, changed),
      );
      reportTakeUp(taken, options.purpose, log);
    }
    const { active, refresh } = await openActiveDocuments(pool, restoreCheck.epoch, suppression(hashKeys));
    const alone = server !== undefined && options.purpose === 'service';
    signals = options.purpose === 'service' ? await openSignals(pool, wake, { alone }) : sendSignals(pool, wake);
    const sources: SecretSources = {
      env,
      readFile: secretFiles(workspaceDir, env),
      secret: async (name) => {
        // The service's own secrets, such as the key of sessions: no document may use them.
        if (name.startsWith('innbound.')) return undefined;
        const sealed = await getSecret(pool, name);
        return sealed && openSecret(keyring, name, sealed);
      },
    };
    const spool = openSpool(path.join(workspaceDir, '.innbound', 'spool'));
    const resolve: Runtime['resolve'] = (body) => resolveSecrets(body, sources);
    const resolvedNetwork = await resolve(active().settings.network);
    if (resolvedNetwork.kind === 'missing') {
      const places = resolvedNetwork.missing
        .map(({ path: at, reference }) => `${reference} (network.${at})`)
        .join(', ');
      throw new InnboundError('documents.secret_missing', `innbound.yaml needs ${places}.`);
    }
    const network = resolvedNetwork.body;
    const allowPrivate = network.allow_private || env.INNBOUND_ALLOW_PRIVATE_NETWORK === '1';
    const ca = network.ca === undefined ? undefined : await readFile(path.resolve(workspaceDir, network.ca), 'utf8');
    http = openHttp({
      allowPrivate,
      userAgent: `innbound/${version}`,
      ...(network.proxy !== undefined && { proxy: network.proxy, proxyResolves: network.proxy_resolves }),
      ...(ca !== undefined && { ca }),
    });
    const node = `${hostname()}:${process.pid}`;
    if (options.purpose === 'service') tracer = await openTracer(env, node, log);
    return {
      workspaceDir,
      keys,
      keyring,
      http,
      allowPrivate,
      ca,
      resolve,
      partnerApis: openPartnerApis(active, resolve),
      node,
      tracer,
      alone,
      pool,
      clock,
      log,
      wake,
      directLeases: new DirectLeases(() => wake.signal('outbox')),
      lost: lost.promise,
      giveUp: lost.resolve,
      heartbeats: new Heartbeats(systemClock),
      edits: new Serial(),
      offload,
      active,
      refresh: async () => {
        const changed = await refresh();
        if (changed) wake.arrived('schedules');
        return changed;
      },
      restoreCheck,
      spool,
      refreshKeys: async (readSource) => {
        const { id } = keyring[0];
        await keys.refresh(readSource);
        if (keyring[0].id !== id) resealRenewals(spool, keyring);
      },
      close: async () => {
        await restoreCheck.check().catch(() => {});
        await close();
      },
    };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/**
 * A service whose files would change a kept sample keeps the documents in force and goes on: to refuse the start would also stop the
 * intake. A command fails, because the person who changed the file is there.
 */
function reportTakeUp(taken: TakenUp, purpose: RuntimeOptions['purpose'], log: Log): void {
  if (taken.kind === 'taken') {
    if (taken.behind.length === 0) return;
    log.warn(
      { files: taken.behind },
      'documents: these files are older than the documents in force; run `apply` to restore them',
    );
    return;
  }
  const code = 'documents.case_changed';
  const cases = casesText(taken.cases);
  if (purpose === 'command') throw new InnboundError(code, `${cases}. The documents in force did not change.`);
  log.error({ code, cases, next: errors[code].next }, 'documents: no file was taken up, the documents in force stay');
}

/** With a running service, its documents in force count. Without one, the files count, as they would for `serve`. */
async function shouldApply(options: RuntimeOptions, pool: Pool, server: PrivatePostgres | undefined): Promise<boolean> {
  if (options.apply === 'always') return true;
  if (options.apply === 'never') return false;
  if (server && (await findHolder(pool)) === undefined) return true;
  // Waits for a service that is just starting to apply its documents.
  for (let waits = 0; server && waits < 100; waits++) {
    if ((await hasDocuments(pool)) || (await findHolder(pool)) === undefined) break;
    await delay(100);
  }
  return !(await hasDocuments(pool));
}
