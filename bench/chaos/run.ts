import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { openPool, type Pool } from '../../src/store/db/pool.ts';
import { queueRun } from '../../src/store/runs/runs.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { listen } from '../../test/deliver/http-server.ts';
import { checkHistory } from '../../test/history/check.ts';
import type { History, Violation, Write } from '../../test/history/history.ts';
import { observeDatabase } from '../../test/simulation/observe.ts';
import { type Endpoint, Partner, type PartnerTime, stateText } from '../../test/simulation/partner.ts';
import { Dice } from '../../test/simulation/random.ts';
import type { Observed } from '../../test/simulation/store-ports.ts';
import { Cluster } from './cluster.ts';
import { strike } from './faults.ts';
import { NodeProcess } from './nodes.ts';
import { TcpProxy } from './proxy.ts';
import { writeWorkspace } from './workspace.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** How long the load and the faults last. */
  readonly seconds: number;
  readonly nodes: number;
  readonly say: (line: string) => void;
}

export interface ChaosReport {
  readonly history: History;
  /** How the runs ended. */
  readonly runs: readonly string[];
  readonly violations: readonly Violation[];
  readonly faults: readonly string[];
  readonly webhooks: { readonly sent: number; readonly accepted: number; readonly longestGapMs: number };
  readonly quietAfterMs: number;
}

const brands = ['lisbon', 'porto'] as const;
const sinkNames = ['crm', 'lake'] as const;
const reservations = 40;
const quietWithinMs = 240_000;

const realTime: PartnerTime = {
  get nowMs() {
    return Date.now();
  },
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Real processes, a real server with a synchronous standby, real HTTP; the faults are chosen by the seed, the rest is up to the machine. */
export async function chaos({ seed, seconds, nodes: count, say }: ChaosOptions): Promise<ChaosReport> {
  const dice = new Dice(seed);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-chaos-'));
  const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const closeAll = async () => {
    for (const close of closing.splice(0).reverse()) await close().catch(() => {});
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void closeAll().then(() => process.exit(130)));
  }
  try {
    const cluster = await Cluster.open(folder);
    closing.push(() => cluster.close());
    const proxies = [await TcpProxy.open(cluster.primary.port), await TcpProxy.open(cluster.standby.port)];
    closing.push(() => Promise.all(proxies.map((proxy) => proxy.close())));
    const writes: Write[] = [];
    const sinks = await openSinks(writes, closing);
    let partner: Partner | undefined;
    const partnerUrl = await servePartner(() => partner, dice, closing);
    const workspace = path.join(folder, 'workspace');
    await writeWorkspace(workspace, partnerUrl, sinks);
    const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const databaseUrl = `postgres://innbound@${hosts}/innbound?sslmode=disable`;
    // The first one creates the tables.
    const nodes = [new NodeProcess(workspace, databaseUrl)];
    closing.push(() => Promise.all(nodes.map((node) => node.stop())));
    await ready(nodes);
    while (nodes.length < count) nodes.push(new NodeProcess(workspace, databaseUrl));
    await ready(nodes);
    const endpoints = new Map<string, Endpoint>();
    for (const brand of brands) endpoints.set(brand, await issueEndpoint(workspace, databaseUrl, brand));
    say(`${count} nodes, a primary and a synchronous standby are ready`);

    const webhooks = { sent: 0, accepted: 0, longestGapMs: 0 };
    let lastAcceptedAt = Date.now();
    const current = new Partner(realTime, dice, endpoints, async (arrived) => {
      webhooks.sent += 1;
      const status = await post(nodes, dice, arrived);
      if (status !== undefined && status < 300) {
        webhooks.accepted += 1;
        webhooks.longestGapMs = Math.max(webhooks.longestGapMs, Date.now() - lastAcceptedAt);
        lastAcceptedAt = Date.now();
      }
      return status;
    });
    partner = current;

    const faults: string[] = [];
    const startedAt = Date.now();
    let isOver = false;
    const loading = load(current, cluster, dice, () => isOver);
    const failOverAt = seconds * dice.between(0.5, 0.8);
    // The failover comes in every run, however long the faults before it took.
    while (Date.now() - startedAt < seconds * 1_000 || cluster.hasStandby) {
      await rest(dice.between(1_500, 5_000));
      const after = (Date.now() - startedAt) / 1_000;
      let what: string;
      if (cluster.hasStandby && after > failOverAt) {
        await cluster.failOver();
        what = 'primary lost, standby promoted';
      } else what = await strike({ cluster, nodes, proxies }, dice);
      faults.push(`${after.toFixed(1)} s: ${what}`);
      say(faults.at(-1) as string);
    }
    isOver = true;
    await loading;
    const endedAt = Date.now();
    const pool = openPool({ connection: cluster.connection, applicationName: 'chaos' });
    closing.push(() => pool.end());
    const isQuiet = await quiet(pool, current);
    const quietAfterMs = Date.now() - endedAt;
    const observed = await observeDatabase(pool);
    const history = historyOf(observed, current, writes);
    const runs = observed.runs.map(({ state }) => state);
    const stuck: Violation[] = isQuiet
      ? []
      : [{ rule: 'accepted_is_accounted_for', message: `work is left ${quietWithinMs} ms after the last fault` }];
    return { history, runs, violations: [...stuck, ...checkHistory(history)], faults, webhooks, quietAfterMs };
  } finally {
    await closeAll();
  }
}

/** Destinations that check nothing, fail before and after their effect, and write down what arrived. */
async function openSinks(writes: Write[], closing: (() => Promise<unknown>)[]): Promise<Map<string, string>> {
  const urls = new Map<string, string>();
  for (const name of sinkNames) {
    const server = await listen(async ({ body }) => {
      const chance = Math.random();
      if (chance < 0.02) return { status: 503 };
      for (const message of [body].flat() as unknown as SentMessage[]) {
        writes.push({
          destination: name,
          record: `${message.integration}/${message.data.id}`,
          version: message.version,
          key: message.idempotency_key,
          value: stateText(message.data),
          body: JSON.stringify(message),
          startedAtMs: Date.now(),
        });
      }
      return chance < 0.03 ? 'cut' : chance < 0.033 ? 'hang' : { status: 200 };
    });
    closing.push(() => server.close());
    urls.set(name, server.url);
  }
  return urls;
}

interface SentMessage {
  readonly integration: string;
  readonly version: number;
  readonly idempotency_key: string;
  readonly data: { readonly id: string; readonly status?: string; readonly total_amount?: number };
}

async function servePartner(
  partner: () => Partner | undefined,
  dice: Dice,
  closing: (() => Promise<unknown>)[],
): Promise<string> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://partner.example');
    const [, integration = ''] = url.pathname.split('/');
    setTimeout(
      () => {
        if (Math.random() < 0.03) return void request.socket.destroy();
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(partner()?.list(integration, url.searchParams) ?? '{"reservations":[],"total":0}');
      },
      dice.between(1, 60),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function ready(nodes: readonly NodeProcess[]): Promise<void> {
  for (let i = 0; i < 1_200 && nodes.some(({ url }) => url === undefined); i++) await rest(100);
  if (nodes.some(({ url }) => url === undefined)) throw new Error('a node did not start');
}

async function issueEndpoint(workspace: string, databaseUrl: string, brand: string): Promise<Endpoint> {
  const main = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts');
  const args = ['--disable-warning=ExperimentalWarning', main, 'endpoint', brand, '--workspace', workspace, '--json'];
  const env = { ...process.env, DATABASE_URL: databaseUrl, INNBOUND_ALLOW_PRIVATE_NETWORK: '1' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  const { endpoint_id: endpointId, secret } = JSON.parse(stdout) as { endpoint_id: string; secret: string };
  return { endpointId, secret };
}

/** To any node that is ready, as a load balancer does. */
async function post(
  nodes: readonly NodeProcess[],
  dice: Dice,
  { endpointId, headers, rawBody }: { endpointId: string; headers: Record<string, string>; rawBody: Buffer },
): Promise<number | undefined> {
  const urls = nodes.flatMap(({ url }) => url ?? []);
  if (urls.length === 0) return undefined;
  try {
    const answer = await fetch(`${dice.pick(urls)}/webhooks/${endpointId}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: new Uint8Array(rawBody),
      signal: AbortSignal.timeout(5_000),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}

/** Changes, most of them pushed, and polls. */
async function load(partner: Partner, cluster: Cluster, dice: Dice, isOver: () => boolean): Promise<void> {
  let pollAt = Date.now() + 3_000;
  while (!isOver()) {
    partner.change(dice.pick(brands), `R${dice.whole(1, reservations)}`, { pushes: !dice.happens(0.1) });
    if (Date.now() > pollAt) {
      pollAt = Date.now() + 8_000;
      await queuePoll(cluster, dice.pick(brands)).catch(() => {});
    }
    await rest(dice.between(10, 70));
  }
}

async function queuePoll(cluster: Cluster, brand: string): Promise<void> {
  const pool = openPool({ connection: cluster.connection, applicationName: 'chaos', maxConnections: 1 });
  try {
    const integration = brand as IntegrationName;
    await queueRun(pool, { integration, sync: 'pre_stay', kind: 'manual', requestedBy: 'chaos' });
  } finally {
    await pool.end().catch(() => {});
  }
}

/** A killed node's deliveries wait for the end of their leases, half a minute after their timeout; its runs for a minute. */
async function quiet(pool: Pool, partner: Partner): Promise<boolean> {
  const endAt = Date.now() + quietWithinMs;
  while (Date.now() < endAt) {
    const open = await pool
      .query<{ open: number }>(
        `select (select count(*) from events where state in ('pending', 'waiting', 'hydrate'))
              + (select count(*) from runs where state in ('queued', 'running'))
              + (select count(*) from outbox where due_at is not null) as open`,
      )
      .catch(() => undefined);
    if (open?.rows[0]?.open === 0 && !partner.hasUnsentEvents) return true;
    await rest(500);
  }
  return false;
}

function historyOf({ fates, versions, settled, runs }: Observed, partner: Partner, writes: readonly Write[]): History {
  return {
    statements: partner.statements,
    fates,
    versions: versions.map((one) => ({ ...one, value: stateText(JSON.parse(one.value)) })),
    settled,
    writes,
    runs,
    erasures: [],
    isQuiet: true,
  };
}
