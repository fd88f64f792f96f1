import { startRun } from '../../../src/composition/pull.ts';
import { resumeIntegration } from '../../../src/operator/store/overview.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import { close, json, listen } from '../../partner-kit/src/simulate/exchange.ts';
import type { FaultRule, Simulator } from '../../partner-kit/src/simulate/index.ts';

/** The troubled hotel, and what can go wrong around it. */
export interface Troubled {
  readonly runtime: Runtime;
  readonly integration: string;
  readonly simulator: Simulator;
  readonly crm: Crm;
  /** The hotel's events are signed with the right secret, or with a wrong one. */
  readonly sign: (rightly: boolean) => Promise<void>;
  readonly say: (text: string) => void;
}

interface Fault {
  readonly begins: string;
  /** Faults of the hotel's API. */
  readonly api?: FaultRule;
}

const faults = {
  bad_rows: {
    begins: 'one row in twelve of the hotel’s list cannot be a reservation',
    api: { kind: 'bad_record', value: 12 },
  },
  wrong_secret: { begins: 'the hotel signs its events with a wrong secret' },
  renamed_key: {
    begins: 'an update of the hotel’s system renamed email to mail',
    api: { kind: 'accident', of: 'rename:email' },
  },
  crm_down: { begins: 'the CRM is down' },
  api_down: { begins: 'the hotel’s API answers 500', api: { kind: 'server_error' } },
  credentials: { begins: 'the hotel’s API refuses our credentials', api: { kind: 'unauthorized' } },
} as const satisfies Record<string, Fault>;
type Name = keyof typeof faults;

/** What is wrong at the same time, one scene after the other, over and over. */
const scenes: readonly (readonly Name[])[] = [
  ['bad_rows', 'wrong_secret'],
  ['wrong_secret', 'renamed_key'],
  ['renamed_key', 'crm_down'],
  ['crm_down', 'api_down'],
  [],
  ['credentials'],
  [],
];

/** Time for the first pulls: what is wrong shows against what was right before. */
const calmMs = 15_000;

/** Lets the faults come and go, a scene every `sceneMs`, until it is stopped. */
export function makeTrouble(troubled: Troubled, sceneMs: number): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let active: readonly Name[] = [];
  const play = async (index: number): Promise<void> => {
    const scene = scenes[index % scenes.length] ?? [];
    try {
      await change(troubled, active, scene);
      active = scene;
    } catch (error) {
      troubled.say(`trouble: ${(error as Error).message}`);
    }
    timer = setTimeout(() => void play(index + 1), sceneMs);
  };
  timer = setTimeout(() => void play(0), Math.min(calmMs, sceneMs));
  return { stop: () => clearTimeout(timer) };
}

async function change(troubled: Troubled, before: readonly Name[], after: readonly Name[]): Promise<void> {
  const { runtime, integration, simulator, crm, sign, say } = troubled;
  const begins = after.filter((name) => !before.includes(name));
  const ends = before.filter((name) => !after.includes(name));
  for (const name of begins) say(`trouble: ${faults[name].begins}`);
  for (const name of ends) say(`over: ${faults[name].begins}`);
  crm.isDown = after.includes('crm_down');
  simulator.faults.set(after.flatMap((name) => apiFault(name) ?? []));
  if ([...begins, ...ends].includes('wrong_secret')) await sign(!after.includes('wrong_secret'));
  // As an operator does after correcting the credentials.
  if (ends.includes('credentials')) await resumeIntegration(runtime.pool, integration);
  // The schedule would show a fault of the API after a quarter of an hour.
  if ([...begins, ...ends].some((name) => apiFault(name) !== undefined)) {
    for (const sync of ['stay', 'pre_stay'] as const)
      await startRun(runtime, integration, { sync, kind: 'manual', requestedBy: 'demo' });
  }
}

const apiFault = (name: Name): FaultRule | undefined => (faults[name] as Fault).api;

/** A CRM that can be down, and that always refuses a few reservations. */
export interface Crm {
  readonly url: string;
  isDown: boolean;
  stop(): Promise<void>;
}

/** One reservation in so many lacks what the CRM requires. */
const refusedOneIn = 40;

export async function startCrm(): Promise<Crm> {
  const answer = (body: string) => {
    if (crm.isDown) return json(503, { error: 'maintenance' });
    const { id } = (JSON.parse(body) as { data: { id: string } }).data;
    const isRefused = Number(id.replace(/\D/g, '')) % refusedOneIn === 0;
    return isRefused ? json(422, { error: 'loyalty tier is required' }) : json(200, {});
  };
  const { server, baseUrl } = await listen(async ({ bodyText }) => ({ answer: answer(bodyText) }), '127.0.0.1', 0);
  const crm: Crm = { url: `${baseUrl}/stays`, isDown: false, stop: () => close(server) };
  return crm;
}
