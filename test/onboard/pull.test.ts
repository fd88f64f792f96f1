import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { editOrThrow } from '../../src/operator/operations/onboarding.ts';
import { openInBrowser, openSetup, type Setup } from './support.ts';
import { startUnseenSystem, type UnseenSystem } from './unseen-system.ts';

let setup: Setup;
let system: UnseenSystem;
before(async () => {
  [setup, system] = [await openSetup(), await startUnseenSystem()];
});
after(async () => {
  await setup.stop();
  await system.stop();
});

const list = { method: 'GET', path: '/v2/bookings', from: 'arrivalFrom', to: 'arrivalTo' };
const states = (checks: { id: string; state: string }[]) =>
  Object.fromEntries(checks.map(({ id, state }) => [id, state]));

test('a partner connects a system that nobody has described, and sees what we read', async () => {
  const { browser } = await openInBrowser(setup, await setup.link({ asks: ['pull'] }));
  const view = async () => (await browser.call('GET', '')).body;
  assert.deepEqual((await view()).pull, {
    may_edit: true,
    base_url: null,
    auth: null,
    list: { method: 'GET', path: '', from: '', to: '', paging: null },
    tested_at: null,
    check: null,
  });
  const form = { base_url: system.url, list };
  await browser.call('POST', '/pull', { ...form, auth: { type: 'bearer', token: 'a wrong token' } });
  const refused = (await browser.call('POST', '/test')).body;
  assert.equal(refused.failure.code, 'pull.auth_failed');
  assert.equal(refused.request.status, 401);
  assert.equal(JSON.stringify(refused).includes('a wrong token'), false);
  assert.equal(states((await view()).checks)['pull.answers'], 'wrong');
  assert.equal((await view()).pull.list.paging, null, 'how it pages is still to be found out');

  await browser.call('POST', '/pull', { ...form, auth: { type: 'bearer', token: system.token } });
  system.lists = false;
  const empty = (await browser.call('POST', '/test')).body;
  assert.deepEqual([empty.failure, empty.records], [undefined, []], 'an empty list is no fault');
  const shown = Object.entries(states((await view()).checks)).filter(([, state]) => state !== 'missing');
  assert.deepEqual(shown, [['pull.answers', 'done']]);
  system.lists = true;
  const tested = (await browser.call('POST', '/test')).body;
  assert.equal(tested.failure, undefined, JSON.stringify(tested.failure));
  assert.equal(tested.records.length, 3);
  const read = new Map(tested.records[0].map((one: { field: string }) => [one.field, one]));
  assert.partialDeepStrictEqual(read.get('id'), { from: 'bookingRef' });
  assert.partialDeepStrictEqual(read.get('rooms[0].rate_code'), { value: 'BAR' });
  const text = JSON.stringify(tested);
  for (const name of ['Duarte', 'Costa', 'letters.example', '+3519123456'])
    assert.equal(text.includes(name), false, name);
  assert.deepEqual(states((await view()).checks), {
    'pull.answers': 'done',
    'pull.complete': 'done',
    'pull.bounds': 'done',
    'pull.readable': 'done',
    'pull.status': 'done',
    'pull.fields': 'done',
    'pull.contact': 'done',
    'pull.volume': 'done',
    'pull.paging': 'missing',
    'pull.dates': 'missing',
    'pull.errors': 'missing',
  });
  assert.partialDeepStrictEqual((await view()).pull.list.paging, { type: 'cursor', cursor: 'query.cursor' });
  const { rows } = await setup.service.runtime.pool.query('select count(*)::int as n from records');
  assert.deepEqual(rows, [{ n: 0 }], 'nothing was stored');

  await editOrThrow(setup.service.runtime, 'connector', 'harbour', 'Ada', (yaml) => {
    yaml.set('unknown_status', 'other');
    yaml.setIn(['map', 'status'], { const: 'ZZ' });
  });
  await browser.call('POST', '/test');
  const { checks } = await view();
  assert.partialDeepStrictEqual(
    checks.find(({ id }: { id: string }) => id === 'pull.status'),
    { state: 'wrong', seen: { unknown: 'ZZ' } },
  );
});

test('what an operator corrects in the mapping stays when the partner saves the same form again', async () => {
  const { browser } = await openInBrowser(setup, await setup.link({ asks: ['pull'] }));
  const { runtime } = setup.service;
  await editOrThrow(runtime, 'connector', 'harbour', 'Ada', (yaml) => yaml.setIn(['map', 'source'], 'guest.mail'));
  const mapped = () => runtime.active().integrations.get('harbour')?.connector.body.map?.source;
  await browser.call('POST', '/pull', { base_url: system.url, list });
  assert.equal(mapped(), 'guest.mail');
  await browser.call('POST', '/pull', { base_url: system.url, list: { ...list, path: '/v2/other' } });
  assert.equal(mapped(), undefined, 'another request may have another answer');
  await browser.call('POST', '/pull', { base_url: system.url, list });
});

test('ready, approved, live: the first backfill begins, and the partner sees it', async () => {
  const link = await setup.link({ asks: ['pull'] });
  const { browser } = await openInBrowser(setup, link);
  assert.equal((await browser.call('POST', '/ready')).body.code, 'operate.not_ready');
  await browser.call('POST', '/test');
  assert.equal((await browser.call('POST', '/check')).status, 200);
  assert.equal((await browser.call('POST', '/ready')).status, 200);
  const shown = (await setup.operator('GET', `/onboarding-links/${link.linkId}`)).body;
  assert.equal(shown.is_complete, true);
  assert.ok(shown.connector.now >= shown.connector.before);
  const approved = await setup.operator('POST', `/onboarding-links/${link.linkId}/approve`, {
    past_days: 3,
    future_days: 14,
  });
  assert.equal(approved.status, 200);
  assert.ok(approved.body.run_id);
  for (;;) {
    const { health, state } = (await browser.call('GET', '')).body;
    assert.equal(state, 'live');
    if (health.backfill?.status === 'complete') {
      assert.equal(health.backfill.bookings, 70);
      break;
    }
    assert.notEqual(health.backfill?.status, 'failed');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  assert.equal(
    (await browser.call('POST', '/pull', { base_url: system.url })).status,
    409,
    'the connection is the operator’s now',
  );
});

test('access by consent is asked for on the same page', async () => {
  const link = await setup.link({
    integration: 'oauth-hotel',
    asks: ['pull'],
    brand: { brand_id: 'OAU01', timezone: 'Europe/Madrid', deliver: [] },
  });
  const { browser } = await openInBrowser(setup, link);
  const auth = {
    type: 'oauth2',
    grant: 'authorization_code',
    token_url: `${system.url}/token`,
    authorize_url: `${system.url}/authorize`,
    client_id: 'innbound',
  };
  assert.equal((await browser.call('POST', '/pull', { base_url: system.url, auth, list })).status, 200);
  const consent = (await browser.call('POST', '/consent')).body;
  assert.match(consent.url, /\/authorize\?.*code_challenge=/);
  assert.equal((await browser.call('POST', '/test')).body.failure.code, 'pull.consent_needed');
});

test('both sides comment, and a partner confirms fields', async () => {
  const link = await setup.link({ asks: ['pull'] });
  const { browser } = await openInBrowser(setup, link);
  await browser.call('POST', '/comment', { about: 'field rooms.rate_code', text: 'This is the rate code.' });
  await browser.call('POST', '/comment', { about: 'field check_in', text: '' });
  assert.equal((await browser.call('POST', '/comment', { about: '', text: ' ' })).status, 422);
  await setup.operator(
    'POST',
    `/onboarding-links/${link.linkId}/comments`,
    { about: 'field rooms.rate_code', text: 'Thank you.' },
    'operator',
  );
  const { comments } = (await browser.call('GET', '')).body;
  assert.deepEqual(
    comments.map(({ side, about, text }: Record<string, string>) => [side, about, text]),
    [
      ['partner', 'field rooms.rate_code', 'This is the rate code.'],
      ['partner', 'field check_in', ''],
      ['operator', 'field rooms.rate_code', 'Thank you.'],
    ],
  );
});
