import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Simulator, startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { noMariadb, startMariadb } from '../deliver/warehouse/mariadb.ts';
import { innbound, type ServiceProcess, serve, until } from '../support/process.ts';
import { hotelWorkspace } from './workspace.ts';

/** A warehouse as its user meets it: a service and a command beside it, MariaDB, and a simulated hotel. */
describe('a hotel in MariaDB', { skip: noMariadb }, () => {
  let server: Awaited<ReturnType<typeof startMariadb>>;
  let partner: Simulator;
  let workspace: Awaited<ReturnType<typeof hotelWorkspace>>;
  let service: ServiceProcess | undefined;
  const at = (...args: string[]) => innbound([...args, '--workspace', workspace.dir, '--json']);
  const rows = async (sql: string) =>
    (await server.query(`use stays; ${sql}`)).at(-1) as unknown as Record<string, unknown>[];

  before(async () => {
    server = await startMariadb();
    await server.database('stays');
    partner = await startSimulator({
      seed: 7,
      reservations: 60,
      untidy: 0,
      auth: { type: 'bearer', token: 'letmein' },
    });
    workspace = await hotelWorkspace(partner.baseUrl);
    const text = `destination: lake\ntype: mysql\nurl: ${server.url('stays')}\nreceives: [reservation, guest]\nretry: [1s, 1s]\n`;
    await writeFile(path.join(workspace.dir, 'destinations/lake.yaml'), text);
    service = await serve(workspace.dir);
  });
  after(async () => {
    await service?.stop();
    await partner.stop();
    await workspace.remove();
    await server.stop();
  });

  test('prepare works beside the service and doctor agrees', async () => {
    const prepared = await at('destination', 'prepare', 'lake');
    assert.equal(prepared.code, 0, prepared.stdout + prepared.stderr);
    const [answer] = prepared.json();
    assert.equal(answer?.done, true);
    assert.match(JSON.stringify(answer?.grants), /GRANT SELECT, INSERT/);
    const found = (await at('doctor')).json().find(({ check }) => check === 'warehouse');
    assert.deepEqual([found?.state, found?.message], ['ok', 'lake accepts the login, and has all tables and columns.']);
  });

  test('every booking arrives, with how fresh and complete the brand is, and its runs', async () => {
    for (const type of ['pre_stay', 'stay', 'post_stay']) {
      const [result] = (await at('sync', 'grand', '--type', type)).json();
      assert.equal(result?.status, 'complete', JSON.stringify(result));
    }
    const ids = partner.hotel.list().map(({ id }) => id);
    const arrived = await until('all bookings', async () => {
      const seen = await rows('select id from reservations');
      return seen.length > 0 && (await rows('select 1 from reservation_versions')).length >= seen.length && seen;
    });
    assert.ok(arrived.every(({ id }) => ids.includes(String(id))));
    const [brand] = await until('the state of the brand', async () => {
      const seen = await rows('select * from brands where last_run_at is not null and complete_until is not null');
      return seen.length > 0 && seen;
    });
    assert.deepEqual([brand?.integration, brand?.brand_id, brand?.timezone], ['grand', 'LIS01', 'Europe/Lisbon']);
    const runs = await until('the runs', async () => {
      const seen = await rows(`select sync, state, fetched, changed, ended_at from runs where state = 'complete'`);
      return seen.length >= 3 && seen;
    });
    assert.deepEqual(new Set(runs.map(({ sync }) => sync)), new Set(['pre_stay', 'stay', 'post_stay']));
  });

  test('while the server is gone nothing is lost; after it is back everything arrives, and an erasure leaves nothing', async () => {
    const before = (await rows('select 1 from reservation_versions')).length;
    await server.kill();
    partner.hotel.advance(20);
    let changed = 0;
    for (const type of ['pre_stay', 'stay', 'post_stay']) {
      const [result] = (await at('sync', 'grand', '--type', type)).json();
      changed += Number(result?.changed);
    }
    assert.ok(changed > 0);
    await server.start();
    await until(
      'what changed meanwhile',
      async () => (await rows('select 1 from reservation_versions')).length >= before + changed,
    );
    const [guest] = await until('a guest', async () => {
      const seen = await rows(
        'select email, reservation_id from guests where email is not null and email_proxy is null limit 1',
      );
      return seen.length > 0 && seen;
    });
    const email = String(guest?.email);
    const [receipt] = (await at('erase', '--email', email)).json();
    assert.ok(receipt, 'a receipt');
    await until('the erasure', async () => {
      const left = await rows(
        `select 1 from guests where email = '${email}' union all select 1 from guest_profiles where email = '${email}'`,
      );
      const texts = await rows(`select 1 from reservations where guests like '%${email}%'`);
      return left.length + texts.length === 0;
    });
    assert.equal((await at('dead-letters', 'list')).json().length, 0);
  });
});
