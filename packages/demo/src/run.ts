import { cp, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRun } from '../../../src/composition/pull.ts';
import { sealSecret } from '../../../src/core/documents/keyring.ts';
import { mintSecret } from '../../../src/core/intake/push/mint.ts';
import { putSecret } from '../../../src/core/store/documents/secrets.ts';
import { randomId } from '../../../src/kit/ids.ts';
import { moduleSuffix } from '../../../src/kit/module-suffix.ts';
import { consoleBuilt } from '../../../src/operator/operations/build-console.ts';
import { addressFor } from '../../../src/operator/operations/endpoints.ts';
import { createSignIn } from '../../../src/operator/operations/tokens.ts';
import { readTotals } from '../../../src/operator/store/overview.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import { type Service, startService } from '../../../src/service.ts';
import {
  type Simulator,
  type SimulatorOptions,
  shippedProperties,
  startSimulator,
} from '../../partner-kit/src/simulate/index.ts';
import { ended } from '../../partner-kit/src/terminal.ts';
import { onboardPartner } from './onboard.ts';
import { makeTrouble, startCrm } from './trouble.ts';

const template = fileURLToPath(new URL('./workspace/', import.meta.url));
/** Added to the template for the troubled hotel. */
const troubledTemplate = fileURLToPath(new URL('./trouble/', import.meta.url));

/** How a user starts another command: in a clone, or where the package is installed. */
const command = moduleSuffix === '.ts' ? 'bin/innbound' : 'npx innbound';

/** One change every two seconds in each hotel: enough to watch, and slow enough to read. */
const changeEveryMs = 2_000;

interface DemoHotel {
  readonly integration: string;
  readonly property: string;
  /** The documents refer to the hotel's address and key as `<secrets>_url` and `<secrets>_key`. */
  readonly secrets: string;
  readonly simulator: (key: string) => SimulatorOptions;
}

const hotels: readonly DemoHotel[] = [
  {
    integration: 'lisbon-grand',
    property: 'LIS01',
    secrets: 'front_desk',
    // Its events carry as little as the interface description allows; the other hotel's carry everything.
    simulator: (token) => ({ seed: 11, paging: 'offset', detail: 'thin', auth: { type: 'bearer', token } }),
  },
  {
    integration: 'kamo-riverside',
    property: 'KYO03',
    secrets: 'night_audit',
    simulator: (key) => ({
      seed: 42,
      paging: 'cursor',
      auth: { type: 'api_key', in: 'header', name: 'X-API-Key', key },
    }),
  },
];

const troubledHotel: DemoHotel = {
  integration: 'wharf-house',
  property: 'LDN02',
  secrets: 'wharf',
  simulator: (token) => ({ seed: 7, paging: 'offset', auth: { type: 'bearer', token } }),
};

/** Of `--onboard`: its API waits to be connected. */
const newHotel: DemoHotel = {
  integration: 'harbour-house',
  property: 'LIS01',
  secrets: 'harbour',
  // Slowly, so that its events can be read as they arrive.
  simulator: (token) => ({ seed: 23, paging: 'offset', auth: { type: 'bearer', token }, changeEveryMs: 10_000 }),
};

export interface DemoOptions {
  readonly port: number;
  readonly workspace: string;
  /** Adds a third hotel whose faults come and go, each scene for so many seconds. */
  readonly troubleSeconds: number | undefined;
  /** Adds a brand that a simulated partner connects through an onboarding link. */
  readonly onboards: boolean;
  say(text: string): void;
  stop(service: Service): Promise<void>;
}

/** `npm start`: two simulated hotels, a service that polls them and receives their events, a folder and a warehouse. */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { say } = options;
  const end = ended();
  const workspaceDir = path.resolve(options.workspace);
  // Keep edits to the demo's documents.
  await cp(template, workspaceDir, { recursive: true, force: false });
  const isTroubled = options.troubleSeconds !== undefined;
  if (isTroubled) await cp(troubledTemplate, workspaceDir, { recursive: true, force: false });
  const simulators = new Map<DemoHotel, Simulator>();
  // Stored, not environment variables: commands in another terminal need them too.
  const secrets = new Map<string, string>();
  for (const hotel of isTroubled ? [...hotels, troubledHotel] : hotels)
    simulators.set(hotel, await startHotel(hotel, workspaceDir, secrets));
  const crm = isTroubled ? await startCrm() : undefined;
  if (crm) secrets.set('crm_url', crm.url);
  let trouble: { stop(): void } | undefined;
  let onboarding: { stop(): void } | undefined;
  const stopHotels = async () => {
    trouble?.stop();
    onboarding?.stop();
    await Promise.all([...simulators.values()].map((simulator) => simulator.stop()));
    await crm?.stop();
  };
  try {
    say('innbound demo: building the console, starting the database and the service …');
    await consoleBuilt();
    const service = await startService({
      workspaceDir,
      host: '127.0.0.1',
      port: options.port,
      role: 'all',
      logLevel: 'warn',
      prepare: async ({ pool, keyring }) => {
        // In the database of the service, in a schema of its own.
        const { host = '', user = '', database } = pool.options;
        const embedded = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
        secrets.set('warehouse_url', process.env.DATABASE_URL ?? embedded);
        for (const [name, value] of secrets) await putSecret(pool, name, sealSecret(keyring, name, value));
      },
    });
    const signing = new Map<DemoHotel, (rightly: boolean) => Promise<void>>();
    for (const [hotel, simulator] of simulators) signing.set(hotel, await connect(service.runtime, hotel, simulator));
    const { path: signIn } = await createSignIn(service.runtime, { name: 'demo', by: 'demo' });
    say(welcome(service.url, signIn, workspaceDir, [...simulators.values()], secrets.get('warehouse_url')));
    const [simulator, sign] = [simulators.get(troubledHotel), signing.get(troubledHotel)];
    if (crm && simulator && sign) {
      const { integration } = troubledHotel;
      const troubled = { runtime: service.runtime, integration, simulator, crm, sign, say };
      trouble = makeTrouble(troubled, (options.troubleSeconds ?? 0) * 1_000);
    }
    if (options.onboards) {
      const partner = await startHotel(newHotel, workspaceDir, secrets);
      simulators.set(newHotel, partner);
      const key = secrets.get(`${newHotel.secrets}_key`) ?? '';
      onboarding = await onboardPartner(service.runtime, partner, key, say);
    }
    const progress = showProgress(service.runtime);
    await end;
    progress.stop();
    say('\ninnbound demo: draining …');
    await stopHotels();
    await options.stop(service);
    say('Stopped. The next start continues where it stopped.');
  } finally {
    await stopHotels();
  }
}

/** Adds the secrets that the hotel's documents refer to. */
async function startHotel(hotel: DemoHotel, workspaceDir: string, secrets: Map<string, string>): Promise<Simulator> {
  const key = randomId('demo');
  const partnerDir = path.join(workspaceDir, '.partner');
  await mkdir(partnerDir, { recursive: true });
  const property = shippedProperties.find(({ id }) => id === hotel.property) ?? shippedProperties[0];
  const simulator = await startSimulator({
    properties: [property],
    reservations: 400,
    changeEveryMs,
    ...hotel.simulator(key),
    bookFile: path.join(partnerDir, `${hotel.integration}.json`),
    pushFolder: path.join(partnerDir, hotel.integration),
  });
  secrets.set(`${hotel.secrets}_url`, simulator.baseUrl).set(`${hotel.secrets}_key`, key);
  return simulator;
}

/** Gives the hotel its webhook address and starts a first pull, instead of waiting for the schedule. Returns how to change its signature. */
async function connect(
  runtime: Runtime,
  hotel: DemoHotel,
  simulator: Simulator,
): Promise<(rightly: boolean) => Promise<void>> {
  const { url, secret = '' } = await addressFor(runtime, hotel.integration, { rotate: true });
  const sign = (rightly: boolean) =>
    simulator.pushTo({ url, secret: rightly ? secret : mintSecret(), brand_id: hotel.property });
  await sign(true);
  for (const sync of ['pre_stay', 'stay', 'post_stay'] as const)
    await startRun(runtime, hotel.integration, { sync, kind: 'manual', requestedBy: 'demo' });
  return sign;
}

function welcome(
  url: string,
  signIn: string,
  workspaceDir: string,
  simulators: readonly Simulator[],
  warehouse: string | undefined,
): string {
  const shown = path.relative(process.cwd(), workspaceDir) || '.';
  return `
  ${simulators.length === 2 ? 'Two' : 'Three'} simulated hotels are pulled, push their events, and fill a folder and a warehouse.${
    simulators.length === 2
      ? ''
      : '\n  Around the third, wharf-house, something is wrong most of the time; each fault is announced below.'
  }

  console      ${url}${signIn}
               opens it once, within a day; another: ${command} token sign-in --role admin -w ${shown}
  service      ${url}  (readiness: ${url}/readyz)
  hotels       ${simulators.map(({ baseUrl }) => `${baseUrl}/_sim/`).join('  ')}
               change a reservation there and watch it arrive
  documents    ${shown}/integrations, ${shown}/connectors, ${shown}/destinations
  files        ${shown}/out/lake  (one JSON object per line)
  warehouse    psql "${warehouse}" -c "table innbound.reservations limit 5"

  Try in another terminal:
    ${command} endpoint lisbon-grand -w ${shown}
    ${command} sync lisbon-grand --type stay -w ${shown}
    ${command} reservation ID --integration lisbon-grand -w ${shown}

  Ctrl-C stops it.
`;
}

/** A progress line: redrawn on a terminal, printed from time to time if the output is a file. */
function showProgress(runtime: Runtime): { stop(): void } {
  const { isTTY } = process.stderr;
  let lastLine = '';
  const draw = async (): Promise<void> => {
    const totals = await readTotals(runtime.pool).catch(() => undefined);
    if (!totals) return;
    const { reservations, events, delivered, waiting, dead } = totals;
    const line = `${reservations} reservations, ${events} events, ${delivered} changes delivered, ${waiting} waiting, ${dead} dead letters`;
    if (line === lastLine) return;
    lastLine = line;
    process.stderr.write(isTTY ? `\r\u001b[2K  ${line}` : `  ${line}\n`);
  };
  void draw();
  const timer = setInterval(draw, isTTY ? 1_000 : 10_000);
  return { stop: () => clearInterval(timer) };
}
