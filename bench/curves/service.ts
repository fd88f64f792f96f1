/** A service with some brands that push, and a sink as their destination. */
import { postmasterUnder, processMs, serverMs } from '../pull/cpu.ts';
import { arrived } from '../push/delivered.ts';
import type { Job, Outcome } from '../push/load.ts';
import { ask, start } from '../push/processes.ts';
import type { ServiceAddress } from '../push/service.ts';
import { brandId, writeBenchWorkspace } from '../push/workspace.ts';

export interface PushBench {
  readonly cpuMs: () => { readonly node: number; readonly postgres: number };
  /** Returns when everything has arrived: the send times and, by reservation, the arrivals. */
  readonly send: (job: Omit<Job, 'target' | 'others'>) => Promise<{ outcome: Outcome; times: Record<string, number> }>;
}

/** `active` of the brands get endpoints; the events go to them in turn. */
export async function startPushBench(folder: string, brands: number, active: number): Promise<PushBench> {
  const sink = start('./sink.ts');
  const names = Array.from({ length: brands }, (_, brand) => nameOf(brand));
  await writeBenchWorkspace(folder, await ask<number>(sink, { ask: 'port' }), { brands: names });
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
