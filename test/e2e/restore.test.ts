import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../support/database.ts';
import { innbound, until } from '../support/process.ts';
import { hotelWorkspace } from './workspace.ts';

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** A partner with one reservation, whose channel the test changes. */
async function partner(): Promise<{ url: string; say: (channel: string) => void; close: () => void }> {
  let channel = '';
  const server = createServer((request, response) => {
    const isFirst = new URL(request.url ?? '/', 'http://partner').searchParams.get('offset') === '0';
    const reservation = {
      id: 'R1',
      check_in: inDays(3),
      check_out: inDays(5),
      status: 'confirmed',
      channel,
      guests: [],
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ reservations: isFirst ? [reservation] : [], total: 1 }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, say: (next) => (channel = next), close: () => server.close() };
}

test('after a restore of an older backup the warehouse follows the restored store', async () => {
  const hotel = await partner();
  const { dir, remove } = await hotelWorkspace(hotel.url);
  const [first, warehouse] = [await testDatabase(), await testDatabase({ empty: true })];
  await writeFile(
    path.join(dir, 'destinations/lake.yaml'),
    `destination: lake\ntype: postgres\nurl: ${JSON.stringify(warehouse.url)}\n`,
  );
  const run = async (databaseUrl: string, ...args: string[]) => {
    const ran = await innbound([...args, '-w', dir, '--json'], { env: { DATABASE_URL: databaseUrl } });
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
    said = ran.stderr;
    return ran.json()[0];
  };
  let said = '';
  const pullOnce = async (databaseUrl: string, channel: string) => {
    hotel.say(channel);
    await run(databaseUrl, 'sync', 'grand', '--type', 'pre_stay');
  };
  const rows = async () => {
    const client = new pg.Client(warehouse.connection);
    await client.connect();
    try {
      return (await client.query('select epoch, version, channel from innbound.reservations')).rows;
    } finally {
      await client.end();
    }
  };
  try {
    await pullOnce(first.url, 'one');
    const backup = await testDatabase({ copyOf: first });
    for (const channel of ['two', 'three', 'four']) await pullOnce(first.url, channel);
    assert.deepEqual(await rows(), [{ epoch: 1, version: 4, channel: 'four' }]);

    // The backup replaces the database. It has only version 1; the next change becomes version 2 again.
    const restored = await testDatabase({ copyOf: backup });
    await pullOnce(restored.url, 'five');
    assert.match(said, /store\.restored/, 'a service that starts now finds nothing to report');
    assert.deepEqual(await rows(), [{ epoch: 2, version: 2, channel: 'five' }]);

    // A restore that the workspace cannot notice, because its folder was restored as well, is declared.
    const memory = path.join(dir, '.innbound', 'store-position.json');
    assert.equal((JSON.parse(await readFile(memory, 'utf8')) as { epoch: number }).epoch, 2);
    await pullOnce(restored.url, 'six');
    await writeFile(memory, '{}');
    const again = await testDatabase({ copyOf: backup });
    const declared = await run(again.url, 'restored');
    const nextSecond = Date.now() + 1_000;
    await run(again.url, 'resend', 'lake');
    assert.deepEqual(await rows(), [{ ...declared, version: 1, channel: 'one' }]);
    await pullOnce(again.url, 'seven');

    // The same once more: the epoch of the first time must not come again.
    await writeFile(memory, '{}');
    await until('the clock has moved on', async () => Date.now() > nextSecond);
    const third = await testDatabase({ copyOf: backup });
    const later = await run(third.url, 'restored');
    assert.ok(Number(later?.epoch) > Number(declared?.epoch));
    await run(third.url, 'resend', 'lake');
    assert.deepEqual(await rows(), [{ ...later, version: 1, channel: 'one' }]);
  } finally {
    hotel.close();
    await remove();
  }
});
