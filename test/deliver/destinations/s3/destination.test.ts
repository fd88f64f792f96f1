import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { deliverPorts } from '../../../../src/composition/deliver.ts';
import { drainOnce } from '../../../../src/core/deliver/deliveries.ts';
import type { DeliverLimits } from '../../../../src/core/deliver/destination.ts';
import { destinationType as s3 } from '../../../../src/core/deliver/destinations/s3/destination.ts';
import type { Delivery } from '../../../../src/core/deliver/message.ts';
import { openHttp } from '../../../../src/core/outbound/http.ts';
import { apiNode, reservation as taken } from '../../../api/node.ts';
import { delivery, reservation, services, temporaryFolder } from '../../support.ts';
import { type S3Server, s3Server } from './server.ts';

const limits: DeliverLimits = {
  batch: 1_000,
  deadlineMs: 30_000,
  leaseLeftMs: () => 60_000,
  extend: async () => true,
  signal: new AbortController().signal,
};

async function setUp(t: TestContext, settings: object = {}) {
  const server = await s3Server();
  const offered = services('/');
  t.after(async () => {
    await offered.close();
    await server.close();
  });
  const parsed = s3.settings.parse({
    bucket: 'lake',
    prefix: 'hotels/changes',
    region: 'eu-west-1',
    endpoint: server.url,
    addressing: 'path',
    credentials: { access_key_id: 'AKIDTEST', secret_access_key: 'secret-access-key-1' },
    ...settings,
  });
  const open = () => s3.open(parsed, offered);
  return { server, open, parsed, offered };
}

const names = ({ objects }: S3Server) => [...objects.keys()].filter((key) => !key.includes('_innbound/')).sort();
const lines = ({ objects }: S3Server): { version: number; idempotency_key: string; data: { id: string } }[] =>
  [...objects]
    .filter(([key]) => key.endsWith('.ndjson'))
    .flatMap(([, { bytes }]) => bytes.toString().trimEnd().split('\n'))
    .map((line) => JSON.parse(line));
const keysIn = (server: S3Server) =>
  lines(server)
    .map(({ idempotency_key }) => idempotency_key)
    .sort();
const delivered = (outcomes: readonly { kind: string }[]) => outcomes.every(({ kind }) => kind === 'delivered');
const again = (one: Delivery): Delivery => ({ ...one, mayHaveArrived: true });
const brand = (one: Delivery, brand_id: string): Delivery => ({ ...one, message: { ...one.message, brand_id } });

test('batches go into one object per day and brand until it is full; a restart continues it', async (t) => {
  const { server, open } = await setUp(t, { file_size: '16KiB' });
  const sent: Delivery[] = [];
  for (let restart = 0; restart < 4; restart++) {
    const destination = open();
    for (let i = 0; i < 5; i++) {
      const one = delivery(reservation(`r${restart}-${i}`));
      const other = brand(delivery(reservation(`o${restart}-${i}`)), 'OPO 02');
      sent.push(one, other);
      assert.ok(delivered(await destination.deliver([one, other], limits)));
    }
    await destination.close();
  }
  const folder = 'hotels/changes/date=2026-11-15';
  assert.deepEqual(names(server), [
    `${folder}/brand=LIS01/changes_00000001.ndjson`,
    `${folder}/brand=OPO%2002/changes_00000001.ndjson`,
  ]);
  assert.deepEqual(keysIn(server), sent.map(({ message }) => message.idempotency_key).sort());
  const destination = open();
  for (let i = 0; i < 40; i++) await destination.deliver([delivery(reservation(`more${i}`))], limits);
  const sizes = [...server.objects].filter(([key]) => key.includes('LIS01')).map(([, { bytes }]) => bytes.length);
  assert.ok(sizes.length > 1 && sizes.length < 6, `${sizes.length} objects`);
  assert.ok(sizes.filter((size) => size < 16 * 1024).length <= 1, 'only the last one is small');
  assert.equal(lines(server).length, 80);
});

test('a late write is either refused or found, so no version is written twice', async (t) => {
  const { server, open } = await setUp(t);
  const [first, second] = [open(), open()];
  await first.deliver([delivery(reservation('before'))], limits);
  // The first node's request is in flight when the second node takes over its records.
  const held = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  let holds = true;
  server.hold = async () => {
    if (!holds) return;
    holds = false;
    arrived.resolve();
    await held.promise;
  };
  const records = ['a', 'b'].map((id) => delivery(reservation(id)));
  const stalled = first.deliver(records, limits);
  await arrived.promise;
  assert.ok(delivered(await second.deliver(records.map(again), limits)));
  held.resolve();
  assert.ok(delivered(await stalled), 'its write was refused; it looked again and found the rows');
  assert.deepEqual(
    lines(server)
      .map(({ data }) => data.id)
      .sort(),
    ['a', 'b', 'before'],
  );
  // The other way round: the late write arrives first.
  const more = ['c', 'd'].map((id) => delivery(reservation(id)));
  assert.ok(delivered(await first.deliver(more, limits)));
  assert.ok(delivered(await second.deliver(more.map(again), limits)));
  assert.deepEqual(
    lines(server)
      .map(({ data }) => data.id)
      .sort(),
    ['a', 'b', 'before', 'c', 'd'],
  );
});

test('many writers at once: each version once, the versions of a record in order', async (t) => {
  const { server, open } = await setUp(t, { file_size: '8KiB' });
  const writers = [open(), open(), open()];
  const sent: string[] = [];
  await Promise.all(
    writers.map(async (writer, which) => {
      for (let i = 1; i <= 12; i++) {
        const batch = [delivery(reservation(`w${which}`), { version: i }), delivery(reservation(`x${which}-${i}`))];
        sent.push(...batch.map(({ message }) => message.idempotency_key));
        const outcomes = await writer.deliver(batch, limits);
        // Half of the answers are lost: the same versions are sent again.
        if (i % 2 === 0 || !delivered(outcomes)) assert.ok(delivered(await writer.deliver(batch.map(again), limits)));
      }
    }),
  );
  assert.deepEqual(keysIn(server), sent.sort());
  const inOrder = [...server.objects.keys()]
    .sort()
    .flatMap((key) =>
      key.endsWith('.ndjson') ? (server.objects.get(key)?.bytes.toString().trimEnd().split('\n') ?? []) : [],
    )
    .map((line) => JSON.parse(line));
  for (const which of [0, 1, 2]) {
    const versions = inOrder.filter(({ data }) => data.id === `w${which}`).map(({ version }) => version);
    assert.deepEqual(
      versions,
      Array.from({ length: 12 }, (_, i) => i + 1),
    );
  }
});

test('an erasure rewrites the objects that hold the person, and reads only those of the brand', async (t) => {
  for (const format of ['ndjson', 'parquet'] as const) {
    const { server, open } = await setUp(t, { format, file_size: '1KiB' });
    const ana = { first_name: 'Ana', email: 'ana@guests.example' };
    const rui = { first_name: 'Rui', email: 'rui@guests.example' };
    const [first, other] = [open(), open()];
    await first.deliver([delivery(reservation('r', { guests: [ana, rui] }))], limits);
    await other.deliver([delivery(reservation('r2', { guests: [rui] }))], limits);
    await other.deliver([delivery(reservation('r', { guests: [ana] }), { version: 2 })], limits);
    await first.deliver([brand(delivery(reservation('q', { guests: [ana] })), 'OPO02')], limits);
    server.requests.length = 0;
    const gone = {
      ...delivery(reservation('r', { guests: [rui] }), { version: 3, event: 'erased' }),
      erased: [{ email: ana.email }],
    };
    assert.ok(delivered(await first.deliver([gone], limits)));
    assert.ok(server.requests.every(({ method, path: at }) => method !== 'GET' || !at.includes('brand=OPO02')));
    await other.deliver([delivery(reservation('r4', { guests: [rui] }))], limits);
    const rows = await readBack(server, format, 'select id, version, guests from rows order by id, version', t);
    const emails = rows.map(({ id, version, guests }) => [
      id,
      Number(version),
      (guests as { email: string }[]).map(({ email }) => email),
    ]);
    assert.deepEqual(emails, [
      ['q', 1, ['ana@guests.example']],
      ['r', 1, ['rui@guests.example']],
      ['r', 2, []],
      ['r', 3, ['rui@guests.example']],
      ['r2', 1, ['rui@guests.example']],
      ['r4', 1, ['rui@guests.example']],
    ]);
  }
});

test('an erasure also cleans objects from before the brand id was corrected', async (t) => {
  const { server, open, offered } = await setUp(t);
  Object.assign(offered, { brandIdsOf: async () => ['LIS1', 'LIS01'] });
  const ana = { first_name: 'Ana', email: 'ana@guests.example' };
  const destination = open();
  await destination.deliver([brand(delivery(reservation('r', { guests: [ana] })), 'LIS1')], limits);
  const gone = { ...delivery(reservation('r', { guests: [{}] }), { version: 2, event: 'erased' }), erased: [ana] };
  assert.ok(delivered(await destination.deliver([gone], limits)));
  assert.equal(lines(server).length, 2);
  assert.doesNotMatch(JSON.stringify(lines(server)), /ana@guests/);
});

test('an erasure is not confirmed if the listing of objects is incomplete', async (t) => {
  const { server, open } = await setUp(t, { file_size: '1KiB' });
  const ana = { first_name: 'Ana', email: 'ana@guests.example' };
  const destination = open();
  for (let version = 1; version <= 9; version++) {
    await destination.deliver([delivery(reservation('r', { guests: [ana] }), { version })], limits);
  }
  const gone = { ...delivery(reservation('r', { guests: [{}] }), { version: 10, event: 'erased' }), erased: [ana] };
  server.namesNextPage = false;
  const [outcome] = await destination.deliver([gone], limits);
  assert.ok(outcome?.kind === 'retry' && outcome.code === 'deliver.unreachable', JSON.stringify(outcome));
  assert.match(outcome.message, /next page/);
  server.namesNextPage = true;
  assert.ok(delivered(await destination.deliver([again(gone)], limits)));
  assert.doesNotMatch(JSON.stringify(lines(server)), /ana@guests/);
});

test('DuckDB reads both formats by partition: day, brand, decimals', async (t) => {
  for (const format of ['ndjson', 'parquet'] as const) {
    const { server, open } = await setUp(t, { format });
    const amount = { total_amount: '1234567.89' };
    await open().deliver(
      [
        delivery(reservation('a', amount)),
        delivery(reservation('b', amount)),
        brand(delivery(reservation('c', amount)), 'OPO02'),
      ],
      limits,
    );
    const rows = await readBack(
      server,
      format,
      'select brand, date::varchar as day, count(*)::int as n, sum(total_amount)::decimal(12, 2)::varchar as money from rows group by all order by brand',
      t,
    );
    assert.deepEqual(rows, [
      { brand: 'LIS01', day: '2026-11-15', n: 2, money: '2469135.78' },
      { brand: 'OPO02', day: '2026-11-15', n: 1, money: '1234567.89' },
    ]);
  }
});

/** The bucket as a folder: DuckDB's own S3 reader is an extension that it would have to download. */
async function readBack(server: S3Server, format: 'ndjson' | 'parquet', sql: string, t: TestContext) {
  const { folder, remove } = await temporaryFolder();
  t.after(remove);
  for (const [key, { bytes }] of server.objects) {
    await mkdir(path.dirname(path.join(folder, key)), { recursive: true });
    await writeFile(path.join(folder, key), bytes);
  }
  const rows =
    format === 'parquet'
      ? `select * from read_parquet('${folder}/**/*.parquet', hive_partitioning = true)`
      : `select data.*, version, date, brand from read_ndjson('${folder}/**/*.ndjson', hive_partitioning = true)`;
  const duck = await DuckDBInstance.create(':memory:');
  const connection = await duck.connect();
  const found = (await connection.runAndReadAll(`with rows as (${rows}) ${sql}`)).getRowObjectsJson();
  connection.closeSync();
  duck.closeSync();
  return found;
}

test('server-side encryption, temporary credentials and the type of the content are part of each write', async (t) => {
  const { server, open } = await setUp(t, {
    format: 'parquet',
    encryption: { type: 'aws:kms', key_id: 'alias/hotels' },
    credentials: {
      access_key_id: 'AKIDTEST',
      secret_access_key: 'secret-access-key-1',
      session_token: 'temporary-token',
    },
  });
  await open().deliver([delivery(reservation('r'))], limits);
  const [name = ''] = names(server);
  const headers = server.objects.get(name)?.headers ?? {};
  assert.equal(headers['x-amz-server-side-encryption'], 'aws:kms');
  assert.equal(headers['x-amz-server-side-encryption-aws-kms-key-id'], 'alias/hotels');
  assert.equal(headers['x-amz-security-token'], 'temporary-token');
  assert.equal(headers['content-type'], 'application/vnd.apache.parquet');
});

test('virtual-host addressing, through the proxy of the service', async (t) => {
  const { server, parsed, offered } = await setUp(t);
  // Plain HTTP goes to a proxy as a request with the whole address, which the server takes too.
  const http = openHttp({ allowPrivate: true, userAgent: 'test', proxy: server.url, proxyResolves: true });
  t.after(() => http.close());
  const settings = { ...parsed, endpoint: 'http://s3.example', addressing: 'virtual_host' as const };
  const outcomes = await s3.open(settings, { ...offered, http }).deliver([delivery(reservation('r'))], limits);
  assert.ok(delivered(outcomes), JSON.stringify(outcomes));
  assert.ok(server.requests.every(({ host }) => host === 'lake.s3.example'));
  assert.equal(names(server)[0], 'hotels/changes/date=2026-11-15/brand=LIS01/changes_00000001.ndjson');
});

test('failures are outcomes that name no key and no object', async (t) => {
  const { server, open, offered, parsed } = await setUp(t);
  const one = [delivery(reservation('r'))];
  const outcome = async (destination = open()) => (await destination.deliver(one, limits))[0];
  server.fault = { status: 403, code: 'AccessDenied' };
  assert.deepEqual(await outcome(), {
    kind: 'retry',
    code: 'deliver.auth_failed',
    message: 'The bucket refuses access: AccessDenied.',
  });
  server.fault = { status: 503, code: 'SlowDown' };
  const slow = await outcome();
  assert.ok(slow?.kind === 'retry' && slow.code === 'deliver.rate_limited' && slow.free);
  // A gateway may answer 503 although the object was written.
  assert.ok(slow.mayHaveArrived);
  server.fault = { status: 404, code: 'NoSuchBucket' };
  const missing = await outcome();
  assert.ok(missing?.kind === 'retry' && missing.code === 'deliver.write_failed', JSON.stringify(missing));
  server.fault = undefined;
  const away = await outcome(s3.open({ ...parsed, endpoint: 'http://127.0.0.1:1' }, offered));
  assert.ok(away?.kind === 'retry' && away.code === 'deliver.unreachable');
  const guarded = services('/', false);
  t.after(() => guarded.close());
  const blocked = await outcome(s3.open(parsed, guarded));
  assert.ok(blocked?.kind === 'dead' && blocked.code === 'deliver.blocked_address');
  for (const said of [slow, missing, away, blocked]) assert.doesNotMatch(JSON.stringify(said), /AKID|secret|changes_0/);
});

test('a document of type s3 delivers, with its key sealed', async (t) => {
  const server = await s3Server();
  const node = await apiNode('', {
    'destinations/lake.yaml': `destination: lake
type: s3
bucket: lake
region: eu-west-1
endpoint: ${server.url}
addressing: path
credentials: { access_key_id: AKIDTEST, secret_access_key: secret-access-key-1 }
format: parquet
`,
  });
  t.after(async () => {
    await node.stop();
    await server.close();
  });
  await node.take('grand', taken('R1'), taken('R2'));
  await node.take('other', taken('R1'));
  const counts = await drainOnce(await deliverPorts(node.runtime));
  assert.deepEqual(counts, { delivered: 3, skipped: 0, retry: 0, dead: 0 });
  assert.deepEqual(
    names(server).map((name) => name.replace(/date=[\d-]+/, 'date=…')),
    [
      '_brands/grand.csv',
      '_brands/other.csv',
      'date=…/brand=LIS01/changes_00000001.parquet',
      'date=…/brand=OPO02/changes_00000001.parquet',
    ],
  );
  const { rows } = await node.runtime.pool.query(`select from documents d where d::text like '%secret-access-key-1%'`);
  assert.equal(rows.length, 0);
});

test('what is known about a brand is an object of its own, replaced when it changes', async (t) => {
  const { server, parsed, offered } = await setUp(t);
  let rooms = 100;
  const brandOf = async () => ({
    brandId: 'LIS01',
    timezone: 'Europe/Lisbon',
    country: 'PT',
    roomsAvailable: [['2026-11-01', rooms]] as const,
  });
  const nodes = [1, 2].map(() => s3.open(parsed, { ...offered, brandOf }));
  const send = (id: string) =>
    Promise.all(nodes.map((node, i) => node.deliver([delivery(reservation(`${id}${i}`))], limits)));
  const written = () => server.objects.get('hotels/changes/_brands/lisbon.csv')?.bytes.toString();
  for (const now of [100, 80]) {
    rooms = now;
    assert.ok((await send(`r${now}-`)).every(delivered));
    assert.equal(
      written(),
      `integration,brand_id,timezone,country,from_night,rooms\nlisbon,"LIS01",Europe/Lisbon,PT,2026-11-01,${now}\n`,
    );
  }
  assert.equal(lines(server).length, 4);
  for (const node of nodes) await node.close();
});
