import type { Dice } from '../../test/simulation/random.ts';
import type { NodeProcess } from '../live/nodes.ts';
import type { Cluster } from './cluster.ts';
import type { TcpProxy } from './proxy.ts';

export interface Victims {
  readonly cluster: Cluster;
  readonly nodes: readonly NodeProcess[];
  readonly proxies: readonly TcpProxy[];
}

/** One fault, chosen by the dice; returns its description. The fault is over when the promise resolves. */
export async function strike({ cluster, nodes, proxies }: Victims, dice: Dice): Promise<string> {
  const ms = Math.round(dice.between(500, 6_000));
  const place = dice.whole(0, nodes.length - 1);
  const node = nodes[place] as NodeProcess;
  const kinds = ['kill', 'kill', 'freeze', 'crash', 'cut', 'hold'];
  if (cluster.canFillDisk) kinds.push('full disk');
  switch (dice.pick(kinds)) {
    case 'kill':
      node.kill();
      return `node ${place} killed`;
    case 'freeze':
      await node.freeze(ms);
      return `node ${place} frozen for ${ms} ms`;
    case 'crash':
      await cluster.crash();
      return 'database stopped immediately';
    case 'cut':
      for (const proxy of proxies) proxy.cut();
      return 'all connections to the database cut';
    case 'hold':
      await Promise.all(proxies.map((proxy) => proxy.hold(ms)));
      return `nothing came through to the database for ${ms} ms`;
    default:
      await cluster.fillDisk(ms);
      return `disk of the database full for ${ms} ms`;
  }
}
