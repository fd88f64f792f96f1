import type { Io } from '../terminal.ts';
import type { SimulatorAuth } from './auth/guard.ts';
import type { SimulatorOptions } from './options.ts';
import { startSimulator } from './simulator.ts';

/** Default credentials for each method. */
export const sampleAuth = {
  none: { type: 'none' },
  bearer: { type: 'bearer', token: 'sim-token' },
  api_key: { type: 'api_key', in: 'header', name: 'X-API-Key', key: 'sim-key' },
  basic: { type: 'basic', username: 'sim', password: 'sim-password' },
  oauth2: { type: 'oauth2', clientId: 'sim-client', clientSecret: 'sim-secret' },
  hmac: { type: 'hmac', secret: 'sim-secret', algorithm: 'sha256', encoding: 'hex' },
  login: { type: 'login', user: 'sim', password: 'sim-password' },
  custom: { type: 'custom', headers: { 'X-Hotel-Key': 'sim-key' } },
  // For POST …/search only: a GET has no body.
  basic_and_body: {
    type: 'custom',
    basic: { username: 'sim', password: 'sim-password' },
    body: { hotel_key: 'sim-key' },
  },
} as const satisfies Record<SimulatorAuth['type'] | 'basic_and_body', SimulatorAuth>;

/** Runs a simulator until the user stops it. */
export async function runSimulate(options: SimulatorOptions, json: boolean, io: Io): Promise<number> {
  const simulator = await startSimulator(options);
  const { baseUrl, hotel } = simulator;
  const auth = options.auth ?? sampleAuth.none;
  const today = hotel.today(hotel.properties[0].id);
  const tokens = { oauth2: `, tokens at ${baseUrl}/oauth/token`, login: `, a token from POST ${baseUrl}/auth/login` };
  if (json)
    io.out(
      JSON.stringify({
        base_url: baseUrl,
        page: `${baseUrl}/_sim/`,
        auth,
        properties: hotel.properties.map(({ id }) => id),
        reservations: hotel.size,
        today,
      }),
    );
  else {
    io.out(`A hotel group of ${hotel.properties.length} with ${hotel.size} reservations; today is ${today}.
  API    ${baseUrl}/api/reservations?dateFrom=${today}&dateTo=${today}
  Auth   ${JSON.stringify(auth)}${tokens[auth.type as keyof typeof tokens] ?? ''}
  Page   ${baseUrl}/_sim/  (its state, changes by hand, faults)
Ctrl-C stops it.`);
  }
  const timer = setInterval(() => {
    const { changes, requests, pushes } = simulator.stats;
    const happened = Object.values(changes).reduce((sum, count) => sum + count, 0);
    const asked = Object.values(requests).reduce((sum, count) => sum + count, 0);
    io.progress(
      `${hotel.size} reservations, ${happened} changes, ${asked} requests, ${pushes.delivered} events accepted, ${pushes.queued} pending, ${pushes.dead} dead`,
    );
  }, 1_000);
  await io.ended();
  clearInterval(timer);
  io.progress('');
  await simulator.stop();
  return 0;
}
