import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type Simulator, startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { reservationJson } from '../../packages/partner-kit/src/simulate/represent.ts';
import type { Json } from '../../src/terms.ts';
import { innbound, type ServiceProcess, serve, until } from '../support/process.ts';
import { type DeliveredLine, deliveredLines, hotelWorkspace } from './workspace.ts';

/**
 * A partner whose events carry only the webhook fields of the interface description, and whose list lacks what only events have.
 * Deliveries are compared with the simulator's true states, leaf by leaf.
 */

let partner: Simulator;
let workspace: Awaited<ReturnType<typeof hotelWorkspace>>;
let service: ServiceProcess | undefined;

/** Every value that a field of a reservation ever really had. */
const history = new Map<string, Set<string>>();

before(async () => {
  partner = await startSimulator({
    seed: 23,
    reservations: 40,
    untidy: 0,
    detail: 'thin',
    auth: { type: 'bearer', token: 'letmein' },
  });
  remember();
  partner.hotel.onChange(remember);
  workspace = await hotelWorkspace(partner.baseUrl);
  service = await serve(workspace.dir);
});
after(async () => {
  await service?.stop();
  await partner.stop();
  await workspace.remove();
});

function truths(): Map<string, Json> {
  const look = { spelling: 'underscore', detail: 'full' } as const;
  return new Map(partner.hotel.list().map((one) => [one.id, reservationJson(partner.hotel, one, look)]));
}

function remember(): void {
  for (const [id, state] of truths()) {
    for (const [place, value] of leaves(state)) {
      const key = `${id} ${place}`;
      history.set(key, (history.get(key) ?? new Set()).add(value));
    }
  }
}

function leaves(value: Json | undefined, place = ''): [string, string][] {
  if (value === undefined) return [];
  // Mexican mobile numbers lose their old 1 in normalization.
  if (typeof value === 'string' && value.startsWith('+521'))
    return [[place, JSON.stringify(value.replace('+521', '+52'))]];
  if (typeof value !== 'object' || value === null) return [[place, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner as Json, `${place}.${key}`));
}

const at = (...args: string[]) => innbound([...args, '--workspace', workspace.dir, '--json']);

async function pullEverything(): Promise<void> {
  for (const type of ['pre_stay', 'stay', 'post_stay']) {
    const [result] = (await at('sync', 'grand', '--type', type)).json();
    assert.equal(result?.status, 'complete', JSON.stringify(result));
  }
}

/** The newest delivered state of each reservation. */
function newest(lines: readonly DeliveredLine[]): Map<string, DeliveredLine> {
  const last = new Map<string, DeliveredLine>();
  for (const line of lines) if ((last.get(line.data.id)?.version ?? 0) < line.version) last.set(line.data.id, line);
  return last;
}

test('thin events and a list with other fields never clear a value or deliver a wrong one', async () => {
  await pullEverything();
  const [issued] = (await at('endpoint', 'grand')).json();
  await partner.pushTo({ url: String(issued?.url), secret: String(issued?.secret), brand_id: 'LIS01' });
  for (let round = 0; round < 3; round += 1) {
    partner.hotel.advance(15);
    await partner.pushed();
    await pullEverything();
  }
  const today = partner.hotel.today('LIS01');
  const folder = path.join(workspace.dir, 'out');
  // The state of the last pull, a list of all stays around today, is delivered in the end.
  const behind = (lines: readonly DeliveredLine[]) => {
    const last = newest(lines);
    return [...truths()].filter(([id, state]) => {
      const { check_in, check_out } = state as { check_in: string; check_out: string };
      const near = (Date.parse(check_in) - Date.parse(today)) / 86_400_000;
      if (near > 55 || Date.parse(check_out) < Date.parse(today) - 55 * 86_400_000) return false;
      const delivered = new Map(leaves(last.get(id)?.data as Json | undefined));
      return leaves(state).some(([place, value]) => delivered.get(place) !== value && !place.endsWith('.phone'));
    });
  };
  const lines = await until('the newest state of every reservation is delivered', async () => {
    const all = await deliveredLines(folder);
    return behind(all).length === 0 && all;
  });

  const wrong: string[] = [];
  const known = new Map<string, ReadonlySet<string>>();
  for (const { data, version } of lines.toSorted((a, b) => a.version - b.version)) {
    const places = leaves(data as Json);
    for (const [place, value] of places) {
      // An impossible phone number keeps its digits in another field.
      const origin = place.replace(/\.phone_raw$/, '.phone');
      if (history.get(`${data.id} ${origin}`)?.has(value) !== true)
        wrong.push(`${data.id} v${version}${place}: ${value}`);
    }
    const now = new Set(places.map(([place]) => place));
    const lost = [...(known.get(data.id) ?? [])].filter((place) => !now.has(place) && stillTrue(data.id, place));
    wrong.push(...lost.map((place) => `${data.id} v${version}${place}: gone`));
    known.set(data.id, now);
  }
  assert.deepEqual(wrong, []);
  const phones = [...newest(lines).values()].filter(({ data }) => JSON.stringify(data).includes('"phone"'));
  assert.ok(phones.length > 0, 'what only events say is kept by the polls after them');
});

/** Whether the field exists in the current true state: a removed guest has no fields. */
function stillTrue(id: string, place: string): boolean {
  return leaves(truths().get(id)).some(([one]) => one === place);
}
