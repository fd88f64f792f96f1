import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { deliverPorts } from '../../src/composition/deliver.ts';
import type { Brand } from '../../src/core/brand/brand.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { read } from '../../src/core/pipeline.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { reprocess } from '../../src/operator/operations/reprocess.ts';
import type { IntegrationName, Json, JsonObject } from '../../src/terms.ts';
import { type ApiNode, apiNode, hotelConnector } from '../api/node.ts';

/**
 * Two brands hear the same statements. One hears them in order under a good mapping. The other hears them in another order, some of them
 * doubled, with reprocessing in between, and part of the time under a mapping that reads other fields: it is mended at the end, and what is kept
 * is processed again. Bookings, persons and what the destination was sent last must be equal.
 */
const brands = ['straight', 'crooked'] as const;
type Name = (typeof brands)[number];

const good = (name: Name): string => hotelConnector().replace('connector: hotel', `connector: ${name}`);
const wrong = `${good('crooked')}map:
  channel: { first: [agent, channel] }
  guests: { fields: { nationality: { first: [home, nationality] } } }
`;

const document = (name: Name): string => `integration: ${name}
connector: ${name}
brand_id: ${name.toUpperCase()}
timezone: Europe/Lisbon
country: PT
guard: off
pull:
  base_url: http://127.0.0.1:1/${name}
  auth: { type: bearer, token: letmein }
  syncs: { pre_stay: { every: 15m, range: [+1d, +7d] } }
push: { enabled: true }
deliver: [lake]
`;

let node: ApiNode;
before(async () => {
  node = await apiNode('', {
    'connectors/straight.yaml': good('straight'),
    'connectors/crooked.yaml': good('crooked'),
    'integrations/straight.yaml': document('straight'),
    'integrations/crooked.yaml': document('crooked'),
  });
});
after(() => node.stop());

interface Told {
  readonly kind: 'list' | 'reservation.updated' | 'guest.updated';
  /** In the order in which things happened at the partner. */
  readonly place: number;
  readonly rows: readonly JsonObject[];
}

const stay = { check_in: '2099-12-01', check_out: '2099-12-04', currency: 'EUR' };
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined, freq: 2 });
const without = (row: { readonly [field: string]: Json | undefined }): JsonObject =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as JsonObject;

const person = fc.record({ who: fc.constantFrom('ana', 'bob'), home: maybe(fc.constantFrom('DE', 'FR')) });
const details = fc.record({
  nationality: maybe(fc.constantFrom('PT', 'ES')),
  phone: maybe(fc.constantFrom('+351912000111', '+351912000222')),
  document_type: maybe(fc.constantFrom('ID', null)),
});
const guest = fc.tuple(person, details).map(([{ who, ...rest }, more]) =>
  without({
    guest_id: `g-${who}`,
    first_name: who,
    last_name: 'Reis',
    email: `g-${who}@mail.example`,
    ...rest,
    ...more,
  }),
);
const booking = fc.record({
  id: fc.constantFrom('b-1', 'b-2'),
  status: fc.constantFrom('confirmed', 'confirmed', 'cancelled'),
  channel: maybe(fc.constantFrom('WEB', 'TEL')),
  agent: maybe(fc.constantFrom('BDC', 'EXP')),
  total_amount: maybe(fc.constantFrom(100, 200)),
  guests: fc.uniqueArray(guest, { minLength: 1, maxLength: 2, selector: (one) => String(one.guest_id) }),
});
const row = booking.map((one): JsonObject => ({ ...stay, ...without(one) }));
const ownEvent = fc
  .tuple(person, details)
  .map(([{ who, home }, more]) => without({ guest_id: `g-${who}`, email: `g-${who}@mail.example`, home, ...more }));

const told = (place: number): fc.Arbitrary<Told> =>
  fc.oneof(
    fc
      .uniqueArray(row, { minLength: 1, maxLength: 2, selector: ({ id }) => String(id) })
      .map((rows) => ({ kind: 'list' as const, place, rows })),
    row.map((one) => ({ kind: 'reservation.updated' as const, place, rows: [one] })),
    ownEvent.map((one) => ({ kind: 'guest.updated' as const, place, rows: [one] })),
  );

const story = fc.integer({ min: 2, max: 6 }).chain((length) =>
  fc.record({
    all: fc.tuple(...Array.from({ length }, (_, place) => told(place))),
    order: fc.shuffledSubarray(
      Array.from({ length }, (_, place) => place),
      { minLength: length, maxLength: length },
    ),
    doubled: fc.subarray(Array.from({ length }, (_, place) => place)),
    reprocessedAfter: maybe(fc.nat(length - 1)),
    mendedAfter: fc.nat(length),
  }),
);

/** Each story is about other bookings and persons. */
let run = 0;
const ofRun = (told: Told): Told => JSON.parse(JSON.stringify(told).replace(/"([bg])-/g, `"$1${run}-`));

const brandOf = (name: Name): Brand => node.runtime.active().integrations.get(name) ?? assert.fail();

async function tell(name: Name, told: Told, from: number): Promise<void> {
  const { kind, place, rows } = ofRun(told);
  const at = from + place * 1_000;
  if (kind !== 'list') {
    for (const one of rows)
      await node.send(
        name,
        kind,
        kind === 'guest.updated' ? one : { reservation_id: (one as JsonObject).id ?? '', ...one },
        at,
      );
    return;
  }
  const brand = brandOf(name);
  const shaped = brand.shapers.pull.records({ reservations: [...rows] });
  if (shaped.kind === 'invalid') assert.fail(shaped.message);
  const arrival = { mode: 'pull', effectiveAt: at, cause: 'run', causeId: `run ${place}` } as const;
  const statements = shaped.records.map((raw) => read(brand, raw, arrival));
  await transaction(node.runtime.pool, (tx) => ingest(tx, brand, statements));
}

async function map(text: string): Promise<void> {
  await applyDocument(node.runtime, { kind: 'connector', name: 'crooked', text }, 'test');
}

async function settle(name: Name): Promise<void> {
  for (const _ of [1, 2, 3])
    await drainOnce(await deliverPorts(node.runtime), { integration: name as unknown as IntegrationName });
}

interface Result {
  readonly bookings: ReadonlyMap<string, JsonObject>;
  /** By the partner's id of the guest. */
  readonly persons: ReadonlyMap<string, JsonObject>;
}

const byKey = (all: readonly { readonly type: string; readonly data: JsonObject }[]): Result => {
  const of = (wanted: string, key: string) =>
    new Map(all.flatMap(({ type, data }) => (type === wanted ? [[String(data[key]), data] as const] : [])));
  return { bookings: of('reservation', 'id'), persons: of('guest', 'guest_id') };
};

async function stored(name: Name): Promise<Result> {
  const { rows } = await node.runtime.pool.query<{ type: string; data: JsonObject }>(
    'select type, data from records where integration = $1 and version > 0 and data::text ~ $2',
    [name, `"[bg]${run}-`],
  );
  return byKey(rows);
}

/** What the destination was sent last of each record. */
async function sent(name: Name): Promise<Result> {
  const last = new Map<string, { readonly type: string; readonly version: number; readonly data: JsonObject }>();
  for (const file of await Array.fromAsync(glob(path.join(node.runtime.workspaceDir, 'out', '*', '*.ndjson')))) {
    for (const line of (await readFile(file, 'utf8')).trimEnd().split('\n')) {
      if (!new RegExp(`"[bg]${run}-`).test(line)) continue;
      const { integration, type, version, data } = JSON.parse(line);
      const { id, ...rest } = data;
      if (integration !== name || version <= (last.get(`${type} ${id}`)?.version ?? 0)) continue;
      last.set(`${type} ${id}`, { type, version, data: type === 'guest' ? rest : data });
    }
  }
  return byKey([...last.values()]);
}

/**
 * Bookings are equal. A profile also remembers what its guest's bookings once said, and what was out of date when it arrived was never said by
 * one (docs/promises.md): so only who the persons are is compared.
 */
function compare(straight: Result, crooked: Result): void {
  assert.deepEqual(crooked.bookings, straight.bookings, 'bookings');
  const who = (one: JsonObject | undefined) => [one?.guest_id, one?.email, one?.first_name, one?.last_name];
  for (const [id, person] of crooked.persons) assert.deepEqual(who(person), who(straight.persons.get(id)), 'a person');
  const guests = [...crooked.bookings.values()].flatMap((one) => one.guests as readonly JsonObject[]);
  for (const { guest_id: id } of guests) assert.ok(crooked.persons.has(String(id)), 'each guest has a profile');
}

const { INNBOUND_ORDERS: runs = 5, INNBOUND_SEED: seed } = process.env;

test('two brands that hear the same end with the same bookings and persons, and destinations have what is stored', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ all, order, doubled, reprocessedAfter, mendedAfter }) => {
      run += 1;
      const from = Date.now() - 3_600_000;
      for (const one of all) {
        await tell('straight', one, from);
        await settle('straight');
      }
      await map(wrong);
      for (const [turn, place] of order.entries()) {
        if (turn === mendedAfter) await map(good('crooked'));
        await tell('crooked', all[place] ?? assert.fail(), from);
        if (doubled.includes(place)) await tell('crooked', all[place] ?? assert.fail(), from);
        if (reprocessedAfter === turn) await reprocess(node.runtime, { integration: 'crooked', preview: false });
        await settle('crooked');
      }
      await map(good('crooked'));
      await reprocess(node.runtime, { integration: 'crooked', preview: false });
      await settle('crooked');
      const [straight, crooked] = [await stored('straight'), await stored('crooked')];
      compare(straight, crooked);
      assert.deepEqual(await sent('straight'), straight, 'sent in order');
      assert.deepEqual(await sent('crooked'), crooked, 'sent in another order');
    }),
    // The same stories each time; INNBOUND_ORDERS=200 INNBOUND_SEED=7 searches for others, and shows the shortest.
    { numRuns: Number(runs), seed: Number(seed ?? 1), endOnFailure: seed === undefined },
  );
});
