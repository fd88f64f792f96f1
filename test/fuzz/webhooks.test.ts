import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { startService } from '../../src/service.ts';
import type { Json } from '../../src/terms.ts';
import { hotelWorkspace } from '../e2e/workspace.ts';
import { nowS, reservationData, sign } from '../intake/push/support.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/process.ts';
import { fuzz, garbled, mutated, strayErrors } from './fuzz.ts';

/** Signed and unsigned rubbish against a whole node: webhooks in, events through the path, files out. */

const expected = new Set([200, 202, 400, 401, 413, 415, 422, 429]);

test('no webhook ends or stops a node, and an unsigned one is never accepted', { timeout: 900_000 }, async (t) => {
  const stray = strayErrors();
  const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
  const env = { DATABASE_URL: (await testDatabase()).url, INNBOUND_ALLOW_PRIVATE_NETWORK: '1' };
  const node = await startService({
    env,
    workspaceDir: dir,
    port: 0,
    host: '127.0.0.1',
    role: 'all',
    logLevel: 'silent',
  });
  t.after(async () => {
    await node.stop();
    await remove();
  });
  const issued = await addressFor(node.runtime, 'grand', {});
  const { endpoint_id: endpointId, secret = '' } = issued as { endpoint_id: string; secret?: string };
  assert.notEqual(secret, '');
  const answers = new Map<number, number>();
  await fuzz(250, async (dice, seed) => {
    const envelope: Json = {
      event: dice.one(['reservation.created', 'reservation.updated', 'reservation.cancelled', 'guest.updated']),
      event_id: `ev-${seed}`,
      timestamp: new Date().toISOString(),
      brand_id: 'LIS01',
      data: reservationData({ reservation_id: `R-${dice.below(20)}` }),
    };
    const sound = JSON.stringify(mutated(dice, envelope));
    const body = dice.chance(0.15) ? garbled(dice, sound) : sound;
    const timestamp = nowS();
    const signed = !dice.chance(0.1);
    const response = await fetch(`${node.url}/webhooks/${endpointId}`, {
      method: 'POST',
      headers: {
        'content-type': dice.chance(0.05)
          ? dice.one(['text/plain', 'application/xml', 'application/json; charset=x'])
          : 'application/json',
        'x-webhook-timestamp': dice.chance(0.03) ? dice.one(['', '0', '-1', '1e9', '9'.repeat(30)]) : timestamp,
        'x-webhook-signature': signed
          ? sign(secret, timestamp, body)
          : dice.one(['', 'sha512=', `sha512=${'0'.repeat(128)}`, 'x']),
      },
      body,
    });
    const text = await response.text();
    answers.set(response.status, (answers.get(response.status) ?? 0) + 1);
    assert.ok(expected.has(response.status), `${response.status} ${text}`);
    if (!signed) assert.ok(response.status !== 200 && response.status !== 202, text);
    assert.ok(!text.includes('marta.quill@mail.example'), 'no answer quotes the payload');
    assert.deepEqual(stray, []);
  });
  for (const status of [202, 401, 422])
    assert.ok(answers.has(status), `no answer was ${status}: ${JSON.stringify([...answers])}`);
  await until('every accepted event is processed', async () => {
    const { rows } = await node.runtime.pool.query<{ n: number }>(
      `select count(*)::int as n from events where state = 'pending'`,
    );
    return rows[0]?.n === 0;
  });
  assert.equal((await fetch(`${node.url}/readyz`)).status, 200);
  assert.deepEqual(stray, []);
});
