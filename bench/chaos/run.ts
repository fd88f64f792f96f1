import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openPool } from '../../src/core/store/db/pool.ts';
import type { Write } from '../../test/history/history.ts';
import type { Endpoint, Partner } from '../../test/simulation/partner.ts';
import { Dice } from '../../test/simulation/random.ts';
import { Erasing } from '../live/erasing.ts';
import { NodeProcess, ready } from '../live/nodes.ts';
import { adminToken, issueEndpoint, openSinks, servePartner, withClosing } from '../live/surroundings.ts';
import { brands, reservations, Traffic } from '../live/traffic.ts';
import { judge, type Verdict } from '../live/verdict.ts';
import { writeWorkspace } from '../live/workspace.ts';
import { Cluster } from './cluster.ts';
import { strike } from './faults.ts';
import { TcpProxy } from './proxy.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** How long the load and the faults last. */
  readonly seconds: number;
  readonly nodes: number;
  readonly say: (line: string) => void;
}

export interface ChaosReport extends Verdict {
  readonly faults: readonly string[];
  readonly webhooks: Traffic['webhooks'];
}

/** Real processes, a real server with a synchronous standby, real HTTP; the seed chooses the faults, everything else depends on the machine. */
export async function chaos({ seed, seconds, nodes: count, say }: ChaosOptions): Promise<ChaosReport> {
  const dice = new Dice(seed);
  return withClosing('chaos', async (folder, closing) => {
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
    const nodes = [new NodeProcess({ workspace, databaseUrl })];
    closing.push(() => Promise.all(nodes.map((node) => node.stop())));
    await ready(nodes);
    while (nodes.length < count) nodes.push(new NodeProcess({ workspace, databaseUrl }));
    await ready(nodes);
    const endpoints = new Map<string, Endpoint>();
    for (const brand of brands) endpoints.set(brand, await issueEndpoint(workspace, databaseUrl, brand));
    const token = await adminToken(workspace, databaseUrl);
    say(`${count} nodes, a primary and a synchronous standby are ready`);

    const traffic = new Traffic(
      dice,
      endpoints,
      () => nodes,
      () => cluster.connection,
    );
    partner = traffic.partner;
    const erasing = new Erasing(token, () => nodes, dice);
    const faults: string[] = [];
    const startedAt = Date.now();
    const loading = Promise.all([
      traffic.run(),
      eraseNowAndThen(erasing, dice, () => Date.now() - startedAt > seconds * 1_000),
    ]);
    const failOverAt = seconds * dice.between(0.5, 0.8);
    // Every run has a failover, however long the faults before it took.
    while (Date.now() - startedAt < seconds * 1_000 || cluster.hasStandby) {
      await delay(dice.between(1_500, 5_000));
      const after = (Date.now() - startedAt) / 1_000;
      let what: string;
      if (cluster.hasStandby && after > failOverAt) {
        await cluster.failOver();
        what = 'primary lost, standby promoted';
      } else what = await strike({ cluster, nodes, proxies }, dice);
      faults.push(`${after.toFixed(1)} s: ${what}`);
      say(faults.at(-1) as string);
    }
    traffic.stop();
    await loading;
    const pool = openPool({ connection: cluster.connection, applicationName: 'chaos' });
    closing.push(() => pool.end());
    return { ...(await judge(pool, partner, writes, erasing.erasures)), faults, webhooks: traffic.webhooks };
  });
}

/** Erases guests during the faults; most of them are booked again later. */
async function eraseNowAndThen(erasing: Erasing, dice: Dice, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await delay(dice.between(2_000, 6_000));
    await erasing.erase(`R${dice.whole(1, reservations)}`, 60_000);
  }
}
