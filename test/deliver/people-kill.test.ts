import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { listen } from './http-server.ts';
import type { PeopleWorkerSettings } from './people-worker.ts';
import { openStore, reservation, services, takeIn } from './support.ts';
import { klaviyoAccount } from './vendors/klaviyo.ts';
import { mailchimpAccount } from './vendors/mailchimp.ts';

const worker = fileURLToPath(new URL('people-worker.ts', import.meta.url));

/** A vendor with a key for events, and one that has to be asked. */
for (const make of [klaviyoAccount, mailchimpAccount]) {
  const account = make();
  test(`${account.preset}: nodes are killed right after a moment took effect, and it is recorded once`, async (t) => {
    const { pool, db, close } = await openStore();
    const offered = services('/');
    let node: ChildProcess | undefined;
    let kills = 0;
    let isStarted = false;
    const server = await listen((request) => {
      const before = account.moments().length;
      const reply = account.answer(request);
      // Every fifth moment: the request took effect, and the node that sent it is dead.
      if (!isStarted || account.moments().length === before || account.moments().length % 5 !== 0) return reply;
      kills += 1;
      node?.kill('SIGKILL');
      return 'hang';
    });
    const basic = account.variables(server.url);
    const prepared = await http.prepare?.(http.settings.parse({ preset: account.preset, with: basic }), offered, {
      dryRun: false,
    });
    const variables = { ...basic, ...prepared?.settings };
    const settings: PeopleWorkerSettings = { connection: db.connection, preset: account.preset, variables };
    let isOver = false;
    const start = () => {
      const env = { ...process.env, PEOPLE_WORKER: JSON.stringify(settings), NODE_OPTIONS: '' };
      node = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', worker], { env, stdio: 'inherit' });
      node.once('exit', () => {
        if (!isOver) start();
      });
    };
    t.after(async () => {
      isOver = true;
      const ended = node && node.exitCode === null && node.signalCode === null ? once(node, 'exit') : undefined;
      node?.kill('SIGKILL');
      await ended;
      await server.close();
      await offered.close();
      await close();
    });

    const ids = Array.from({ length: 4 }, (_, i) => `r${i}`);
    for (const status of ['confirmed', 'checked_in', 'checked_out'] as const) {
      const records = ids.map((id) => reservation(id, { status }));
      await takeIn(pool, records, ['crm']);
    }
    isStarted = true;
    start();
    for (let waiting = 1; waiting > 0; await systemClock.wait(50)) {
      const { rows } = await pool.query<{ n: number }>(
        'select count(*)::int as n from outbox where due_at is not null',
      );
      waiting = rows[0]?.n ?? 0;
    }
    assert.ok(kills >= 2, `${kills} kills`);
    const seen = Map.groupBy(account.moments(), ({ id }) => id.split(':')[1]);
    for (const id of ids) {
      assert.deepEqual(
        seen.get(id)?.map(({ kind }) => kind),
        ['booked', 'checked_in', 'checked_out'],
      );
    }
  });
}
