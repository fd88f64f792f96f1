/** A service with some brands that push, and a sink as their destination. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { postmasterUnder, processMs, serverMs } from '../pull/cpu.ts';
import { arrived } from '../push/delivered.ts';
import type { Job, Outcome } from '../push/load.ts';
import { ask, start } from '../push/processes.ts';
import type { ServiceAddress } from '../push/service.ts';

const brandId = 'BENCH';

export interface PushBench {
  readonly cpuMs: () => { readonly node: number; readonly postgres: number };
  /** Returns when everything has arrived: the send times and, by reservation, the arrivals. */
  readonly send: (job: Omit<Job, 'target' | 'others'>) => Promise<{ outcome: Outcome; times: Record<string, number> }>;
}

/** `active` of the brands get endpoints; the events go to them in turn. */
export async function startPushBench(folder: string, brands: number, active: number): Promise<PushBench> {
  const sink = start('./sink.ts');
  await writeWorkspace(folder, await ask<number>(sink, { ask: 'port' }), brands);
  const service = start('./service.ts', { INNBOUND_ALLOW_PRIVATE_NETWORK: '1' });
  const sender = start('./load.ts');
  const integrations = Array.from({ length: active }, (_, i) => nameOf(Math.floor((i * brands) / active)));
  const { port, endpoints } = await ask<ServiceAddress>(service, { workspaceDir: folder, integrations });
  const [target, ...others] = endpoints.map((endpoint) => ({ ...endpoint, port, brandId }));
  if (target === undefined) throw new Error('no endpoint');
  const postmaster = postmasterUnder(folder);
  return {
    cpuMs: () => ({ node: processMs(service.pid ?? 0), postgres: serverMs(postmaster) }),
    send: async (job) => {
      const { arrivals } = await ask<{ arrivals: number }>(sink, { ask: 'arrivals' });
      const outcome = await ask<Outcome>(sender, { ...job, target, others });
      await arrived(sink, arrivals + job.count);
      return { outcome, times: await ask<Record<string, number>>(sink, { ask: 'times' }) };
    },
  };
}

const nameOf = (brand: number) => `brand-${brand}`;

async function writeWorkspace(folder: string, sinkPort: number, brands: number): Promise<void> {
  for (const name of ['connectors', 'destinations', 'integrations'])
    await mkdir(path.join(folder, name), { recursive: true });
  await writeFile(path.join(folder, 'innbound.yaml'), 'network: { allow_private: true }\n');
  await writeFile(path.join(folder, 'connectors', 'bench.yaml'), 'connector: bench\n');
  await writeFile(
    path.join(folder, 'destinations', 'sink.yaml'),
    `destination: sink
type: http
url: http://127.0.0.1:${sinkPort}/changes
receives: [reservation]
concurrency: 64
`,
  );
  for (let brand = 0; brand < brands; brand++) {
    await writeFile(
      path.join(folder, 'integrations', `${nameOf(brand)}.yaml`),
      `integration: ${nameOf(brand)}
connector: bench
brand_id: ${brandId}
timezone: Europe/Lisbon
country: PT
push: { enabled: true, rate: { requests: 100000, burst: 100000 } }
deliver: [sink]
`,
    );
  }
}
