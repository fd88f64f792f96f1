import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { transaction } from '../../src/core/store/db/pool.ts';
import { linkRefusal, stateOf } from '../../src/operator/onboard/states.ts';
import { comment, goLive, holdLink } from '../../src/operator/operations/onboarding.ts';
import { findLink } from '../../src/operator/store/onboarding.ts';
import { openInBrowser, openSetup, type Setup } from './support.ts';

const never = { revoked_at: null, is_expired: false, live_at: null, ready_at: null };
const at = new Date();

test('a link has five states, and each says who may do what', () => {
  const links = {
    preparing: never,
    ready: { ...never, ready_at: at },
    live: { ...never, ready_at: at, live_at: at },
    revoked: { ...never, ready_at: at, live_at: at, revoked_at: at, is_expired: true },
    expired: { ...never, ready_at: at, is_expired: true },
  };
  for (const [state, link] of Object.entries(links)) {
    assert.equal(stateOf(link), state);
    const isOpen = state === 'preparing' || state === 'ready';
    for (const action of ['pull', 'test', 'check', 'consent', 'ready', 'retry-test'] as const)
      assert.equal(linkRefusal(link, 'partner', action), isOpen ? undefined : state, `${state} ${action}`);
    const hasPage = isOpen || state === 'live';
    for (const action of ['view', 'open', 'comment', 'secret', 'sample'] as const)
      assert.equal(linkRefusal(link, 'partner', action), hasPage ? undefined : state, `${state} ${action}`);
    assert.equal(linkRefusal(link, 'operator', 'approve'), isOpen ? undefined : state);
    assert.equal(linkRefusal(link, 'sender', 'show'), isOpen ? undefined : state);
  }
});

describe('against a partner that is faster than the operator', () => {
  let setup: Setup;
  let hold: Promise<unknown> | undefined;
  /** The partner's API: one booking today, in a form that the proposal understands. */
  const api = createServer(async (_, response) => {
    await hold;
    const today = new Date().toISOString().slice(0, 10);
    const rows = [
      {
        id: 'B1',
        arrival: today,
        departure: '2031-01-02',
        status: 'confirmed',
        guest: { firstName: 'Ana', lastName: 'Reis' },
      },
    ];
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ reservations: rows }));
  });
  let base_url: string;
  before(async () => {
    setup = await openSetup();
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    base_url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  });
  after(async () => {
    api.closeAllConnections();
    api.close();
    await setup.stop();
  });
  beforeEach(() => {
    hold = undefined;
  });
  let made = 0;
  const brand = async () => {
    const integration = `brand-${++made}`;
    const link = await setup.link({
      integration,
      asks: ['pull'],
      brand: { brand_id: `B${made}`, timezone: 'Europe/Lisbon', deliver: [] },
    });
    const { browser } = await openInBrowser(setup, link);
    const list = { method: 'GET', path: '/list', from: 'from', to: 'to' };
    const form = { base_url, auth: { type: 'bearer', token: 'a-token' }, list };
    assert.equal((await browser.call('POST', '/pull', form)).status, 200);
    return { integration, link, browser, form };
  };
  const linkNow = async (id: string) => (await findLink(setup.service.runtime.pool, id)) ?? assert.fail();
  const approval = { pastDays: 1, futureDays: 1, anyway: false, deliver: [] };
  const connectorOf = async (name: string) => (await setup.operator('GET', `/documents/connector/${name}`)).body.source;

  test('an address that changes after `ready` takes back what was shown, and `ready`', async () => {
    const { link, browser, form } = await brand();
    const { pool } = setup.service.runtime;
    await browser.call('POST', '/test');
    const tested = await linkNow(link.linkId);
    assert.equal(tested.pull_facts?.failure, undefined);
    // As if all was shown: what is compared is the settings that it was shown with.
    await pool.query('update onboarding_links set ready_at = now() where link_id = $1', [link.linkId]);
    const before = (await browser.call('GET', '')).body;
    assert.equal(before.state, 'ready');
    assert.equal(before.checks.find(({ id }: { id: string }) => id === 'pull.answers').state, 'done');
    const other = { ...form, base_url: `${base_url}/other` };
    assert.equal((await browser.call('POST', '/pull', other)).status, 200);
    const { state, checks, is_complete } = (await browser.call('GET', '')).body;
    assert.deepEqual([state, is_complete], ['preparing', false]);
    assert.ok(checks.every((one: { state: string }) => one.state === 'missing'));
    await assert.rejects(goLive(setup.service.runtime, tested, approval, 'test'), { code: 'operate.not_ready' });
    // Also an operator's edit is another hash.
    await pool.query('update onboarding_links set ready_at = now() where link_id = $1', [link.linkId]);
    await assert.rejects(goLive(setup.service.runtime, tested, approval, 'test'), /checklist is not complete/);
  });

  test('a test that is under way at the approval changes nothing of the live brand', async () => {
    const { integration, link, browser } = await brand();
    const gate = Promise.withResolvers<void>();
    hold = gate.promise;
    const testing = browser.call('POST', '/test');
    const connections = () => new Promise<number>((resolve) => api.getConnections((_, count) => resolve(count)));
    while ((await connections()) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await goLive(setup.service.runtime, await linkNow(link.linkId), { ...approval, anyway: true }, 'test');
    const approved = await connectorOf(integration);
    gate.resolve();
    assert.equal((await testing).status, 409);
    assert.equal(await connectorOf(integration), approved);
    assert.equal((await linkNow(link.linkId)).pull_facts, null);
    // A second approval would begin another backfill.
    const again = await setup.operator('POST', `/onboarding-links/${link.linkId}/approve`, { anyway: true });
    assert.equal(again.body.code, 'operate.forbidden');
  });

  test('a revoked or expired link cannot be approved, answered or revoked again', async () => {
    for (const [set, state] of [
      ['expires_at = now()', 'expired'],
      ['revoked_at = now()', 'revoked'],
    ] as const) {
      const { integration, link } = await brand();
      const stale = await linkNow(link.linkId);
      await setup.service.runtime.pool.query(`update onboarding_links set ${set} where link_id = $1`, [link.linkId]);
      const approve = goLive(setup.service.runtime, stale, { ...approval, anyway: true }, 'test');
      await assert.rejects(approve, { code: 'operate.link_ended', message: `The link is ${state}.` });
      assert.ok(setup.service.runtime.active().documents.get(integration)?.body.paused, 'still paused');
      const answer = await setup.operator('POST', `/onboarding-links/${link.linkId}/comments`, { text: 'Hello?' });
      assert.equal(answer.body.code, 'operate.link_ended');
    }
    const { link } = await brand();
    assert.equal((await setup.operator('DELETE', `/onboarding-links/${link.linkId}`)).status, 200);
    assert.equal((await setup.operator('DELETE', `/onboarding-links/${link.linkId}`)).body.code, 'operate.link_ended');
  });

  test('a partner that comments without end does not silence the operator, and is told', async () => {
    const { link, browser } = await brand();
    const { runtime } = setup.service;
    for (let i = 0; i < 200; i++)
      await comment(runtime, link.linkId, { side: 'partner', author: 'P', about: '', text: `question ${i}` });
    assert.equal((await browser.call('POST', '/comment', { about: '', text: 'one more' })).status, 422);
    const answer = await setup.operator('POST', `/onboarding-links/${link.linkId}/comments`, { text: 'An answer.' });
    assert.equal(answer.status, 201);
    assert.equal((await linkNow(link.linkId)).comments.at(-1)?.text, 'An answer.');
  });

  test('the state is asked in the transaction of the action', async () => {
    const { link } = await brand();
    const { pool } = setup.service.runtime;
    const order: string[] = [];
    const revoking = Promise.withResolvers<void>();
    const first = transaction(pool, async (tx) => {
      await holdLink(tx, link.linkId, 'partner', 'pull');
      revoking.resolve();
      await new Promise((resolve) => setTimeout(resolve, 200));
      order.push('saved');
    });
    await revoking.promise;
    await setup.operator('DELETE', `/onboarding-links/${link.linkId}`).then(() => order.push('revoked'));
    await first;
    assert.deepEqual(order, ['saved', 'revoked']);
  });
});
