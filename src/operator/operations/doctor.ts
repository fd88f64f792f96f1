import { lookup as systemLookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { connect as connectPlain, isIP } from 'node:net';
import path from 'node:path';
import { connect as connectTls, rootCertificates, TLSSocket } from 'node:tls';
import { keySource } from '../../core/documents/keyring.ts';
import type { LoadedDocuments } from '../../core/documents/kinds.ts';
import { resolveSecrets, secretFiles } from '../../core/documents/secret-reference.ts';
import { isPublicAddress } from '../../core/outbound/http/address.ts';
import { openPool, type Pool } from '../../core/store/db/pool.ts';
import { refuseTransactionPooling } from '../../core/store/db/pooling.ts';
import { InnboundError } from '../../errors.ts';
import { systemClock } from '../../kit/clock.ts';
import { version } from '../../kit/version.ts';
import { sealingKey } from '../../runtime/keys.ts';
import { readDocuments } from '../../runtime/workspace-documents.ts';
import { openPrivatePostgres } from '../embedded-postgres/open.ts';
import { listAlerts } from '../store/alerts.ts';
import { clockAheadMs, databaseFacts, migrationState, nodeFacts } from '../store/database-facts.ts';
import { unmannedRoles } from '../store/nodes.ts';
import {
  type Diagnosis,
  type HostFacts,
  judgeAlerts,
  judgeClock,
  judgeDatabase,
  judgeHost,
  judgeMigrations,
  judgeNodes,
  judgePublicUrl,
} from '../watch/diagnosis.ts';
import { examineDisk } from './examine-disk.ts';
import { examineWarehouses } from './examine-warehouses.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Checks everything that a node depends on. Changes nothing: no migration, no document, no row, no message to a partner. */
export async function examine(workspaceDir: string, env: Env): Promise<Diagnosis[]> {
  const diagnoses: Diagnosis[] = [];
  const loaded = await readDocuments(workspaceDir).catch((error: unknown) => error as InnboundError);
  if (loaded instanceof Error) return [problemOf('documents', loaded)];
  if (loaded.kind === 'invalid') {
    const [first] = loaded.mistakes;
    const count = loaded.mistakes.length === 1 ? '1 mistake' : `${loaded.mistakes.length} mistakes`;
    diagnoses.push({
      check: 'documents',
      state: 'problem',
      message: `${count}; the first: ${first?.file}:${first?.line} ${first?.message}`,
      next: 'Run innbound validate.',
    });
  } else {
    const { integrations, destinations } = loaded.documents;
    diagnoses.push(
      {
        check: 'documents',
        state: 'ok',
        message: `Sound. Integrations: ${integrations.size}, destinations: ${destinations.size}.`,
      },
      ...(await examineNetwork(workspaceDir, env, loaded.documents)),
      ...(await examineWarehouses(workspaceDir, env, loaded.documents)),
    );
  }
  diagnoses.push(await examineDisk(workspaceDir));
  diagnoses.push(...(await examineDatabase(workspaceDir, env)));
  return diagnoses;
}

function problemOf(check: string, error: unknown): Diagnosis {
  const { message } = error as Error;
  const next = error instanceof InnboundError ? error.next : 'Check DATABASE_URL and that the server runs.';
  return { check, state: 'problem', message, next };
}

async function examineNetwork(workspaceDir: string, env: Env, documents: LoadedDocuments): Promise<Diagnosis[]> {
  const diagnoses: Diagnosis[] = [];
  const sources = { env, readFile: secretFiles(workspaceDir, env), secret: async () => 'stored' };
  const { public_url: publicUrl, network } = documents.workspace.body;
  diagnoses.push(judgePublicUrl(publicUrl, network.trusted_proxies));
  const origins = new Map<string, string[]>();
  const addresses = [
    ...[...documents.integrations.values()].map(({ name, body }) => ({
      name: `integration ${name}`,
      body,
      url: body.pull?.base_url,
    })),
    ...[...documents.destinations.values()].map(({ name, body }) => {
      const { url } = body as { readonly url?: unknown };
      return { name: `destination ${name}`, body, url: typeof url === 'string' ? url : undefined };
    }),
  ];
  for (const { name, body, url } of addresses) {
    const resolved = await resolveSecrets(body, sources);
    if (resolved.kind === 'missing') {
      const list = resolved.missing.map(({ reference, path: at }) => `${reference} (${at})`).join(', ');
      diagnoses.push({
        check: 'secrets',
        state: 'problem',
        message: `${name} needs ${list}.`,
        next: 'Set the variable, or create the file, for the account that runs the service.',
      });
    }
    const address = url === undefined ? undefined : await resolveSecrets({ url }, sources);
    const parsed = address?.kind === 'ok' ? URL.parse(address.body.url) : undefined;
    if (!parsed || !/^https?:$/.test(parsed.protocol)) continue;
    origins.set(parsed.origin, [...(origins.get(parsed.origin) ?? []), name]);
  }
  const rules = {
    allowPrivate: network.allow_private || env.INNBOUND_ALLOW_PRIVATE_NETWORK === '1',
    now: systemClock.now(),
    ...(network.ca !== undefined && {
      ca: await readFile(path.resolve(workspaceDir, network.ca), 'utf8').catch(() => ''),
    }),
  };
  const proxy = network.proxy === undefined ? undefined : await resolveSecrets({ url: network.proxy }, sources);
  if (proxy !== undefined) {
    // All other hosts are reached through the proxy, and this machine may be unable to resolve them.
    const origin = proxy.kind === 'ok' ? URL.parse(proxy.body.url)?.origin : undefined;
    if (origin)
      diagnoses.push(
        proxied(judgeHost(await examineHost(origin, ['network.proxy'], { ...rules, allowPrivate: true }))),
      );
    return diagnoses;
  }
  const checked = [...origins].slice(0, 200);
  diagnoses.push(
    ...(await Promise.all(checked.map(async ([origin, by]) => judgeHost(await examineHost(origin, by, rules))))),
  );
  return diagnoses;
}

/** Plain http to a proxy is usual. */
const proxied = (diagnosis: Diagnosis): Diagnosis =>
  diagnosis.state === 'warning'
    ? { check: 'proxy', state: 'ok', message: 'The proxy answers.' }
    : { ...diagnosis, check: 'proxy' };

async function examineDatabase(workspaceDir: string, env: Env): Promise<Diagnosis[]> {
  const url = env.DATABASE_URL;
  let close = async () => {};
  try {
    const server = url
      ? undefined
      : await openPrivatePostgres(workspaceDir, { purpose: 'command', describe: 'doctor' });
    const connection = server ? server.connection : { connectionString: url };
    const pool = openPool({ connection, applicationName: 'innbound doctor', maxConnections: 2 });
    close = async () => {
      await pool.end();
      await server?.release();
    };
    if (!server) await refuseTransactionPooling(pool);
    const migrations = await migrationState(pool);
    return [
      ...judgeDatabase(await databaseFacts(pool)),
      judgeMigrations(migrations),
      judgeClock(await clockAheadMs(pool, systemClock)),
      ...judgeNodes(await nodeFacts(pool), version, migrations ? await unmannedRoles(pool) : []),
      ...(migrations ? [await examineKey(pool, workspaceDir, env)] : []),
      ...(migrations ? judgeAlerts(await listAlerts(pool, { open: true, limit: 50 })) : []),
    ];
  } catch (error) {
    return [problemOf('database', error)];
  } finally {
    await close();
  }
}

async function examineKey(pool: Pool, workspaceDir: string, env: Env): Promise<Diagnosis> {
  const check = 'key';
  try {
    const sealing = await sealingKey(pool);
    if (sealing === undefined) return { check, state: 'ok', message: 'Nothing is sealed yet.' };
    const source = keySource(workspaceDir, env);
    const keys = await source.read();
    if (keys.some(({ id }) => id === sealing)) return { check, state: 'ok', message: `From ${source.name}.` };
    throw new InnboundError(
      'store.other_key',
      `The key from ${source.name} is not the one that the database is sealed with.`,
    );
  } catch (error) {
    return problemOf(check, error);
  }
}

interface HostRules {
  readonly allowPrivate: boolean;
  readonly ca?: string;
  readonly now: number;
  readonly lookup?: (host: string) => Promise<readonly { readonly address: string }[]>;
}

const timeoutMs = 5_000;

/** Resolves a host and opens a connection to it, with TLS for https. Sends no request. */
export async function examineHost(
  origin: string,
  usedBy: readonly string[],
  { allowPrivate, ca, now, lookup = (name) => systemLookup(name, { all: true }) }: HostRules,
): Promise<HostFacts> {
  const url = new URL(origin);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const failed = (kind: 'dns' | 'private' | 'unreachable' | 'tls', message: string): HostFacts => ({
    origin,
    usedBy,
    failure: { kind, message },
  });
  let addresses: readonly string[];
  try {
    addresses = isIP(host) ? [host] : (await lookup(host)).map(({ address }) => address);
  } catch {
    return failed('dns', 'the name does not resolve.');
  }
  const blocked = allowPrivate ? undefined : addresses.find((address) => !isPublicAddress(address));
  if (blocked !== undefined) return failed('private', `it resolves to the private address ${blocked}.`);
  const isTls = url.protocol === 'https:';
  const port = Number(url.port || (isTls ? 443 : 80));
  return new Promise<HostFacts>((resolve) => {
    const socket = isTls
      ? connectTls({
          host,
          port,
          timeout: timeoutMs,
          ...(isIP(host) === 0 && { servername: host }),
          ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
        })
      : connectPlain({ host, port, timeout: timeoutMs });
    const end = (facts: HostFacts) => {
      socket.destroy();
      resolve(facts);
    };
    socket.once('timeout', () => end(failed('unreachable', `no answer within ${timeoutMs / 1000} s.`)));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const isRefused = /^(?:ECONN|EHOST|ENET|ETIMEDOUT|EPIPE)/.test(error.code ?? '');
      end(isRefused ? failed('unreachable', `${error.code}.`) : failed('tls', `${error.code ?? 'no code'}.`));
    });
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      if (!(socket instanceof TLSSocket)) return end({ origin, usedBy });
      const until = Date.parse(socket.getPeerCertificate().valid_to);
      end({ origin, usedBy, certificateDays: Math.floor((until - now) / 86_400_000) });
    });
  });
}
