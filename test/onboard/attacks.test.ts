import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { apiRoutes, openApi } from '../../src/operator/api/api.ts';
import { editOrThrow } from '../../src/operator/operations/onboarding.ts';
import { listAudit } from '../../src/operator/store/audit.ts';
import { ask, openInBrowser, openSetup, type Setup } from './support.ts';

let setup: Setup;
before(async () => {
  setup = await openSetup();
});
after(() => setup.stop());

const opened = async (more: Parameters<Setup['link']>[0] = {}) => {
  const link = await setup.link(more);
  return { link, ...(await openInBrowser(setup, link)) };
};

test('the first browser that opens a link keeps it; another one is turned away', async () => {
  const { link, browser } = await opened();
  assert.equal((await openInBrowser(setup, link)).answer.body.code, 'operate.link_elsewhere');
  assert.equal((await openInBrowser(setup, link, browser.cookie)).answer.status, 200, 'the first one may come back');
  const many = await setup.link({ many_browsers: true });
  assert.equal((await openInBrowser(setup, many)).answer.status, 200);
  assert.equal((await openInBrowser(setup, many)).answer.status, 200);
});

test('two browsers that open a link at the same moment: one gets it', async () => {
  const link = await setup.link();
  const answers = await Promise.all([1, 2, 3, 4].map(() => openInBrowser(setup, link)));
  assert.deepEqual(answers.map(({ answer }) => answer.status).toSorted(), [200, 409, 409, 409]);
});

test('a revoked or expired link ends at once, also for the browser that has it open', async () => {
  const { link, browser } = await opened();
  assert.equal((await browser.call('GET', '')).status, 200);
  assert.equal((await setup.operator('DELETE', `/onboarding-links/${link.linkId}`)).status, 200);
  const ended = await browser.call('GET', '');
  assert.deepEqual(
    [ended.status, ended.body.code, ended.body.detail],
    [410, 'operate.link_ended', 'The link is revoked.'],
  );
  assert.equal((await browser.call('POST', '/secret')).status, 410);
  assert.equal((await openInBrowser(setup, link, browser.cookie)).answer.status, 410);
  const old = await opened();
  await setup.service.runtime.pool.query(`update onboarding_links set expires_at = now() where link_id = $1`, [
    old.link.linkId,
  ]);
  assert.equal((await old.browser.call('GET', '')).body.detail, 'The link is expired.');
});

test('no token of the API can act as a partner', async () => {
  const { link } = await opened();
  const answer = await setup.operator('GET', `/onboarding/${link.linkId}`);
  assert.equal(answer.status, 401);
});

test('a request that changes something needs the header that another site cannot send', async () => {
  const { link, browser } = await opened();
  const at = `${setup.service.url}/api/v1/onboarding/${link.linkId}/secret`;
  assert.equal((await ask(at, 'POST', {}, { cookie: browser.cookie })).status, 403);
});

test('references do not get at stored secrets, and an address that moves takes no credentials along', async () => {
  const received: string[] = [];
  const attacker = createServer((request, response) => {
    received.push(JSON.stringify(request.headers));
    response.setHeader('content-type', 'application/json').end('[]');
  });
  await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve));
  const base_url = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}`;
  try {
    const { browser } = await opened();
    const put = (body: object) => browser.call('POST', '/pull', body);
    const list = { method: 'GET', path: '/list', from: 'a', to: 'b' };
    const typed = { base_url: 'http://127.0.0.1:1', auth: { type: 'bearer', token: 'the-hotel-token' }, list };
    assert.equal((await put(typed)).status, 200);
    for (const token of [`\${secret:warehouse_url}`, `\${env:HOME}`, `\${file:/etc/passwd}`]) {
      assert.equal((await put({ base_url, auth: { type: 'bearer', token } })).status, 422, token);
    }
    assert.equal((await put({ base_url: `\${env:HOME}`, auth: { type: 'none' } })).status, 422);
    assert.equal((await put({ base_url })).status, 422, 'credentials must be typed again');
    assert.equal((await put({ base_url, auth: { type: 'none' } })).status, 200);
    await browser.call('POST', '/test');
    assert.ok(received.length > 0);
    assert.equal(received.join().includes('the-hotel-token'), false);
  } finally {
    attacker.close();
  }
});

test('a connector that other brands use is not changed by a partner', async () => {
  const { browser } = await opened({ integration: 'shared', asks: ['pull'] });
  const list = { method: 'GET', path: '/mine', from: 'a', to: 'b' };
  const put = await browser.call('POST', '/pull', { base_url: 'http://127.0.0.1:1', auth: { type: 'none' }, list });
  assert.equal(put.status, 200);
  assert.equal(
    JSON.stringify((await setup.operator('GET', '/documents/connector/shared')).body).includes('/mine'),
    false,
  );
});

test('a partner learns of no other brand here', async () => {
  const list = { method: 'GET', path: '/list', from: 'a', to: 'b' };
  const form = { base_url: 'http://127.0.0.1:1/same', auth: { type: 'bearer', token: 'one-account' }, list };
  const { runtime } = setup.service;
  const { browser } = await opened({ integration: 'shared', asks: ['pull'] });
  assert.equal((await browser.call('POST', '/pull', form)).status, 200);
  await editOrThrow(runtime, 'integration', 'secretive', 'test', (yaml) => yaml.set('brand_id', 'SHA01'));
  const other = await opened({ integration: 'secretive', asks: ['pull'] });
  const refused = await other.browser.call('POST', '/pull', form);
  assert.equal(refused.status, 422);
  assert.match(refused.body.detail, /another brand already reads brand_id SHA01/);
  await editOrThrow(runtime, 'integration', 'secretive', 'test', (yaml) => yaml.set('brand_id', 'SEC01'));
});

test('a link that asks for one way cannot use the other, and no link changes a connection that is live', async () => {
  const push = await opened({ integration: 'secretive', asks: ['push'] });
  const form = { base_url: 'http://127.0.0.1:1', auth: { type: 'none' } };
  for (const at of ['/pull', '/test', '/consent']) {
    assert.equal((await push.browser.call('POST', at, at === '/pull' ? form : {})).status, 403, at);
  }
  const pull = await opened({ integration: 'shared', asks: ['pull'] });
  for (const at of ['/secret', '/sample', '/retry-test'])
    assert.equal((await pull.browser.call('POST', at)).status, 403, at);
  await setup.operator('POST', `/onboarding-links/${pull.link.linkId}/approve`, { anyway: true, deliver: [] });
  // Paused again later, by the operator, for another reason.
  const { runtime } = setup.service;
  await editOrThrow(runtime, 'integration', 'shared', 'test', (yaml) => yaml.set('paused', true));
  assert.equal((await pull.browser.call('POST', '/pull', form)).status, 409);
  assert.equal((await pull.browser.call('POST', '/test')).status, 409);
});

test('secrets are in no answer, document, file or audit entry', async () => {
  const { browser } = await opened();
  const { secret } = (await browser.call('POST', '/secret')).body;
  const auth = { type: 'basic', username: 'desk', password: 'correct-horse-battery' };
  const list = { method: 'GET', path: '/list', from: 'a', to: 'b' };
  assert.equal((await browser.call('POST', '/pull', { base_url: 'http://127.0.0.1:1', auth, list })).status, 200);
  const tested = await browser.call('POST', '/test');
  const view = await browser.call('GET', '');
  const document = await setup.operator('GET', '/documents/integration/harbour');
  const audit = await listAudit(setup.service.runtime.pool, { limit: 500 });
  const everything = JSON.stringify([tested.body, view.body, document.body, audit]);
  for (const hidden of [secret, auth.password]) assert.equal(everything.includes(hidden), false);
  assert.ok(audit.some(({ action, actor }) => action === 'partner.pull' && actor === 'Harbour PMS (onboarding)'));
});

test('each browser of a link has a rate of its own', async () => {
  const { link, browser } = await opened({ many_browsers: true });
  const { browser: other } = await openInBrowser(setup, link);
  const answers = await Promise.all(Array.from({ length: 80 }, () => browser.call('GET', '')));
  assert.ok(answers.some(({ status }) => status === 429));
  assert.ok(answers.some(({ status }) => status === 200));
  assert.equal((await other.call('GET', '')).status, 200);
});

// From here on the address of the tests is slowed down: it guesses.

test('a partner’s browser can call the routes of its own link and no others', async () => {
  const { browser } = await opened();
  const other = await setup.link({ integration: 'secretive' });
  const { runtime, url } = setup.service;
  const routes = apiRoutes(openApi(runtime)).filter(({ role }) => role !== 'public');
  assert.ok(routes.length > 100);
  for (const { method, path } of routes) {
    const at = path
      .replace('{link_id}', other.linkId)
      .replace('{integration}', 'harbour')
      .replace(/\{\w+\}/g, 'x');
    const answer = await ask(`${url}/api/v1${at}`, method, method === 'GET' || method === 'DELETE' ? undefined : {}, {
      cookie: browser.cookie,
      'x-innbound-console': '1',
    });
    assert.ok([401, 429].includes(answer.status), `${method} ${path}: ${answer.status}`);
  }
});

test('a guessed token or link id is refused, and guesses are slowed down', async () => {
  const link = await setup.link();
  const guess = (linkId: string, token: string) =>
    ask(`${setup.service.url}/api/v1/onboarding/${linkId}/open`, 'POST', { token });
  const wrong = await guess(link.linkId, 'x'.repeat(43));
  const unknown = await guess('onb_00000000000000000000', link.token);
  assert.deepEqual([wrong.status, wrong.body.detail], [unknown.status, unknown.body.detail], 'no oracle');
  const answers = await Promise.all(Array.from({ length: 90 }, () => guess(link.linkId, 'y'.repeat(43))));
  // Those that came together may all have been looked at before the first of them counted.
  assert.ok(answers.every(({ status }) => [401, 429].includes(status)));
  assert.equal((await guess(link.linkId, 'y'.repeat(43))).status, 429);
  // A valid browser is not locked out by them, and neither is its operator.
  assert.equal((await setup.operator('GET', '/onboarding-links')).status, 200);
});
