import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { on, openBooks, type Row } from './measures-books.ts';

/** The models of ops/dbt in the order of their references, with the three macros that they use filled in as dbt does. */

const folder = path.join(import.meta.dirname, '../../ops/dbt');
const asOf = `date '2026-11-30'`;
const files = globSync('models/**/*.sql', { cwd: folder }).sort();
const models = new Map(
  files.map((file) => [path.basename(file, '.sql'), readFileSync(path.join(folder, file), 'utf8')]),
);
const refsIn = (sql: string) => [...sql.matchAll(/ref\('(\w+)'\)/g)].map(([, name = '']) => name);

function rendered(sql: string): string {
  const filled = sql
    .replace(/\{\{ ref\('(\w+)'\) \}\}/g, '$1')
    .replace(/\{\{ source\('innbound', '(\w+)'\) \}\}/g, '$1')
    .replace(/\{\{ var\('as_of'\) \}\}/g, asOf);
  assert.doesNotMatch(filled, /\{\{/);
  return filled;
}

function inOrder(names: readonly string[], done: string[] = []): string[] {
  for (const name of names) {
    if (done.includes(name) || !models.has(name)) continue;
    inOrder(refsIn(models.get(name) ?? ''), done);
    done.push(name);
  }
  return done;
}

const [, ...seed] = readFileSync(path.join(folder, 'seeds/commissions.csv'), 'utf8').trim().split('\n');
const commissions = `create view commissions as select * from (values ${seed
  .map((line) => line.split(','))
  .map(([channel, percent]) => `('${channel}', ${percent})`)
  .join(', ')}) as t (channel, percent)`;
interface Schema {
  readonly models: readonly {
    readonly name: string;
    readonly columns: readonly { readonly name: string; readonly data_tests: readonly string[] }[];
  }[];
}
const schema = parse(readFileSync(path.join(folder, 'models/marts/schema.yml'), 'utf8')) as Schema;

test('the models run on PostgreSQL and DuckDB, tell the same, and pass their own tests', async (t) => {
  const { deliver, ask, duck } = await openBooks(t, {
    brandId: 'LIS01',
    timezone: 'Europe/Lisbon',
    roomsAvailable: [['1900-01-01', 10]],
  });
  const booked = { booking_date: '2026-10-01', check_in: '2026-12-01', check_out: '2026-12-03', total_amount: '200' };
  await deliver([
    on('2026-10-01', 'A', { ...booked, channel: 'Booking.com' }),
    on('2026-11-20', 'B', { ...booked, booking_date: '2026-11-20', channel: 'direct' }),
    on('2026-10-02', 'C', { ...booked, total_amount: '0' }),
    on('2026-11-28', 'A', { ...booked, channel: 'Booking.com', check_out: '2026-12-02' }, 2),
  ]);
  const engines = [ask, await duck()];
  const answers: Row[][][] = [];
  for (const run of engines) {
    await run(commissions);
    for (const name of inOrder([...models.keys()]))
      await run(`create view ${name} as ${rendered(models.get(name) ?? '')}`);
    for (const { name, columns } of schema.models)
      for (const { name: column, data_tests } of columns) {
        assert.deepEqual(data_tests, ['not_null']);
        assert.deepEqual(await run(`select ${column} from ${name} where ${column} is null`), [], `${name}.${column}`);
      }
    answers.push([
      await run(
        `select night::text as night, rooms_sold::int as now, rooms_sold_7_days_ago::int as week, rooms_sold_28_days_ago::int as month,
                room_revenue::float8 as revenue, room_revenue_28_days_ago::float8 as revenue_then from on_the_books order by 1`,
      ),
      await run(
        `select night::text as night, rooms_sold::int as sold, adr::float8 as adr, usali_rooms_sold::int as usali, usali_adr::float8 as usali_adr from daily_performance order by 1`,
      ),
      await run(
        `select channel, room_revenue::float8 as gross, net_revenue::float8 as net from channel_performance order by 1`,
      ),
      await run(`select rooms_sold::int as sold, revpar::float8 as revpar from monthly_performance`),
    ]);
  }
  const expected = [
    [
      { night: '2026-12-01', now: 3, week: 3, month: 2, revenue: 300, revenue_then: 100 },
      { night: '2026-12-02', now: 2, week: 3, month: 2, revenue: 100, revenue_then: 100 },
    ],
    [
      { night: '2026-12-01', sold: 3, adr: 100, usali: 2, usali_adr: 150 },
      { night: '2026-12-02', sold: 2, adr: 50, usali: 1, usali_adr: 100 },
    ],
    [
      { channel: 'Booking.com', gross: 200, net: 170 },
      { channel: 'direct', gross: 200, net: 200 },
      { channel: 'unknown', gross: 0, net: 0 },
    ],
    [{ sold: 5, revpar: 20 }],
  ];
  assert.deepEqual(answers[0], expected);
  assert.deepEqual(answers[1], expected);
});
