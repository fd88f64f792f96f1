import { hostname } from 'node:os';
import path from 'node:path';
import { type Active, activate, withChanges } from '../core/brand/active.ts';
import type { Broken } from '../core/brand/brand.ts';
import { Handover } from '../core/deliver/handover.ts';
import { DeliveryTally } from '../core/deliver/settle.ts';
import { openSecret } from '../core/documents/keyring.ts';
import { type Resolve, resolveSecrets, type SecretSources, secretFiles } from '../core/documents/secret-reference.ts';
import type { ErasurePort } from '../core/reconcile/erasure-port.ts';
import { type DatabaseClock, openDatabaseClock } from '../core/store/db/database-clock.ts';
import { migrate } from '../core/store/db/migrate.ts';
import { openPool, type Pool } from '../core/store/db/pool.ts';
import { refuseTransactionPooling } from '../core/store/db/pooling.ts';
import { openSignals, sendSignals } from '../core/store/db/signals.ts';
import { currentDocuments, documentsChangedSince, documentsPosition } from '../core/store/documents/documents.ts';
import { getSecret } from '../core/store/documents/secrets.ts';
import { resealRenewals } from '../core/store/runs/partner-tokens.ts';
import { InnboundError } from '../errors.ts';
import { systemClock } from '../kit/clock.ts';
import type { Keyring } from '../kit/crypto.ts';
import { errorFacts, type Log, openLog } from '../kit/log.ts';
import { Heartbeats, Wake } from '../kit/loop.ts';
import { type Offload, openOffload } from '../kit/offload.ts';
import { openTracer } from '../kit/open-tracer.ts';
import { Serial } from '../kit/serial.ts';
import { openSpool, type Spool } from '../kit/spool.ts';
import type { Tracer } from '../kit/trace.ts';
import { openPrivatePostgres, type PrivatePostgres } from '../operator/embedded-postgres/open.ts';
import { suppression } from '../operator/privacy/suppress.ts';
import { addTally } from '../operator/store/activity.ts';
import { applyAtStart, type CasesBrokenBy } from './apply-at-start.ts';
import { type Keys, openKeys } from './keys.ts';
import { openLeftOut } from './left-out.ts';
import { closedNetwork, type Network, openNetwork } from './network.ts';
import type { RuntimeOptions } from './options.ts';
import { openPartnerApis, type PartnerApis } from './partner-apis.ts';
import { openRestoreCheck, type RestoreCheck } from './restore-check.ts';

/** What every process needs, service or command: the store, the documents in force, the key to the secrets. */
export interface Runtime extends Network {
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
  /** Called after the commit of changes: the deliveries of this process claim them at once, and other nodes wake. */
  readonly handover: Handover;
  /** What this process delivered and has not added to the activity yet. */
  readonly tally: DeliveryTally;
  readonly keys: Keys;
  /** Of `keys`: seals and opens stored secrets. */
  readonly keyring: Keyring;
  /** Replaces the references to secrets in a part of a document, or reports the missing ones. */
  readonly resolve: Resolve;
  /** Which loops of this process make progress. */
  readonly heartbeats: Heartbeats;
  /** Parses input from people in a separate thread; see operations/off-thread.ts. */
  readonly offload: Offload;
  /** The same for sandboxes, which anybody with the address may use: they never hold up a person who signed in. */
  readonly sandboxOffload: Offload;
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
  /** Documents that this node could not take up when it started. */
  readonly leftOut: () => Promise<readonly Broken[]>;
  readonly close: () => Promise<void>;
}

/** The work on texts that people send, which knows the use cases. */
interface TextWork {
  /** Runs in worker threads. */
  readonly worker: Parameters<typeof openOffload>[0];
  readonly casesBrokenBy: CasesBrokenBy;
}

export async function assembleRuntime(options: RuntimeOptions, texts: TextWork): Promise<Runtime> {
  const opened = new AsyncDisposableStack();
  try {
    return await openInto(opened, options, texts);
  } catch (error) {
    await opened.disposeAsync().catch(() => {});
    throw error;
  }
}

/** What is opened is closed in reverse order. */
async function openInto(opened: AsyncDisposableStack, options: RuntimeOptions, texts: TextWork): Promise<Runtime> {
  const { env = process.env, log = openLog('silent'), purpose } = options;
  const workspaceDir = path.resolve(options.workspaceDir);
  const lost = Promise.withResolvers<InnboundError>();
  const { pool, server } = await openDatabase(opened, { ...options, workspaceDir, env, log }, lost.resolve);
  const [offload, sandboxOffload] = [openOffload(texts.worker), openOffload(texts.worker)];
  opened.defer(() => offload.close());
  opened.defer(() => sandboxOffload.close());
  if (server === undefined) await refuseTransactionPooling(pool);
  await options.before?.(pool);
  await migrate(pool);
  const keys = await openKeys(pool, workspaceDir, env);
  const { ring: keyring, hashKeys } = keys;
  const resolve = secretResolver(pool, keyring, { workspaceDir, env });
  const documents = { pool, keyring, keys, resolve, workspaceDir, log };
  const clock = await openDatabaseClock(pool, options.nodeClock, (error) =>
    log.warn({ error: errorFacts(error) }, 'store: cannot compare the clock with the database now'),
  );
  opened.defer(() => clock.stop());
  const restoreCheck = await openRestoreCheck(pool, workspaceDir, log);
  const context = { ...documents, offload, hasPrivateServer: server !== undefined };
  const mistakes = await applyAtStart(context, options, texts.casesBrokenBy);
  const leftOut = await openLeftOut(workspaceDir, mistakes, log);
  const { active, refresh } = await openActiveDocuments(pool, restoreCheck.epoch, suppression(hashKeys));
  const wake = new Wake();
  const handover = new Handover(() => wake.signalOthers('outbox'));
  const tally = new DeliveryTally();
  const alone = server !== undefined && purpose === 'service';
  const signals = purpose === 'service' ? await openSignals(pool, wake, { alone }) : sendSignals(pool, wake);
  opened.defer(() => signals.close());
  const network = await openNetwork(active().settings.network, resolve, { workspaceDir, env }).catch(
    (error: unknown) => {
      if (!(error instanceof InnboundError) || purpose === 'command') throw error;
      leftOut.add({ document: 'workspace innbound', message: `nothing is sent from this node: ${error.message}` });
      return closedNetwork(error.message.replace(/\.$/, ''));
    },
  );
  opened.defer(() => network.http.close());
  const node = `${hostname()}:${process.pid}`;
  const tracer = purpose === 'service' ? await openTracer(env, node, log) : undefined;
  opened.defer(() => tracer?.close());
  const spool = openSpool(path.join(workspaceDir, '.innbound', 'spool'));
  return {
    workspaceDir,
    keys,
    keyring,
    ...network,
    resolve,
    partnerApis: openPartnerApis(active, resolve),
    node,
    tracer,
    alone,
    pool,
    clock,
    log,
    wake,
    handover,
    lost: lost.promise,
    giveUp: lost.resolve,
    heartbeats: new Heartbeats(systemClock),
    edits: new Serial(),
    offload,
    sandboxOffload,
    active,
    refresh: async () => {
      const changed = await refresh();
      if (changed) wake.arrived('schedules');
      return changed;
    },
    restoreCheck,
    leftOut: leftOut.now,
    spool,
    refreshKeys: async (readSource) => {
      const { id } = keyring[0];
      await keys.refresh(readSource);
      if (keyring[0].id !== id) resealRenewals(spool, keyring);
    },
    tally,
    close: async () => {
      await addTally(pool, tally, Number.POSITIVE_INFINITY).catch(() => {});
      await restoreCheck.check().catch(() => {});
      await opened.disposeAsync();
    },
  };
}

/** The database that the options name; otherwise the workspace's private server. */
async function openDatabase(
  opened: AsyncDisposableStack,
  { env, log, purpose, describe, workspaceDir }: RuntimeOptions & Required<Pick<RuntimeOptions, 'env' | 'log'>>,
  onLost: (reason: InnboundError) => void,
): Promise<{ readonly pool: Pool; readonly server: PrivatePostgres | undefined }> {
  const url = env.DATABASE_URL;
  const server = url ? undefined : await openPrivatePostgres(workspaceDir, { purpose, describe });
  opened.defer(() => server?.release());
  server?.onLost((event) => {
    if (event.kind === 'lost') log.warn({}, 'store: the private PostgreSQL stopped, restarting it');
    else if (event.kind === 'back')
      log.warn({ after_ms: event.afterMs }, 'store: the private PostgreSQL is running again');
    else if (event.kind === 'failed')
      log.error({ error: event.error.message }, 'store: restarting the private PostgreSQL failed, trying again');
    else onLost(event.error);
  });
  const pool = openPool({
    connection: server?.connection ?? { connectionString: url },
    applicationName: `innbound ${purpose} ${process.pid}`,
    // Each of PostgreSQL's processes holds 8 MB of its own under load.
    maxConnections: purpose === 'service' ? 16 : 6,
    // Commands such as an export may have long statements, and a person watches them.
    ...(purpose === 'command' && { statementMs: 600_000 }),
    onError: (error) => log.warn({ error: errorFacts(error) }, 'store: lost a database connection, opening a new one'),
  });
  opened.defer(() => pool.end());
  return { pool, server };
}

function secretResolver(
  pool: Pool,
  keyring: Keyring,
  { workspaceDir, env }: { readonly workspaceDir: string; readonly env: NodeJS.ProcessEnv },
): Runtime['resolve'] {
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
  return (body) => resolveSecrets(body, sources);
}

/**
 * The documents in force on this node, and how it takes up what other processes changed. `epoch` rises when the database was restored: then
 * everything is read again.
 */
export async function openActiveDocuments(pool: Pool, epoch: () => number, erasure: ErasurePort | undefined) {
  const readAll = async () => {
    // The position is read first: what changes in between is read again next time.
    const position = await documentsPosition(pool);
    return { position, epoch: epoch(), active: activate(await currentDocuments(pool), erasure) };
  };
  let inForce = await readAll();

  /** Reads what changed since the last time. True if the documents in force are others now. */
  async function refresh(): Promise<boolean> {
    const before = inForce;
    const position = await documentsPosition(pool);
    if (position < before.position || epoch() !== before.epoch) inForce = await readAll();
    else if (position > before.position) {
      const changes = await documentsChangedSince(pool, before.position);
      inForce = { ...before, position: changes.position, active: withChanges(before.active, changes) };
    }
    return inForce.active !== before.active;
  }

  // One at a time, so that the slower of two does not put an older state back.
  const refreshes = new Serial();
  return {
    active: () => inForce.active,
    refresh: () => refreshes.run(refresh),
  };
}
