import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lease } from '../../src/core/deliver/claiming.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import type { Outcome } from '../../src/core/deliver/destination.ts';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import { destinationType as webhook } from '../../src/core/deliver/destinations/webhook/destination.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { listen } from './http-server.ts';
import { config, delivery, lane, openStore, ports, reservation, scripted, services, takeIn } from './support.ts';

test('a lease ends by the earlier of both clocks', () => {
  let [nowMs, uptimeMs] = [1_000_000, 5];
  const lease = new Lease({ ...systemClock, now: () => nowMs, uptimeMs: () => uptimeMs }, 60_000);
  uptimeMs += 10_000;
  assert.equal(lease.leftMs, 50_000, 'the wall clock stood still');
  nowMs -= 3_600_000;
  assert.equal(lease.leftMs, 50_000, 'the wall clock was set back');
  nowMs += 3_600_000 + 40_000;
  assert.equal(lease.leftMs, 20_000, 'monotonic time stood still while the machine was suspended');
});

test('a process that was stopped after its claim sends nothing: another node may hold the record', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  await takeIn(pool, [reservation('a')], ['crm']);
  let stoppedMs = 0;
  const clock = { ...systemClock, uptimeMs: () => systemClock.uptimeMs() + stoppedMs };
  const crm = scripted((): Outcome => ({ kind: 'delivered' }));
  const made = ports(pool, [lane(config('crm'))], { crm: crm.destination }, { clock });
  const claim: typeof made.store.claim = async (...asked) => {
    const claims = await made.store.claim(...asked);
    if (claims.length > 0 && stoppedMs === 0) stoppedMs = 45_000;
    return claims;
  };
  const counts = await drainOnce({ ...made, store: { ...made.store, claim } });
  // The record was returned without using a try, claimed again with a new lease and sent once.
  assert.deepEqual(counts, { delivered: 1, skipped: 0, retry: 0, dead: 0 });
  assert.equal(crm.messages().length, 1);
  const { rows } = await pool.query('select fence from outbox');
  assert.deepEqual(rows, [{ fence: 2 }]);
});

test('http and webhook check the lease after everything that takes time', async (t) => {
  const server = await listen(() => ({ status: 200 }));
  const offered = services('/');
  t.after(async () => {
    await server.close();
    await offered.close();
  });
  let leftMs = 60_000;
  const limits = {
    batch: 1,
    deadlineMs: 30_000,
    leaseLeftMs: () => leftMs,
    extend: async () => true,
    signal: new AbortController().signal,
  };
  const slowToken = {
    ...offered,
    authorizer: () => ({
      authorize: async (request: never) => {
        leftMs = 10_000;
        return { kind: 'ok' as const, request };
      },
      refused: async () => false,
    }),
  };
  const settings = { url: server.url, auth: { type: 'bearer', token: 'x' } };
  const [late] = await http
    .open(http.settings.parse(settings), slowToken)
    .deliver([delivery(reservation('a'))], limits);
  assert.deepEqual(late?.kind === 'retry' && [late.code, late.free], ['deliver.lease_expired', true]);
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const onward = webhook.open(webhook.settings.parse({ url: server.url, secret }), offered);
  const [lost] = await onward.deliver([delivery(reservation('a'))], limits);
  assert.equal(lost?.kind === 'retry' && lost.code, 'deliver.lease_expired');
  assert.equal(server.received.length, 0);
  leftMs = 60_000;
  const [sent] = await onward.deliver([delivery(reservation('a'))], limits);
  assert.equal(sent?.kind, 'delivered');
});
