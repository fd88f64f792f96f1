import { after, before } from 'node:test';
import { type ScriptedPartner, startPartner } from './partner.ts';
import { openPullRuntime, type PullRuntime } from './runtime.ts';

export interface PullSetUp {
  /** Usable inside tests. */
  readonly runtime: Omit<PullRuntime, 'close'>;
  /** A partner that is closed after the tests of the file. */
  partnerOf(script: Parameters<typeof startPartner>[0]): Promise<ScriptedPartner>;
}

/** Opens a store before the tests of the calling file, and closes it with every partner after them. */
export function setUpPulls(): PullSetUp {
  let opened: PullRuntime | undefined;
  const partners: ScriptedPartner[] = [];
  const runtime = (): PullRuntime => {
    if (opened === undefined) throw new Error('The runtime is opened by a before hook: use it inside tests only.');
    return opened;
  };
  before(async () => {
    opened = await openPullRuntime();
  });
  after(async () => {
    await Promise.all(partners.map((partner) => partner.close()));
    await opened?.close();
  });
  return {
    runtime: {
      get pool() {
        return runtime().pool;
      },
      get connection() {
        return runtime().connection;
      },
      get http() {
        return runtime().http;
      },
      ports: (documents, more) => runtime().ports(documents, more),
      stored: (integration) => runtime().stored(integration),
      partnerText: (runId) => runtime().partnerText(runId),
    },
    partnerOf: async (script) => {
      const partner = await startPartner(script);
      partners.push(partner);
      return partner;
    },
  };
}
