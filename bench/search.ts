import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openPrivatePostgres } from '../src/embedded-postgres/open.ts';
import { migrate } from '../src/store/db/migrate.ts';
import { openPool, type Pool, transaction } from '../src/store/db/pool.ts';
import { type SearchFilter, searchRecords } from '../src/store/records/search.ts';
import { keysText } from '../src/store/records/search-keys.ts';
import type { IntegrationName } from '../src/terms.ts';

const aimMs = 200;
const brands = 100;

/**
 * How long a search takes among many reservations, by names, numbers and dates. `npm run bench -- search [ROWS [FOLDER]]`; a
 * million reservations take 4 GB of disk and some minutes to write, once if a folder is named. The commonest last name has 9 % of the guests, the first day of August 1 % of the
 * arrivals.
 */
export async function run(args: readonly string[]): Promise<void> {
  const rows = Number(args[0] ?? 1_000_000);
  const kept = args[1];
  const folder = kept ?? (await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-')));
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const pool = openPool({ connection: server.connection, applicationName: 'bench', statementMs: 3_600_000 });
  try {
    await migrate(pool);
    const { rows: present } = await pool.query('select from records limit 1');
    if (present.length === 0) {
      const start = performance.now();
      await fill(pool, rows);
      console.log(`${rows} reservations written in ${Math.round((performance.now() - start) / 1_000)} s`);
    }
    await pool.query('vacuum analyze records');
    const heads = ['median ms', 'longest ms', 'CPU ms'].map((head) => head.padStart(11));
    console.log('search'.padEnd(34), 'found', ...heads);
    for (const [name, filter] of Object.entries(searches(rows))) await measure(pool, name, filter);
    console.log(`machine load ${os.loadavg()[0]?.toFixed(1)} on ${os.cpus().length} processors; aim ${aimMs} ms`);
  } finally {
    await pool.end();
    await server.release();
    if (kept === undefined) await rm(folder, { recursive: true, force: true });
  }
}

const rounds = 11;

/** On one connection, so that the processor time of its server process is that of the searches. */
async function measure(pool: Pool, name: string, filter: Partial<SearchFilter>): Promise<void> {
  const tx = await pool.connect();
  try {
    const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    const cpuMs = () => processorMs(rows[0]?.pid);
    const took: number[] = [];
    let found = 0;
    const before = cpuMs();
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      found = (await searchRecords(tx as unknown as Pool, { type: 'reservation', limit: 50, ...filter })).length;
      took.push(performance.now() - start);
    }
    const cpu = (cpuMs() - before) / rounds;
    took.sort((a, b) => a - b);
    const median = took[(rounds - 1) / 2] ?? 0;
    const figures = [median, took.at(-1) ?? 0, cpu].map((ms) => ms.toFixed(0).padStart(11));
    console.log(name.padEnd(34), String(found).padStart(5), ...figures, median > aimMs ? '  over the aim' : '');
  } finally {
    tx.release();
  }
}

/** Of a process on Linux, in steps of 10 ms; NaN elsewhere. Other work on the machine lengthens a search, but not this. */
function processorMs(pid: number | undefined): number {
  try {
    const [, , , , , , , , , , , user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(user) + Number(system)) * 10;
  } catch {
    return Number.NaN;
  }
}

const searches = (rows: number): Readonly<Record<string, Partial<SearchFilter>>> => {
  const some = reservation(Math.floor(rows / 3));
  const guest = some.guests[0];
  return {
    'nothing (what changed last)': {},
    'commonest last name': { text: lastNames[0] },
    'rare last name': { text: lastNames.at(-1) },
    'three letters': { text: lastNames[0]?.slice(0, 3) },
    'two letters': { text: lastNames[0]?.slice(0, 2) },
    'one letter': { text: 'k' },
    'without accents': { text: 'kovac' },
    'first and last name': { text: `${guest.first_name} ${guest.last_name}` },
    'first and commonest last name': { text: `Wilhelmina ${lastNames[0]}` },
    'initial and last name': { text: `${guest.first_name[0]}. ${guest.last_name}` },
    'initial and commonest last name': { text: `x ${lastNames[0]}` },
    'commonest last name, quiet day': { text: `${lastNames[0]} ${some.check_in}` },
    'commonest last name, busiest day': { text: `${lastNames[0]} ${busiestDay}` },
    'three letters, busiest day': { text: `${lastNames[0]?.slice(0, 3)} ${busiestDay}` },
    'two letters, quiet day': { text: `${lastNames[0]?.slice(0, 2)} ${some.check_in}` },
    'first name, quiet day': { text: `${guest.first_name} ${some.check_in}` },
    'no such name, busiest day': { text: `zzyzx ${busiestDay}` },
    'quiet day': { text: some.check_in },
    'busiest day': { text: busiestDay },
    'one brand, three letters, a day': {
      text: `${lastNames[0]?.slice(0, 3)} ${busiestDay}`,
      integrations: ['brand-7'],
    },
    'one brand, commonest last name': { text: lastNames[0], integrations: ['brand-7'] },
    phone: { text: guest.phone, phones: [guest.phone] },
    'national phone, four countries': {
      text: guest.phone.slice(4),
      phones: ['+351', '+34', '+49', '+385'].map((country) => country + guest.phone.slice(4)),
    },
    'e-mail': { text: guest.email, email: guest.email },
    'confirmation number': { text: some.confirmation_number },
    'part of a confirmation number': { text: 'cn-1' },
    'booking site number': { text: some.extra.booking_site_number },
    room: { text: 'room 412' },
    'room and a day': { text: `room 412 ${busiestDay}` },
    id: { text: some.id, integrations: Array.from({ length: brands }, (_, n) => `brand-${n}`) },
    'nobody of that name': { text: 'zzyzx' },
  };
};

const busiestDay = '2026-08-01';
const firstDayMs = Date.parse('2025-06-01');
const dayMs = 86_400_000;

/** Deterministic and evenly spread over 0 to 1. */
const spread = (n: number, of: number): number => {
  let x = Math.imul(n ^ (of * 0x9e3779b9), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 4_294_967_296;
};

const syllables = [
  'ka',
  'lo',
  'mi',
  'ru',
  'sen',
  'ta',
  'vič',
  'dor',
  'bel',
  'gar',
  'jé',
  'nu',
  'pi',
  'zo',
  'hal',
  'wem',
];
const nameOf = (n: number): string => {
  const text = [n % 16, (n >> 4) % 16, (n >> 8) % 16].map((one) => syllables[one]).join('');
  return text[0]?.toUpperCase() + text.slice(1);
};
const lastNames = ['Silva', 'Kovač', 'Müller', ...Array.from({ length: 3_000 }, (_, n) => nameOf(n)), 'Quillfeather'];
const firstNames = ['Inês', 'Marko', 'Ana', 'Łukasz', ...Array.from({ length: 400 }, (_, n) => nameOf(n * 7)), 'Xena'];
/** Picks from a list with frequency 1 / rank. `share` is between 0 and 1. */
const pickByRank = (list: readonly string[], share: number): string =>
  list[Math.min(list.length - 1, Math.floor((list.length + 1) ** share) - 1)] ?? '';

function reservation(n: number) {
  const last_name = pickByRank(lastNames, spread(n, 1));
  const first_name = pickByRank(firstNames, spread(n, 2));
  const arrivalMs = firstDayMs + Math.floor(spread(n, 3) * 730) * dayMs;
  const check_in = spread(n, 4) < 0.01 ? busiestDay : new Date(arrivalMs).toISOString().slice(0, 10);
  const phone = `+351${String(900_000_000 + Math.floor(spread(n, 5) * 99_999_999))}`;
  return {
    id: `R${n}`,
    confirmation_number: `CN-${n}`,
    status: 'confirmed',
    check_in,
    check_out: check_in,
    currency: 'EUR',
    total: '412.50',
    guests: [
      {
        guest_id: `G${n % 700_000}`,
        primary: true,
        first_name,
        last_name,
        email: `guest${n % 700_000}@mail.example`,
        phone,
      },
    ] as const,
    rooms: [{ room_type: 'Double', rate_plan: 'flexible', adults: 2, children: 0 }],
    charges: Array.from({ length: 4 }, (_, line) => ({
      code: `ROOM-${line}`,
      description: 'Accommodation, one night',
      amount: '103.13',
    })),
    extra: { booking_site_number: `BDC-${n * 7}`, room_number: String(100 + (n % 800)) },
  };
}

async function fill(pool: Pool, rows: number): Promise<void> {
  const { rows: indexes } = await pool.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes where indexname = 'records_by_key'`,
  );
  for (const { name } of indexes) await pool.query(`drop index ${name}`);
  const perBatch = 5_000;
  for (let from = 0; from < rows; from += perBatch) {
    const brand = `brand-${(from / perBatch) % brands}` as IntegrationName;
    const records = Array.from({ length: Math.min(perBatch, rows - from) }, (_, n) => reservation(from + n));
    await transaction(pool, async (tx) => {
      await tx.query(
        `insert into records (integration, type, id, version, effective_at, seq, data, keys)
         select $1, 'reservation', id, 1, now(), 1, data, keys::tsvector
           from unnest($2::text[], $3::json[], $4::text[]) as t (id, data, keys)`,
        [
          brand,
          records.map(({ id }) => id),
          records.map((one) => JSON.stringify(one)),
          records.map((one) => keysText('reservation', one)),
        ],
      );
    });
  }
  for (const { definition } of indexes) await pool.query(definition);
}
