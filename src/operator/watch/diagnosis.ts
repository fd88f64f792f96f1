import { errors, type InnboundError } from '../../errors.ts';
import { adviceFor } from './causes.ts';
import { conditionsOf } from './conditions.ts';
import { type Facts, noFacts } from './facts.ts';

/** The checks of `innbound doctor`. Pure: from facts to findings. */

export interface Diagnosis {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly message: string;
  /** What to do about it. */
  readonly next?: string;
}

const ok = (check: string, message: string): Diagnosis => ({ check, state: 'ok', message });
const finding =
  (state: 'warning' | 'problem') =>
  (check: string, message: string, next: string): Diagnosis => ({ check, state, message, next });
const warning = finding('warning');
const problem = finding('problem');

export interface DatabaseFacts {
  /** As PostgreSQL numbers itself: 150004 is 15.4. */
  readonly version: number;
  readonly encoding: string;
  readonly isReadOnly: boolean;
  readonly isSuperuser: boolean;
  readonly mayCreateSchema: boolean;
  /** Undefined before the first start. */
  readonly mayUseSchema: boolean | undefined;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly fullPageWrites: string;
  readonly maxConnections: number;
  readonly usedConnections: number;
  readonly bytes: number;
  readonly nodes: number;
}

const oldestVersion = 15;
const connectionsPerNode = 21;

export function* judgeDatabase(facts: DatabaseFacts): Generator<Diagnosis> {
  const major = Math.floor(facts.version / 10_000);
  const release = `${major}.${facts.version % 10_000}`;
  if (major < oldestVersion)
    yield problem('database.version', `PostgreSQL ${release} is too old.`, `Upgrade to ${oldestVersion} or newer.`);
  else yield ok('database.version', `PostgreSQL ${release}, ${megabytes(facts.bytes)} in use.`);
  if (facts.encoding !== 'UTF8')
    yield problem(
      'database.encoding',
      `The database is encoded in ${facts.encoding}.`,
      `Create one with encoding 'UTF8': names in other scripts cannot be stored here.`,
    );
  if (facts.isReadOnly)
    yield problem(
      'database.writable',
      'The server accepts no writes: it is a standby, or read-only by its settings.',
      'Name every host of the cluster in DATABASE_URL, so that the primary is found.',
    );
  if (facts.mayUseSchema === false)
    yield problem(
      'database.rights',
      'The schema innbound_service belongs to another role.',
      'Connect as the role that created it, or make this role its owner.',
    );
  else if (facts.mayUseSchema === undefined && !facts.mayCreateSchema)
    yield problem(
      'database.rights',
      'The role may not create a schema in this database.',
      'Run: grant create on database … to the role in DATABASE_URL.',
    );
  else if (facts.isSuperuser)
    yield warning(
      'database.rights',
      'The role in DATABASE_URL is a superuser: it may also read files and start programs on the database’s machine.',
      'Create a plain role that owns the database, reassign the schema innbound_service to it, and name it in DATABASE_URL.',
    );
  else yield ok('database.rights', 'The role may create and change the tables.');
  const unsafe = [
    ['fsync', facts.fsync],
    ['full_page_writes', facts.fullPageWrites],
    ['synchronous_commit', facts.synchronousCommit],
  ].filter(([, value]) => value === 'off');
  if (unsafe.length > 0)
    yield problem(
      'database.durability',
      `${unsafe.map(([name]) => name).join(', ')} ${unsafe.length === 1 ? 'is' : 'are'} off: an accepted event can be lost in a crash.`,
      'Turn it on in postgresql.conf; a role or a database may also have it set (alter role … reset).',
    );
  else yield ok('database.durability', 'Commits are on disk before they are confirmed.');
  const needed = connectionsPerNode * Math.max(1, facts.nodes);
  if (facts.maxConnections < needed)
    yield problem(
      'database.connections',
      `max_connections is ${facts.maxConnections}; ${nodesText(Math.max(1, facts.nodes))} may open ${needed}.`,
      'Raise max_connections, or run fewer nodes.',
    );
  else if (facts.maxConnections - facts.usedConnections < connectionsPerNode)
    yield warning(
      'database.connections',
      `${facts.usedConnections} of ${facts.maxConnections} connections are in use; another node needs ${connectionsPerNode}.`,
      'Raise max_connections before you add a node.',
    );
  else yield ok('database.connections', `${facts.usedConnections} of ${facts.maxConnections} connections are in use.`);
}

export function judgeMigrations(
  state: { readonly pending: number; readonly refused: InnboundError | undefined } | undefined,
): Diagnosis {
  const check = 'database.migrations';
  if (state === undefined) return ok(check, 'The database is empty; the first start creates the tables.');
  if (state.refused) return problem(check, errors[state.refused.code].what, errors[state.refused.code].next);
  if (state.pending === 0) return ok(check, 'The tables are those of this version.');
  const migrations = state.pending === 1 ? '1 migration is' : `${state.pending} migrations are`;
  return warning(
    check,
    `${migrations} not applied yet.`,
    'The next start applies them. Make a backup first, and read the changelog.',
  );
}

/** A node whose clock differs more than this from the database's reports it in readiness and in an alert. */
export const clockToleranceMs = 5_000;

export function judgeClock(aheadMs: number): Diagnosis {
  const seconds = Math.abs(aheadMs / 1000).toFixed(1);
  const message = `This machine’s clock is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} the database’s.`;
  if (Math.abs(aheadMs) <= clockToleranceMs) return ok('clock', message);
  return problem('clock', message, 'Synchronise both machines by NTP (timedatectl, chronyc tracking).');
}

const gigabyte = 1_000_000_000;

export function judgeDisk(folder: string, freeBytes: number): Diagnosis {
  const message = `${megabytes(freeBytes)} are free where ${folder} is.`;
  if (freeBytes < gigabyte) return problem('disk', message, 'Free some space: a full disk stops intake.');
  if (freeBytes < 5 * gigabyte)
    return warning('disk', message, 'Free some space, or shorten retention in innbound.yaml.');
  return ok('disk', message);
}

export interface NodeFacts {
  readonly node: string;
  readonly version: string | null;
  /** How far its clock is ahead of the database's; negative when it is behind. */
  readonly clockAheadMs: number | null;
  /** Loops that make no progress. */
  readonly stalled: readonly string[];
}

/** The nodes with loops that make no progress, and those with a wrong clock. */
export const troubledNodes = (nodes: readonly NodeFacts[]): Pick<Facts, 'stalled' | 'nodeClocks'> => ({
  stalled: nodes.filter(({ stalled }) => stalled.length > 0).map(({ node, stalled: loops }) => ({ node, loops })),
  nodeClocks: nodes
    .map(({ node, clockAheadMs }) => ({ node, ahead_ms: clockAheadMs ?? 0 }))
    .filter(({ ahead_ms }) => Math.abs(ahead_ms) > clockToleranceMs),
});

export function judgeNodes(
  nodes: readonly NodeFacts[],
  own: string,
  missingRoles: Facts['missingRoles'] = [],
): Diagnosis[] {
  if (nodes.length === 0) return [ok('nodes', 'No node is running.')];
  const diagnoses: Diagnosis[] = [];
  const versions = new Set(nodes.map(({ version }) => version ?? 'unknown'));
  if (versions.size > 1 || !versions.has(own)) {
    const list = nodes.map(({ node, version }) => `${node} (${version ?? 'unknown'})`).join(', ');
    diagnoses.push(
      warning(
        'nodes.versions',
        `Nodes run different versions than this one (${own}): ${list}.`,
        'Finish the upgrade: restart the nodes that have an older version.',
      ),
    );
  }
  const conditions = conditionsOf({ ...noFacts, missingRoles, ...troubledNodes(nodes) });
  for (const { kind, message } of conditions)
    diagnoses.push(problem(`nodes.${kind}`, message, adviceFor([kind]).join(' ')));
  return diagnoses.length > 0 ? diagnoses : [ok('nodes', `${nodesText(nodes.length)}, version ${own}.`)];
}

/** What the running service knows to be wrong: a destination that refuses the key is no fault of the machine, and one of the installation. */
export function judgeAlerts(
  open: readonly Readonly<Record<'kind' | 'integration' | 'severity' | 'message', string>>[],
): Diagnosis[] {
  if (open.length === 0) return [ok('alerts', 'No alert is open, as the running nodes judged last.')];
  return open
    .filter(({ kind }) => !examined.has(kind))
    .map(({ kind, integration, severity, message }) => {
      const said = integration === '' ? message : `${integration}: ${message}`;
      return (severity === 'critical' ? problem : warning)(`alerts.${kind}`, said, adviceFor([kind]).join(' '));
    });
}

/** Kinds of alerts about what is examined here itself. */
const examined: ReadonlySet<string> = new Set(['role_missing', 'node_stalled', 'disk_full']);

export interface HostFacts {
  readonly origin: string;
  /** Documents that name it. */
  readonly usedBy: readonly string[];
  readonly failure?: { readonly kind: keyof typeof unreached; readonly message: string };
  readonly certificateDays?: number;
}

const unreached = {
  dns: ['dns', 'Check the spelling and this machine’s resolver.'],
  private: ['dns', 'A private address is refused; set network.allow_private if that is where it should lead.'],
  unreachable: ['network', 'Check the firewall and the port.'],
  tls: ['tls', 'Ask the operator of the host; add a private authority with network.ca.'],
} as const;

export function judgeHost({ origin, usedBy, failure, certificateDays }: HostFacts): Diagnosis {
  const by = usedBy.length > 3 ? `${usedBy.slice(0, 3).join(', ')} and ${usedBy.length - 3} more` : usedBy.join(', ');
  const about = `${origin} (${by})`;
  if (failure) {
    const [check, next] = unreached[failure.kind];
    return problem(check, `${about}: ${failure.message}`, next);
  }
  if (origin.startsWith('http:'))
    return warning('tls', `${about} is not encrypted.`, 'Use https: credentials and guest data travel in the clear.');
  if (certificateDays !== undefined && certificateDays < 14)
    return warning(
      'tls',
      `${about}: its certificate ends in ${certificateDays} days.`,
      'Ask its operator to renew it.',
    );
  return ok('network', `${about} answers.`);
}

export function judgePublicUrl(publicUrl: string | undefined, trustedProxies: readonly string[]): Diagnosis {
  const check = 'public_url';
  if (publicUrl === undefined)
    return warning(
      check,
      'No public_url: webhook URLs are issued with this machine’s own address.',
      'Set public_url in innbound.yaml to the address that partners reach.',
    );
  if (publicUrl.startsWith('http:'))
    return warning(check, `${publicUrl} is not encrypted.`, 'Put a reverse proxy with TLS in front of the service.');
  if (trustedProxies.length === 0)
    return warning(
      check,
      `${publicUrl} is served by a proxy, and no proxy is trusted: all clients share one address and its limits.`,
      'List the addresses of the proxy in network.trusted_proxies.',
    );
  return ok(check, `${publicUrl}, behind ${trustedProxies.join(', ')}.`);
}

const megabytes = (bytes: number): string =>
  bytes < gigabyte ? `${Math.round(bytes / 1_000_000)} MB` : `${(bytes / gigabyte).toFixed(1)} GB`;
const nodesText = (count: number): string => (count === 1 ? '1 node' : `${count} nodes`);
