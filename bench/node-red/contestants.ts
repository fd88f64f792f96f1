/** What the benchmark compares: each runs in separate processes, with the same sink and the same partner. */
import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../../src/kit/clock.ts';
import { freePort } from '../../test/support/free-port.ts';
import { postmasterUnder, processMs, serverMs } from '../pull/cpu.ts';
import { pageSize, pullingConnectorText, pullingText } from '../pull/documents.ts';
import { firstDay, lastDay } from '../pull/workspace.ts';
import { ask, endedWithAll, start } from '../push/processes.ts';
import type { Target } from '../push/requests.ts';
import type { ServiceAddress } from '../push/service.ts';
import { brandId, integration, pushingText, sinkText, writeDocuments } from '../push/workspace.ts';
import type { BarePull } from './bare-pull.ts';
import { flowOf, settings } from './flow.ts';

export interface Contestant {
  readonly name: string;
  readonly target: Target;
  /** Processor time used since its start, its database included. */
  readonly cpuMs: () => Promise<number>;
  /** Starts to pull the partner's list, with this many records in one POST. */
  readonly pull: (size: 1 | 100, round: number) => Promise<void>;
}

interface Surroundings {
  readonly folder: string;
  readonly sinkPort: number;
  readonly partnerPort: number;
  readonly records: number;
}

export async function startInnbound(where: Surroundings, rounds: number): Promise<Contestant> {
  await writeWorkspace(where, rounds);
  const service = start('./service.ts', { INNBOUND_ALLOW_PRIVATE_NETWORK: '1' });
  const job = { workspaceDir: where.folder, integrations: [integration] };
  const { port, endpoints } = await ask<ServiceAddress>(service, job);
  const [endpoint] = endpoints;
  if (endpoint === undefined) throw new Error('no endpoint');
  const postmaster = postmasterUnder(where.folder);
  return {
    name: 'Innbound',
    target: { ...endpoint, port, brandId },
    cpuMs: async () => processMs(service.pid ?? 0) + serverMs(postmaster),
    pull: (size, round) => ask(service, { pull: `pull-${size}-${round}`, from: firstDay, to: lastDay(where.records) }),
  };
}

export async function startRelay(
  { sinkPort, partnerPort, records }: Surroundings,
  target: Target,
): Promise<Contestant> {
  const relay = start('./server.ts');
  const puller = start('../node-red/bare-pull.ts');
  const port = await ask<number>(relay, { kind: 'relay', sinkPort, connection: {}, brandId });
  const url = `http://127.0.0.1:${partnerPort}/api/reservations?dateFrom=${firstDay}&dateTo=${lastDay(records)}&limit=${pageSize}`;
  return {
    name: 'bare relay',
    target: { ...target, port },
    cpuMs: async () => processMs(relay.pid ?? 0) + processMs(puller.pid ?? 0),
    pull: async (size) => void (await ask(puller, { url, sinkPort, size } satisfies BarePull)),
  };
}

export async function startNodeRed(program: string, where: Surroundings, target: Target): Promise<Contestant> {
  const { sinkPort, partnerPort, records } = where;
  const folder = path.join(where.folder, 'node-red');
  const port = await freePort();
  await mkdir(folder, { recursive: true });
  const flow = flowOf({ ...target, sinkPort, partnerPort, from: firstDay, to: lastDay(records) });
  await writeFile(path.join(folder, 'flows.json'), JSON.stringify(flow));
  await writeFile(path.join(folder, 'settings.cjs'), settings);
  const args = ['--userDir', folder, '-s', path.join(folder, 'settings.cjs'), '-p', String(port)];
  const child = endedWithAll(spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'inherit'] }));
  const post = (size: number) =>
    fetch(`http://127.0.0.1:${port}/pull`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ size }),
    });
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/webhooks/${target.endpointId}`, { method: 'POST', body: '{}' }).then(
      ({ status }) => status === 401,
      () => false,
    );
  const deadline = performance.now() + 60_000;
  while (!(await isUp())) {
    if (performance.now() > deadline || child.exitCode !== null) throw new Error('Node-RED did not start in 60 s');
    await systemClock.wait(100);
  }
  return {
    name: 'Node-RED',
    target: { ...target, port },
    cpuMs: async () => processMs(child.pid ?? 0),
    pull: async (size) => {
      const { status } = await post(size);
      if (status !== 202) throw new Error(`Node-RED answered ${status}`);
    },
  };
}

async function writeWorkspace({ folder, sinkPort, partnerPort }: Surroundings, rounds: number): Promise<void> {
  const partnerUrl = `http://127.0.0.1:${partnerPort}`;
  const documents: Record<string, string> = {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/bench-pms.yaml': 'connector: bench-pms\n',
    'connectors/bench-pull.yaml': pullingConnectorText('bench-pull'),
    [`integrations/${integration}.yaml`]: pushingText(integration, 'sink-1'),
    'destinations/sink-1.yaml': sinkText('sink-1', sinkPort, 'concurrency: 64'),
    'destinations/sink-100.yaml': sinkText('sink-100', sinkPort, 'concurrency: 16\nbatch: { size: 100, wait: 20ms }'),
  };
  for (const size of [1, 100]) {
    // A list that is pulled again has no news, so each round is another brand.
    for (let round = 0; round < rounds; round++) {
      const name = `pull-${size}-${round}`;
      const destination = `sink-${size}`;
      const text = pullingText({ name, connector: 'bench-pull', brandId: name, partnerUrl, destination });
      documents[`integrations/${name}.yaml`] = text;
    }
  }
  await writeDocuments(folder, documents);
}
