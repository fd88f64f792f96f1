import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { type SyncType, syncTypes } from '../../../src/terms.ts';
import { type PullRuntime, sync } from '../../intake/pull/support/runtime.ts';
import { connectorsDir } from '../cases.ts';
import { type Expected, startVendor, type Vendor } from './vendor.ts';
import { firstBook, guestsOf, type Stay, secondBook } from './world.ts';

interface Block {
  readonly integration: string;
  readonly timezone: string;
  readonly brand_id: string;
  readonly transforms?: readonly unknown[];
  readonly pull: { readonly base_url: string; readonly syncs: Partial<Record<SyncType, { range?: [string, string] }>> };
}

const read = (name: string, file: string) => readFileSync(path.join(connectorsDir, name, file), 'utf8');

/** A document with the environment variables of its system filled in; a number stays the text that a variable is. */
function filledWith({ system, env }: Pick<Vendor, 'system' | 'env'>, document: string): unknown {
  const prefix = `${system.toUpperCase().replaceAll('-', '_')}_`;
  const filled = JSON.stringify(parse(document)).replace(/\$\{env:(\w+)\}/g, (reference, name: string) => {
    assert.ok(name.startsWith(prefix), `${reference} begins with ${prefix}`);
    const value = env[name.slice(prefix.length)];
    assert.ok(value, `the vendor knows ${reference}`);
    return value;
  });
  return JSON.parse(filled);
}

/** The integration as its connector's README has it, at the vendor's address, with its variables filled in. */
export function readmeBlock({ system, env, base = '' }: Vendor, url: string): Block {
  const blocks = [...read(system, 'README.md').matchAll(/```yaml\n(integration:[\s\S]*?)```/g)];
  assert.equal(blocks.length, 1, `connectors/${system}/README.md has one integration block`);
  const block = filledWith({ system, env }, blocks[0]?.[1] ?? '') as Block;
  const { base_url: baseUrl } = block.pull;
  assert.equal(new URL(baseUrl).pathname.replace(/\/$/, ''), base, 'base_url has the documented path');
  // Addresses of the login on the same host, or on a host of its own, are the vendor's too.
  const { origin } = new URL(baseUrl);
  for (const sync of Object.values(block.pull.syncs)) sync.range &&= [within(sync.range[0]), within(sync.range[1])];
  const text = JSON.stringify(block.pull)
    .replaceAll(origin, url)
    .replace(/"https:\/\/[^/"]+/g, `"${url}`);
  return { ...block, pull: JSON.parse(text) as Block['pull'] };
}

/** No booking of the world is farther away; each week that is not asked for saves a request. */
const within = (days: string): string => {
  const offset = Math.max(-42, Math.min(63, Number.parseInt(days, 10)));
  return `${offset < 0 ? '' : '+'}${offset}d`;
};

/**
 * A first run brings every booking, a second one exactly what changed between, and neither asks for anything that is not documented. Each run
 * is told once to wait.
 */
export async function runAgainst(runtime: PullRuntime, vendor: Vendor): Promise<void> {
  const { system } = vendor;
  const now = Date.now();
  const server = await startVendor(vendor, firstBook(vendor, now));
  try {
    const block = readmeBlock(vendor, server.url);
    const ports = runtime.ports({
      integration: system,
      baseUrl: server.url,
      timezone: block.timezone,
      brandId: vendor.env.PROPERTY ?? block.brand_id,
      connector: {
        shape: {},
        ...(filledWith(vendor, read(system, 'connector.yaml')) as Record<string, unknown>),
      },
      pull: { ...block.pull },
      ...(block.transforms && { transforms: block.transforms }),
    });
    const syncs = syncTypes.filter((type) => block.pull.syncs[type] !== undefined);
    assert.ok(syncs.length > 0, 'the block has a sync');
    const runAll = async (label: string) => {
      server.limitAfter(1);
      for (const type of syncs) {
        const result = await sync(ports, system, { sync: type });
        const about = JSON.stringify({ label, type, result, requests: server.requests.slice(-5) });
        assert.deepEqual(server.violations, [], about);
        assert.equal(result.state, 'complete', about);
        assert.equal(result.counters.dead, 0, about);
      }
    };
    await runAll('first');
    const first = await recordsOf(runtime, system);
    assertRight(vendor, server.book, first);

    const before = new Map(bookingsOf(server.book).map((stay) => [stay.no, JSON.stringify(expectedOf(vendor, stay))]));
    const { book, changed } = secondBook(server.book, vendor, Date.now());
    server.book = book;
    await runAll('second');
    const second = await recordsOf(runtime, system);
    assertRight(vendor, book, second);
    const news = [...second].filter(([id, { version }]) => version !== first.get(id)?.version).map(([id]) => id);
    // A vendor may not tell what changed, such as an e-mail.
    const told = changed
      .map((stay) => expectedOf(vendor, stay))
      .filter((one, i) => before.get(changed[i]?.no ?? 0) !== JSON.stringify(one));
    assert.deepEqual(news.sort(), told.map(({ id }) => id).sort(), 'exactly the changes');
  } finally {
    await server.close();
  }
}

type Stored = Expected & { readonly version: number };

interface Person {
  readonly first_name?: string;
  readonly last_name?: string;
  readonly email?: string;
}

async function recordsOf(runtime: PullRuntime, system: string): Promise<Map<string, Stored>> {
  const stored = await runtime.stored(system);
  return new Map(
    stored.map(({ id, version, data }) => {
      const { guests: [guest = {}] = [], rooms = [] } = data as { guests?: Person[]; rooms?: { adults?: number }[] };
      const adults = rooms.map((room) => room.adults).filter((one) => one !== undefined);
      const fields = {
        id,
        check_in: data.check_in,
        check_out: data.check_out,
        status: data.status,
        first_name: guest.first_name,
        last_name: guest.last_name,
        email: guest.email,
        total_amount: data.total_amount,
        currency: data.currency,
        rooms: rooms.length,
        adults: adults.length === 0 ? undefined : adults.reduce((sum, one) => sum + one, 0),
        version,
      };
      return [id, fields as unknown as Stored];
    }),
  );
}

function expectedOf(vendor: Vendor, stay: Stay): Expected {
  return {
    id: String(stay.no),
    check_in: stay.checkIn,
    check_out: stay.checkOut,
    status: stay.status,
    first_name: stay.first,
    last_name: stay.last,
    email: stay.email,
    total_amount: Number(stay.amount),
    currency: stay.currency,
    rooms: stay.rooms.length,
    adults: guestsOf(stay, 'adults'),
    ...vendor.expects?.(stay),
  };
}

/** The bookings, each with the fields that must be right, and nothing else. */
function assertRight(vendor: Vendor, book: readonly Stay[], records: ReadonlyMap<string, Stored>): void {
  const wanted = bookingsOf(book).map((stay) => expectedOf(vendor, stay));
  for (const expected of wanted) {
    const stored = records.get(expected.id);
    assert.ok(stored, `${vendor.system}: ${expected.id} is missing: ${JSON.stringify(expected)}`);
    const { version: _, ...fields } = stored;
    assert.deepEqual(fields, expected);
  }
  assert.equal(records.size, wanted.length, 'no blocks, owner stays, enquiries or options');
}

const bookingsOf = (book: readonly Stay[]) => book.filter(({ kind }) => kind === 'booking');
