import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { ask, event, openInBrowser, openSetup, type Setup, send } from './support.ts';

let setup: Setup;
let secret: string;
before(async () => {
  setup = await openSetup();
  const { browser } = await openInBrowser(setup, await setup.link({ asks: ['push'] }));
  secret = (await browser.call('POST', '/secret')).body.secret;
});
after(() => setup.stop());

const partner = async () => {
  const { browser } = await openInBrowser(setup, await setup.link({ asks: ['push'] }));
  const view = async () => (await browser.call('GET', '')).body;
  return { browser, view, url: (await view()).push.url as string };
};

test('the brand’s own address rehearses: it answers as usual, reports, and stores nothing', async () => {
  const { view, url } = await partner();
  const answer = await send(url, secret, event('ok-1', 'reservation.created'));
  assert.equal(answer.status, 202);
  assert.deepEqual(answer.body, { status: 'accepted', event_id: 'ok-1' });
  assert.equal(
    (await send(url, secret, event('ok-1', 'reservation.created'))).status,
    200,
    'a duplicate is recognized',
  );
  const { rows } = await setup.service.runtime.pool.query('select count(*)::int as n from events');
  assert.deepEqual(rows, [{ n: 0 }]);
  const shown = await view();
  const [latest] = shown.push.requests;
  assert.equal(latest.outcome.kind, 'record');
  assert.equal(shown.checks.find(({ id }: { id: string }) => id === 'push.duplicate').state, 'done');
  const text = JSON.stringify(shown);
  for (const name of ['Duarte', 'ines.duarte', '912345678', 'harbour', 'lake']) {
    assert.equal(text.includes(name), false, `${name} is not on the page`);
  }
});

test('each usual mistake is named with the part that is wrong', async () => {
  const { view, url } = await partner();
  const resign =
    (key: string, algorithm: string, encoding: 'hex' | 'base64') =>
    (one: { headers: Record<string, string>; body: string }) => {
      const mac = createHmac(algorithm, key)
        .update(`${one.headers['X-Webhook-Timestamp']}.${one.body}`)
        .digest(encoding);
      return { ...one, headers: { ...one.headers, 'X-Webhook-Signature': `sha512=${mac}` } };
    };
  const told = async (...mistake: Parameters<typeof send> extends [string, string, ...infer Rest] ? Rest : never) => {
    const { status } = await send(url, secret, ...mistake);
    const [latest] = (await view()).push.requests;
    return { status, part: latest.signature?.part, problems: latest.problems.length, outcome: latest.outcome };
  };
  const created = event('m', 'reservation.created');
  assert.partialDeepStrictEqual(await told(created, resign('x'.repeat(40), 'sha512', 'hex')), {
    status: 401,
    part: 'secret',
  });
  assert.partialDeepStrictEqual(await told(created, resign(secret, 'sha512', 'base64')), {
    status: 401,
    part: 'encoding',
  });
  assert.partialDeepStrictEqual(await told(created, resign(secret, 'sha256', 'hex')), { status: 401, part: 'method' });
  const milliseconds = (one: { headers: Record<string, string>; body: string }) => ({
    ...one,
    headers: { ...one.headers, 'X-Webhook-Timestamp': `${one.headers['X-Webhook-Timestamp']}000` },
  });
  assert.partialDeepStrictEqual(await told(created, milliseconds), { status: 401, part: 'time' });
  const encodedAgain = (one: { headers: Record<string, string>; body: string }) => ({
    ...one,
    body: JSON.stringify(JSON.parse(one.body), null, 2),
  });
  assert.partialDeepStrictEqual(await told(created, encodedAgain), { status: 401, part: 'body' });
  const { brand_id: _, ...noBrand } = created;
  assert.partialDeepStrictEqual(await told(noBrand), { status: 422, problems: 1 });
  const noId = event('n', 'reservation.created', {}, { reservation_id: undefined });
  assert.partialDeepStrictEqual(await told(noId), { status: 202, outcome: { kind: 'dead_letter' } });
  const localDates = event('d', 'reservation.created', {}, { check_in: '05/04/2031' });
  assert.partialDeepStrictEqual(await told(localDates), { status: 202, outcome: { kind: 'dead_letter' } });
  const { status } = await send(url, secret, created, (one) => ({
    ...one,
    headers: { ...one.headers, 'Content-Type': 'text/plain' },
  }));
  assert.equal(status, 415);
});

test('a sample shows success and ticks nothing', async () => {
  const { browser, view } = await partner();
  assert.equal((await browser.call('POST', '/sample')).status, 200);
  const shown = await view();
  const sample = shown.push.requests.find((one: { event_id: string }) => one.event_id.startsWith('sample_'));
  assert.equal(sample.signature.right, true);
  assert.equal(sample.outcome.kind, 'record');
  assert.ok(shown.checks.every(({ state }: { state: string }) => state === 'missing'));
});

test('the retry test refuses the next event twice with 500, only where it was started', async () => {
  const { browser, view, url } = await partner();
  await browser.call('POST', '/retry-test');
  const retried = event(`retry-${Date.now()}`, 'reservation.created');
  const first = await send(url, secret, retried);
  assert.equal(first.status, 500);
  assert.equal(first.body.code, 'push.deliberate_failure');
  assert.equal((await send(url, secret, retried)).status, 500);
  assert.equal((await send(url, secret, retried)).status, 202);
  assert.equal((await view()).push.retry_test.attempts, 3);
});

test('a new secret leaves the earlier one valid for a while', async () => {
  const { browser, url } = await partner();
  const renewed = (await browser.call('POST', '/secret')).body.secret as string;
  assert.notEqual(renewed, secret);
  assert.equal((await send(url, secret, event('old-secret', 'reservation.created'))).status, 202);
  assert.equal((await send(url, renewed, event('new-secret', 'reservation.created'))).status, 202);
});

test('live again: after approval the same address stores events', async () => {
  const { browser, url } = await partner();
  const id = browser.cookie.split('=')[0]?.replace('innbound_', '');
  const early = await setup.operator('POST', `/onboarding-links/${id}/approve`, {});
  assert.equal(early.body.code, 'operate.not_ready');
  assert.equal((await setup.operator('POST', `/onboarding-links/${id}/approve`, { anyway: true })).status, 200);
  assert.equal((await send(url, secret, event('live-1', 'reservation.created'))).status, 202);
  const { rows } = await setup.service.runtime.pool.query('select count(*)::int as n from events');
  assert.deepEqual(rows, [{ n: 1 }]);
  const { state, health, push } = (await browser.call('GET', '')).body;
  assert.equal(state, 'live');
  assert.ok(health.last_event_at);
  assert.equal(push.is_rehearsal, false);
  assert.notEqual(push.test_url, url);
  const source = (await setup.operator('GET', '/documents/integration/harbour')).body;
  assert.match(JSON.stringify(source), /comments stay/);
});

test('a brand that is live already stays live when a link is made for it', async () => {
  const { runtime } = setup.service;
  const { url } = await addressFor(runtime, 'harbour');
  await setup.link({ asks: ['push'] });
  assert.equal((await ask(url, 'POST', {})).status, 401);
  assert.equal(runtime.active().integrations.get('harbour')?.body.push.sandbox, false);
});
