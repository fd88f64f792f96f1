import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { watchOnce } from '../../src/operator/operations/watch-once.ts';
import { innbound, until } from '../support/process.ts';
import { ask, event, openInBrowser, openSetup, type Setup, send } from './support.ts';

/** Where the alert route sends to. */
const told: string[] = [];
const pager = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    told.push(body);
    response.end();
  });
});

let setup: Setup;
before(async () => {
  await new Promise<void>((resolve) => pager.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(pager.address() as AddressInfo).port}/`;
  setup = await openSetup({
    'innbound.yaml': `network: { allow_private: true }\nalerts: { routes: { pager: { type: webhook, url: "${url}" } } }\n`,
  });
});
after(async () => {
  pager.close();
  await setup?.stop();
});

test('the command creates, lists, approves and revokes links', async () => {
  const run = async (...args: string[]) => {
    const done = await innbound(['onboard', ...args, '--json', '--workspace', setup.dir], { env: setup.env });
    assert.equal(done.code, 0, done.stderr + done.stdout);
    return done.json();
  };
  const [made] = await run(
    'create',
    'porto-bay',
    '--partner',
    'Bay PMS',
    '--push',
    '--brand-id',
    'POR01',
    '--timezone',
    'Europe/Lisbon',
  );
  assert.match(String(made?.url), /\/connect\/onb_\w+#[\w-]{43}$/);
  const id = String(made?.link_id);
  const [listed] = (await run('list')).filter(({ link_id }) => link_id === id);
  assert.partialDeepStrictEqual(listed, {
    integration: 'porto-bay',
    partner: 'Bay PMS',
    asks: ['push'],
    is_opened: false,
  });
  assert.equal(JSON.stringify(listed).includes(String(made?.url).split('#')[1] ?? '?'), false);
  const refused = await innbound(['onboard', 'approve', id, '--json', '--workspace', setup.dir], { env: setup.env });
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /operate\.not_ready/);
  const nobody = await innbound(['onboard', 'approve', id, '--anyway', '--json', '--workspace', setup.dir], {
    env: setup.env,
  });
  assert.match(nobody.stdout + nobody.stderr, /delivers to nobody: name a destination/);
  assert.deepEqual(await run('approve', id, '--anyway', '--deliver', 'lake'), [
    { live: true, run_id: null, deliver: ['lake'], preview: ['lake'] },
  ]);
  assert.deepEqual(await run('revoke', id), [{ revoked: true }]);
  const half = await innbound(
    ['onboard', 'create', 'x', '--partner', 'P', '--brand-id', 'X', '--workspace', setup.dir],
    { env: setup.env },
  );
  assert.match(half.stderr, /brand\/timezone/);
});

test('the operator is told on the alert route that a partner asks, and no more once it is answered', async () => {
  const link = await setup.link({ asks: ['push'] });
  const { browser } = await openInBrowser(setup, link);
  await browser.call('POST', '/comment', { about: '', text: 'Which secret is it?' });
  const { runtime } = setup.service;
  await watchOnce(runtime);
  await until('the pager is told', async () => told.some((body) => body.includes('partner_waiting')));
  const body = told.find((one) => one.includes('partner_waiting')) ?? '';
  assert.match(body, /Harbour PMS has written 1 comment on the onboarding page of harbour/);
  assert.equal(body.includes('Which secret'), false, 'the comment itself stays inside');
  await setup.operator(
    'POST',
    `/onboarding-links/${link.linkId}/comments`,
    { text: 'The one on the page.' },
    'operator',
  );
  await watchOnce(runtime);
  const { items } = (await setup.operator('GET', '/alerts?open=true')).body;
  assert.equal(JSON.stringify(items ?? []).includes('partner_waiting'), false);
});

test('deliveries of a brand that goes live wait until they are released', async () => {
  const link = await setup.link({
    integration: 'new-hotel',
    asks: ['push'],
    brand: { brand_id: 'HAR01', timezone: 'Europe/Lisbon', deliver: ['lake'] },
  });
  const { browser } = await openInBrowser(setup, link);
  const { secret } = (await browser.call('POST', '/secret')).body;
  const { url } = (await browser.call('GET', '')).body.push;
  await setup.operator('POST', `/onboarding-links/${link.linkId}/approve`, { anyway: true });
  assert.equal((await send(url, secret, event('live', 'reservation.created'))).status, 202);
  const waiting = async () => {
    const { rows } = await setup.service.runtime.pool.query(
      `select count(*)::int as n from outbox where integration = 'new-hotel' and next_version <= last_version`,
    );
    return rows[0].n as number;
  };
  await until('the change is queued', async () => (await waiting()) > 0);
  const preview = await setup.operator('GET', '/integrations/new-hotel/release/lake');
  assert.equal(preview.status, 200);
  assert.ok((await waiting()) > 0);
  assert.equal((await setup.operator('POST', '/integrations/new-hotel/release/lake', {})).status, 200);
  await until('it is delivered after the release', async () => (await waiting()) === 0);
});

test('only an admin creates links, and a viewer sees no token of one', async () => {
  const made = await setup.operator('POST', '/integrations/harbour/onboarding-links', { partner: 'P' }, 'operator');
  assert.equal(made.status, 403);
  const { url } = (await setup.operator('POST', '/integrations/harbour/onboarding-links', { partner: 'P' })).body;
  const listed = await setup.operator('GET', '/onboarding-links', undefined, 'viewer');
  assert.equal(JSON.stringify(listed.body).includes(url.split('#')[1]), false);
  assert.equal((await ask(url.split('#')[0], 'GET')).status, 404, 'curl gets no page');
});
