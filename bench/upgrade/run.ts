import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openPool, type Pool } from '../../src/core/store/db/pool.ts';
import type { Write } from '../../test/history/history.ts';
import type { Endpoint, Partner } from '../../test/simulation/partner.ts';
import { Dice } from '../../test/simulation/random.ts';
import { testDatabase } from '../../test/support/database.ts';
import { NodeProcess, ready } from '../live/nodes.ts';
import { issueEndpoint, openSinks, servePartner, withClosing } from '../live/surroundings.ts';
import { brands, Traffic } from '../live/traffic.ts';
import { seconds as inSeconds, judge, type Verdict } from '../live/verdict.ts';
import { thisVersion, type Version, versionOf } from '../live/version.ts';
import { writeWorkspace } from '../live/workspace.ts';

export interface UpgradeOptions {
  /** The commit that runs first. */
  readonly from: string;
  /** The commit that replaces it; this tree by default. */
  readonly to?: string | undefined;
  /** About how long the load lasts. */
  readonly seconds: number;
  /** Workers of each version; each also has one web node. */
  readonly workers: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

export interface UpgradeReport extends Verdict {
  readonly migrations: readonly { readonly file: string; readonly additive: boolean }[];
  readonly webhooks: Traffic['webhooks'];
  /** What each version did while both ran. */
  readonly beside: { readonly seconds: number; readonly old: Share; readonly new: Share };
  /** Old workers that stopped by themselves, and what happened to an old worker that was started after the migrations. */
  readonly ended: readonly string[];
  readonly back: string;
}

interface Share {
  readonly accepted: number;
  readonly runs: number;
}

/** If there is no migration after the commit, the new version gets an additive one. */
const planted = {
  file: '9001-planted.sql',
  sql: `-- additive: a column, a table and an index that only the newer version knows
alter table events add column planted text;
alter table outbox add column planted int not null default 0;
create table planted (integration text not null, at timestamptz not null default now());
create index planted_by_time on planted (at);
`,
};

/**
 * One version is replaced by another while partners push and are polled: old alone, both side by side, the old ones stopped one by one,
 * an old worker started again, new alone. The new version migrates the database while the old one works.
 */
export async function upgrade({
  from,
  to: until,
  seconds,
  workers,
  seed,
  say,
}: UpgradeOptions): Promise<UpgradeReport> {
  return withClosing('upgrade', async (folder, closing) => {
    const dice = new Dice(seed);
    const old = await versionOf(from, path.join(folder, 'old'));
    let current = await (until ? versionOf(until, path.join(folder, 'new')) : thisVersion(path.join(folder, 'new')));
    const isNews = current.migrations.some((file) => !old.migrations.includes(file));
    if (!isNews && until === undefined) current = await thisVersion(path.join(folder, 'planted'), planted);
    say(`from ${old.name}`);
    say(`to   ${current.name}`);
    if (old.isLockfileDifferent) say('  its packages differ; it runs with those that are installed here');

    const database = await testDatabase({ empty: true });
    closing.push(() => database.drop());
    const writes: Write[] = [];
    const sinks = await openSinks(writes, closing);
    let partner: Partner | undefined;
    const workspace = path.join(folder, 'workspace');
    await writeWorkspace(workspace, await servePartner(() => partner, dice, closing), sinks);
    const common = { workspace, databaseUrl: database.url, restarts: false };
    const nodes: NodeProcess[] = [];
    closing.push(() => Promise.all(nodes.map((node) => node.stop())));
    const start = ({ program, hasGrace }: Version, role: 'web' | 'worker') => {
      const node = new NodeProcess({ ...common, program, role, ...(role === 'web' && hasGrace && { grace: 2 }) });
      nodes.push(node);
      return node;
    };
    const startAll = async (version: Version) => {
      const started = [start(version, 'web')];
      // The first one creates or migrates the tables; the others would wait for it.
      await ready(started);
      while (started.length <= workers) started.push(start(version, 'worker'));
      await ready(started);
      return started;
    };

    const oldNodes = await startAll(old);
    const endpoints = new Map<string, Endpoint>();
    for (const brand of brands) {
      endpoints.set(brand, await issueEndpoint(workspace, database.url, brand, old.program));
    }
    const traffic = new Traffic(
      dice,
      endpoints,
      () => nodes,
      () => database.connection,
    );
    partner = traffic.partner;
    const startedAt = Date.now();
    const phase = (text: string) => say(`${inSeconds(Date.now() - startedAt).padStart(7)}  ${text}`);
    const loading = traffic.run();
    const pool = openPool({ connection: database.connection, applicationName: 'upgrade' });
    closing.push(() => pool.end());
    phase(`old alone: 1 web node, ${count(workers, 'worker')}`);
    await delay(seconds * 250);

    const newNodes = await startAll(current);
    const migrations = await newMigrations(pool, old.migrations);
    const isAdditive = migrations.every(({ additive }) => additive);
    phase(
      `both: the new version applied ${count(migrations.length, 'migration')}, ${isAdditive ? 'all additive' : 'not all of them additive'}`,
    );
    const both = { from: await now(pool), old: traffic.acceptedBy(oldNodes), new: traffic.acceptedBy(newNodes) };
    const ended: string[] = [];
    if (isAdditive) await delay(seconds * 300);
    else ended.push(...(await endings(oldNodes, await migratedAt(pool), phase)));
    const to = await now(pool);
    const share = async (own: readonly NodeProcess[], before: number): Promise<Share> => ({
      accepted: traffic.acceptedBy(own) - before,
      ...(await doneBetween(pool, own, both.from, to)),
    });
    const beside = {
      seconds: (to - both.from) / 1_000,
      old: await share(oldNodes, both.old),
      new: await share(newNodes, both.new),
    };
    for (const node of oldNodes.toReversed()) {
      if (!node.isRunning) continue;
      await node.stop();
      phase(`an old ${node.role === 'web' ? 'web node' : 'worker'} was stopped`);
    }
    const again = start(old, 'worker');
    const back = await fate(again);
    phase(`an old worker was started again: ${back}`);
    await delay(seconds * 150);
    await again.stop();
    phase('new alone');
    await delay(seconds * 200);
    traffic.stop();
    await loading;
    const verdict = await judge(pool, partner, writes);
    return { ...verdict, migrations, webhooks: traffic.webhooks, beside, ended, back };
  });
}

export const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

const codeOf = ({ said }: NodeProcess): string => /\b(store|operate)\.\w+/.exec(said)?.[0] ?? said.trim().slice(-300);

/** Waits for the old workers to stop by themselves: they check every 15 seconds. */
async function endings(
  nodes: readonly NodeProcess[],
  migratedAtMs: number,
  phase: (text: string) => void,
): Promise<string[]> {
  const startedAt = Date.now();
  const workers = nodes.filter(({ role }) => role === 'worker');
  const found = new Map<NodeProcess, string>();
  while (found.size < workers.length && Date.now() - startedAt < 45_000) {
    for (const node of workers) {
      if (node.endedAtMs === undefined || found.has(node)) continue;
      found.set(node, `${inSeconds(node.endedAtMs - migratedAtMs)} after the migrations with ${codeOf(node)}`);
      phase(`an old worker ended by itself ${found.get(node)}`);
    }
    await delay(100);
  }
  return [...found.values()];
}

/** Whether a node started; if not, its error. */
async function fate(node: NodeProcess): Promise<string> {
  for (let i = 0; i < 1_800 && node.isRunning && node.url === undefined; i++) await delay(100);
  if (node.isRunning) return node.url === undefined ? 'not ready within three minutes' : 'it works';
  return `refused, ${codeOf(node)}`;
}

async function newMigrations(pool: Pool, known: readonly string[]): Promise<UpgradeReport['migrations']> {
  const { rows } = await pool.query<{ file: string; additive: boolean }>(
    `select lpad(number::text, 4, '0') || '-' || name || '.sql' as file, additive from migrations order by number`,
  );
  return rows.filter(({ file }) => !known.includes(file));
}

async function migratedAt(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>(
    'select (extract(epoch from max(applied_at)) * 1000)::float8 as ms from migrations',
  );
  return rows[0]?.ms ?? 0;
}

async function now(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>('select (extract(epoch from now()) * 1000)::float8 as ms');
  return rows[0]?.ms ?? 0;
}

/** A node names itself by its host and process in what it does. */
async function doneBetween(pool: Pool, nodes: readonly NodeProcess[], fromMs: number, toMs: number) {
  const pids = nodes.flatMap((node) => [...node.pids].map(String));
  const { rows } = await pool.query<{ runs: number }>(
    `select count(*)::int as runs from runs where split_part(node, ':', 2) = any($1)
        and started_at between to_timestamp($2::float8 / 1000) and to_timestamp($3::float8 / 1000)`,
    [pids, fromMs, toMs],
  );
  return { runs: rows[0]?.runs ?? 0 };
}
